#include "oracles/op_schema.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

#include "package/op_name.h"

namespace aotifuzz {

const c10::FunctionSchema* find_op_schema(std::string_view target) {
  const std::string_view text = short_target(target);
  const size_t dot = text.find('.');
  if (dot == text.npos) return nullptr;
  const size_t end = text.find('.', dot + 1);
  std::string name(text.substr(0, dot));
  name += "::";
  name += text.substr(dot + 1, end == text.npos ? end : end - dot - 1);
  std::string overload(end == text.npos ? std::string_view{} : text.substr(end + 1));
  if (overload == "default") overload.clear();
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  return handle ? &handle->schema() : nullptr;
}

}  // namespace aotifuzz
