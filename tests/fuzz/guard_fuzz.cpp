#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/guard_parser.h"

// Any text as a guard. What parses without opaque parts must mean the same when its own text is parsed again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const aotifuzz::InputNamer namer = [](const std::vector<std::string>& path) {
    return path.size() == 1 && path[0] == "x" ? std::optional<std::string>("x") : std::nullopt;
  };
  const aotifuzz::Result<aotifuzz::Expr> expr =
      aotifuzz::parse_guard(std::string_view(reinterpret_cast<const char*>(data), size), namer);
  if (!expr || expr->has_opaque()) return 0;
  const aotifuzz::Result<aotifuzz::Expr> again = aotifuzz::parse_size_text(expr->text());
  if (!again) return 0;  // longer or deeper than a guard may be
  const auto lookup = [](const std::string& name) { return std::optional<int64_t>(static_cast<int64_t>(name.size())); };
  const std::optional<int64_t> first = expr->evaluate(lookup), second = again->evaluate(lookup);
  if (first && second && *first != *second) __builtin_trap();
  return 0;
}
