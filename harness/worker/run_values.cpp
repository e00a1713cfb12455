#include "worker/run_values.h"

#include <c10/util/Exception.h>

namespace aotifuzz {
namespace {

c10::IValue scalar_value(const CaseInput& input) {
  switch (input.kind) {
    case CaseInput::Kind::kInt:
      return to_int64(input.scalar);
    case CaseInput::Kind::kFloat:
      return to_double(input.scalar);
    case CaseInput::Kind::kBool:
      return to_int64(input.scalar) != 0;
    default:
      return {};
  }
}

}  // namespace

std::vector<c10::IValue> run_values(const Case& c, const CaseInputs& inputs, std::span<const c10::Device> devices,
                                    DeviceRuntime* runtime, std::vector<at::Tensor>* tensors) {
  *tensors = inputs.copies_on(devices, runtime);
  std::vector<c10::IValue> out;
  out.reserve(tensors->size());
  for (size_t i = 0; i < tensors->size(); ++i)
    out.push_back((*tensors)[i].defined() ? c10::IValue((*tensors)[i]) : scalar_value(c.inputs[i]));
  return out;
}

std::string text_of(const std::exception& error) {
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) return torch_error->what_without_backtrace();
  return error.what();
}

}  // namespace aotifuzz
