#include "store/op_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "store/atomic_file.h"

namespace aotifuzz {

int OperatorSpec::symbol_index(const std::string& symbol) {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == symbol) return static_cast<int>(i);
  symbols.push_back({.name = symbol});
  return static_cast<int>(symbols.size() - 1);
}

OpSpec read_op_spec(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw HarnessError("the spec cannot be found", path, "check the path");
  if (!fs::is_regular_file(status))
    throw HarnessError("the spec is not a regular file", path, "write it to a file and give that");
  const uint64_t bytes = fs::file_size(path, error);
  if (error) throw HarnessError("the spec cannot be read: " + error.message(), path, "check the path");
  if (bytes > kOpSpecBytesMax)
    throw HarnessError(fmt::format("the spec has {} bytes, and at most {} are read", bytes, kOpSpecBytesMax), path,
                       "give a text of one line an operator, as `--init-spec` writes it");
  auto parsed = parse_op_spec(read_file(path), path);
  if (!parsed)
    throw HarnessError(parsed.error().what, parsed.error().where,
                       "correct the line; the README has the grammar, under \"Gate a custom operator's library\"");
  return std::move(*parsed);
}

namespace {

Expr::Lookup lookup_in(const std::vector<SpecSymbol>& symbols, const std::vector<int64_t>& values) {
  return [&](const std::string& name) -> std::optional<int64_t> {
    for (size_t i = 0; i < symbols.size() && i < values.size(); ++i)
      if (symbols[i].name == name) return values[i];
    return std::nullopt;
  };
}

}  // namespace

int64_t size_value(const SpecSize& size, const std::vector<SpecSymbol>& symbols, const std::vector<int64_t>& values) {
  if (size.formula) return size.formula->evaluate(lookup_in(symbols, values)).value_or(-1);
  return size.symbol < 0 ? size.add : size.factor * values[size.symbol] + size.add;
}

bool conditions_hold(const std::vector<Expr>& conditions, const std::vector<SpecSymbol>& symbols,
                     const std::vector<int64_t>& values) {
  const Expr::Lookup lookup = lookup_in(symbols, values);
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Expr& condition) { return condition.evaluate(lookup).value_or(0) != 0; });
}

}  // namespace aotifuzz
