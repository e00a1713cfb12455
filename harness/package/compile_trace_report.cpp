#include "package/compile_trace_report.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

std::string or_none(const std::string& line) { return line.empty() ? "no model line recorded" : line; }

std::string symbol_text(const TracedSymbol& symbol) {
  std::string out = symbol.name + " = ";
  if (symbol.source.empty())
    out += "known at run time only: " + or_none(symbol.line);
  else
    out += symbol.dimension.empty() ? symbol.source : symbol.dimension;
  // A package without its program has names of the generated code.
  if (!symbol.dimension.empty() &&
      symbol.source.find("'" + symbol.dimension.substr(0, symbol.dimension.find('.')) + "'") == std::string::npos)
    out += " (" + symbol.source + ")";
  out += ", range " + symbol.range;
  return symbol.example.empty() ? out : out + ", " + symbol.example + " in the example";
}

/// A guard may be longer than anyone reads; JSON has it whole.
std::string cut(const std::string& text) {
  constexpr size_t kMax = 200;
  return text.size() <= kMax ? text : text.substr(0, kMax) + "... (" + std::to_string(text.size()) + " characters)";
}

std::string guard_text(const TracedGuard& guard) {
  return cut(guard.text) + ": " + or_none(guard.line) +
         (guard.times > 1 ? " (" + std::to_string(guard.times) + " times)" : "");
}

}  // namespace

void print_compile_trace(const CompileTrace& trace, std::ostream& out) {
  out << "compile-time trace  " << trace.path << (trace.torch.empty() ? "" : ", torch " + trace.torch) << "\n  "
      << trace.match << "\n";
  const auto title = [&](const char* text, bool none) { out << "  " << text << (none ? ": none\n" : "\n"); };
  title("symbols", trace.symbols.empty());
  for (const TracedSymbol& symbol : trace.symbols) out << "    " << symbol_text(symbol) << "\n";
  title("specialised to a number", trace.specialisations.empty());
  for (const TracedSpecialisation& one : trace.specialisations)
    out << "    " << (one.dimension.empty() ? one.symbol : one.dimension) << " = " << one.value << ": "
        << or_none(one.line) << (one.reason.empty() ? "" : " (" + one.reason + ")") << "\n";
  for (const bool compiler : {false, true}) {
    bool any = false;
    for (const TracedGuard& guard : trace.guards) any |= guard.compiler == compiler;
    title(compiler ? "assumed by the compiler, not declared" : "guards of the model", !any);
    for (const TracedGuard& guard : trace.guards)
      if (guard.compiler == compiler) out << "    " << guard_text(guard) << "\n";
  }
  if (!trace.data_dependent.empty()) title("not decided, as it depends on values", false);
  for (const TracedDataDependent& one : trace.data_dependent)
    out << "    " << one.text << ": " << or_none(one.line) << "\n";
  title("kernels", trace.kernels.empty());
  for (const TracedKernel& kernel : trace.kernels) {
    out << "    " << kernel.name;
    if (kernel.lines.empty()) out << "  no model line recorded";
    if (kernel.by_name && !kernel.lines.empty())
      out << "  lines with its operators (INDUCTOR_PROVENANCE=1 at compile time records its own)";
    out << "\n";
    for (const std::string& line : kernel.lines) out << "      " << line << "\n";
  }
  for (const std::string& note : trace.notes) out << "  note: " << note << "\n";
}

ordered_json compile_trace_json(const CompileTrace& trace) {
  auto symbols = ordered_json::array(), guards = ordered_json::array(), special = ordered_json::array(),
       undecided = ordered_json::array(), kernels = ordered_json::array();
  for (const TracedSymbol& one : trace.symbols)
    symbols.push_back({{"name", one.name},
                       {"source", one.source},
                       {"dimension", one.dimension},
                       {"range", one.range},
                       {"example", one.example},
                       {"line", one.line}});
  for (const TracedGuard& one : trace.guards)
    guards.push_back(
        {{"condition", one.text}, {"line", one.line}, {"by_compiler", one.compiler}, {"times", one.times}});
  for (const TracedSpecialisation& one : trace.specialisations)
    special.push_back({{"symbol", one.symbol},
                       {"dimension", one.dimension},
                       {"value", one.value},
                       {"reason", one.reason},
                       {"line", one.line}});
  for (const TracedDataDependent& one : trace.data_dependent)
    undecided.push_back({{"expression", one.text}, {"line", one.line}});
  for (const TracedKernel& one : trace.kernels)
    kernels.push_back({{"name", one.name}, {"lines", one.lines}, {"by_operators_in_name", one.by_name}});
  return {{"path", trace.path},
          {"torch", trace.torch},
          {"match", trace.match},
          {"symbols", std::move(symbols)},
          {"specialised", std::move(special)},
          {"guards", std::move(guards)},
          {"undecided", std::move(undecided)},
          {"kernels", std::move(kernels)},
          {"entries", trace.lines},
          {"unreadable", trace.unreadable},
          {"notes", trace.notes}};
}

}  // namespace aotifuzz
