#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

#include "gate/operator_judge.h"
#include "gate/python_fakes.h"

namespace aotifuzz {

/// What C++ lacks and Python has, and why an operator has no meta where neither knows of one.
OperatorKernels with_python(OperatorKernels kernels, const c10::OperatorHandle& op, const std::string& name,
                            const PythonFakes& python);

/// Makes operators that only Python defines known to this process's dispatcher, by their schemas alone. They live as
/// long as the process. `others`: operators of C++ libraries that the modules load themselves.
std::vector<c10::OperatorHandle> define_python_operators(const PythonFakes& python, std::vector<std::string>* others);

/// The module that an operator of the library names for its fake (m.set_python_module); "" = none.
std::string python_module_of(const c10::OperatorName& name);

}  // namespace aotifuzz
