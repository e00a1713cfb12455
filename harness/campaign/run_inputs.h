#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"
#include "package/tensor_file.h"

namespace aotifuzz {

/// Inputs that a user gives on a command line, made into a case of a package.
///
///   FILE         values of one or more inputs (package/tensor_file.h, or torch.save): by the names that the file gives
///                where they are the package's, else in the package's order of what is not given by name
///   NAME=FILE    of that input; of a file with several values, the one of that name
///   NAME=3x5     the sizes of that input; NAME=7 a size of one dimension, or the value of a number
///   SYMBOL=7     a size: by the name that export gave it ("s77"), or as a dimension ("x.size(0)")
///
/// What is not given follows from what is: sizes by the contract, numbers that are fixed at export.
struct RunInputs {
  Case input;
  std::vector<bool> has_values;      ///< per input; without, values are for the caller to choose (const(0) until then)
  std::vector<std::string> sources;  ///< per input, for people: "x.npy", "sizes given", "sizes follow"
};

/// `read` reads a file; throws HarnessError. Throws UsageError for what is no input of the package, is given twice, is
/// too much or too little, or has the wrong kind: it names the input and what the package takes. Whether the contract
/// allows the case is not looked at.
RunInputs make_run_inputs(const Contract& contract, const std::vector<std::string>& arguments,
                          const std::function<std::vector<SavedValue>(const std::string& path)>& read);

/// What the package takes, one input a line: "  x f32[x.size(0), 16]".
std::string print_inputs(const Contract& contract);

}  // namespace aotifuzz
