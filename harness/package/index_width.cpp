#include "package/index_width.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>

#include "package/kernel_texts.h"

namespace aotifuzz {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

/// "i32" of `'xnumel': 'i32'` in Triton's signature.
std::string signature_type(std::string_view text, std::string_view parameter) {
  const std::string key = "'" + std::string(parameter) + "': '";
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = text.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

/// Type of the variables that C++ loops count with, the narrowest: "int64_t"; "" = it has no loop.
std::string loop_type(std::string_view text) {
  std::string found;
  for (size_t at = text.find("for"); at != std::string_view::npos; at = text.find("for", at + 3)) {
    std::string_view rest = text.substr(at + 3);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (rest.empty() || rest.front() != '(') continue;
    rest.remove_prefix(1);
    size_t end = 0;
    while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_')) ++end;
    const std::string type(rest.substr(0, end));
    if (type == "int" || type == "int32_t") return type;
    if (type == "int64_t" || type == "size_t" || type == "long") found = type;
  }
  return found;
}

/// The number of elements, when the contract lets it pass what 32 bits hold.
std::optional<Expr> large_elements(const Contract& contract, const std::vector<Expr>& sizes) {
  if (sizes.empty()) return std::nullopt;
  const Expr elements = sizes.size() == 1 ? sizes[0] : Expr::make(ExprOp::kMul, sizes);
  std::set<std::string> names;
  elements.collect_symbols(names);
  std::map<std::string, int64_t> most;
  for (const SymbolSpec& symbol : contract.symbols)
    if (symbol.max) most[symbol.name] = *symbol.max;
  const bool bounded = std::all_of(names.begin(), names.end(), [&](const auto& name) { return most.contains(name); });
  if (bounded) {
    const auto value = elements.evaluate([&](const std::string& name) { return std::optional(most.at(name)); });
    if (value && *value <= kInt32Max) return std::nullopt;
  }
  return elements;
}

Expr over_dimensions(const Contract& contract, const Expr& expr) {
  return expr.substitute([&](const std::string& name) -> std::optional<Expr> {
    for (const SymbolSpec& symbol : contract.symbols)
      if (symbol.name == name && !symbol.dim.empty()) return Expr::symbol(symbol.dim);
    return std::nullopt;
  });
}

/// The first of the largest: that with the most symbols.
std::optional<Expr> elements_of(const PackageInfo& package, const std::string& kernel) {
  std::optional<Expr> best;
  size_t most = 0;
  for (const MappedCall& call : package.kernels->calls) {
    if (call.kernel != kernel) continue;
    for (const KernelArgument& argument : call.arguments)
      for (const auto* labels : {&argument.entry, &argument.exit})
        for (const KernelLabel& label : *labels) {
          const std::optional<Expr> elements = large_elements(package.contract, label.sizes);
          if (!elements) continue;
          std::set<std::string> names;
          elements->collect_symbols(names);
          if (best && names.size() <= most) continue;
          best = over_dimensions(package.contract, *elements);
          most = names.size();
        }
  }
  return best;
}

}  // namespace

KernelIndexing indexing_of_text(std::string_view text) {
  KernelIndexing out;
  for (const char* size : {"xnumel", "ynumel", "znumel"}) {
    const std::string type = signature_type(text, size);
    if (type != "i32" && type != "i64") continue;
    if (out.bits == 0 || type == "i32") {
      out.bits = type == "i32" ? 32 : 64;
      out.says = std::string(size) + ": " + type;
    }
  }
  if (out.bits != 0) return out;
  const std::string type = loop_type(text);
  if (!type.empty()) {
    out.bits = type == "int" || type == "int32_t" ? 32 : 64;
    out.says = type;
  }
  return out;
}

std::vector<KernelIndexing> kernel_indexing(const PackageInfo& package) {
  std::vector<KernelIndexing> out;
  for (const KernelText& text : kernel_texts(package)) {
    KernelIndexing one = indexing_of_text(text.text);
    if (one.bits == 0) continue;
    one.kernel = text.kernel;
    if (package.kernels) one.elements = elements_of(package, text.kernel);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace aotifuzz
