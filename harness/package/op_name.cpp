#include "package/op_name.h"

#include <algorithm>

namespace aotifuzz {
namespace {

constexpr std::string_view kPrefix = "torch.ops.";

/// End of "namespace.name" in a short target; npos when the target has no overload.
size_t name_end(std::string_view target) {
  const size_t first = target.find('.');
  return first == std::string_view::npos ? first : target.find('.', first + 1);
}

bool is_or_holds(const Argument& output, const std::string& value) {
  return output.name == value || std::any_of(output.items.begin(), output.items.end(),
                                             [&](const Argument& item) { return is_or_holds(item, value); });
}

}  // namespace

std::string_view short_target(std::string_view target) {
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

bool is_in_place_name(std::string_view target) {
  target = short_target(target);
  const std::string_view name = target.substr(0, name_end(target));
  // "__lshift__" ends with underscores without writing anything; "__ilshift__" is in place.
  if (name.ends_with("__")) return name.find(".__i") != std::string_view::npos && !name.ends_with(".__index__");
  return name.ends_with("_");
}

std::string_view op_base(std::string_view target) {
  target = short_target(target);
  std::string_view name = target.substr(0, name_end(target));
  if (name.ends_with("_") && !name.ends_with("__")) name.remove_suffix(1);
  return name;
}

std::string_view op_overload(std::string_view target) {
  target = short_target(target);
  const size_t end = name_end(target);
  return end == std::string_view::npos ? std::string_view{} : target.substr(end + 1);
}

std::string op_that_makes(const Graph& graph, const std::string& value) {
  for (const Node& node : graph.nodes)
    for (const Argument& output : node.outputs)
      if (is_or_holds(output, value)) return std::string(short_target(node.target));
  return "";
}

}  // namespace aotifuzz
