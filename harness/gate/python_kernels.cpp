#include "gate/python_kernels.h"

#include <torch/csrc/jit/frontend/function_schema_parser.h>

namespace aotifuzz {
namespace {

std::string list_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

std::string python_module_of(const c10::OperatorName& name) {
  const auto stub = c10::Dispatcher::singleton().getPyStub(name);
  return stub ? stub->first : "";
}

OperatorKernels with_python(OperatorKernels kernels, const c10::OperatorHandle& op, const std::string& name,
                            const PythonFakes& python) {
  const auto found = python.operators().find(name);
  const PythonOperator* known = found == python.operators().end() ? nullptr : &found->second;
  if (known && !kernels.kernel && known->kernel) {
    kernels.kernel = kernels.python_cpu = true;
    kernels.cpu_place = known->kernel_place.line > 0 ? known->kernel_place : known->fake_place;
  }
  if (kernels.meta) return kernels;
  if (known && known->fake) {
    kernels.meta = kernels.python_meta = true;
    kernels.meta_place = known->fake_place;
    kernels.why_no_meta.clear();
    return kernels;
  }
  const std::string module = python_module_of(op.operator_name());
  if (!python.trouble().empty())
    kernels.why_no_meta = "it has no C++ meta, and whether it has a fake in Python is not known: " + python.trouble();
  else if ((!module.empty() && python.imported(module)) || (known && known->defined_in_python))
    kernels.why_no_meta.clear();  // where its fake should be there is none
  else
    kernels.why_no_meta = "it has no C++ meta, and " + list_text(python.modules()) +
                          (python.modules().size() == 1 ? " registers" : " register") +
                          " no fake for it: name the module that does with --fakes";
  if (known && known->defined_in_python) kernels.meta_place = known->fake_place;
  return kernels;
}

std::vector<c10::OperatorHandle> define_python_operators(const PythonFakes& python, std::vector<std::string>* others) {
  static std::vector<c10::RegistrationHandleRAII> kept;
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorHandle> out;
  for (const auto& [name, op] : python.operators()) {
    const size_t dot = name.find('.', name.find("::"));
    const c10::OperatorName id(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
    if (dispatcher.findSchema(id)) continue;
    if (!op.defined_in_python) {
      others->push_back(name);
      continue;
    }
    kept.push_back(dispatcher.registerDef(torch::jit::parseSchema(op.schema), "registered in Python"));
    out.push_back(*dispatcher.findSchema(id));
  }
  return out;
}

}  // namespace aotifuzz
