#include <cstddef>
#include <cstdint>
#include <string_view>

#include "package/srepr_parser.h"

// Any text as a sympy expression; what parses must print and evaluate.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const aotifuzz::Result<aotifuzz::Expr> expr =
      aotifuzz::parse_srepr(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!expr) return 0;
  if (expr->text().empty()) __builtin_trap();
  expr->evaluate([](const std::string& name) { return static_cast<int64_t>(name.size()); });
  return 0;
}
