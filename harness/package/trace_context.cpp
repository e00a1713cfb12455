#include "package/trace_context.h"

#include <algorithm>
#include <charconv>

#include "core/guard_parser.h"
#include "package/index_context.h"
#include "package/kernel_flow.h"

namespace aotifuzz {
namespace {

std::string captured(const RecognisedError& error, const char* name) {
  const auto found = error.captures.find(name);
  return found == error.captures.end() ? std::string() : found->second;
}

std::optional<int64_t> number(const std::string& text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool has_fact(const Explanation& explanation, std::string_view name) {
  return std::any_of(explanation.facts.begin(), explanation.facts.end(),
                     [&](const auto& fact) { return fact.first == name; });
}

void add_reasons(const std::vector<std::string>& guards, Explanation* out) {
  for (const std::string& guard : guards)
    if (std::pair<std::string, std::string> fact("because of", guard);
        std::find(out->facts.begin(), out->facts.end(), fact) == out->facts.end())
      out->facts.push_back(std::move(fact));
}

/// "x.size(0) % 2 == 0" of "x.size()[0] % 2 == 0", as programs word it.
std::string with_dimensions(std::string text) {
  for (size_t at = text.find(".size()["); at != std::string::npos; at = text.find(".size()[", at + 1)) {
    const size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    text[end] = ')';
    text.replace(at, 8, ".size(");
  }
  return text;
}

/// What the trace says of the size that an input check refuses.
void add_refused_size(const CompileTrace& trace, const PackageInfo& package, const RecognisedError& error,
                      Explanation* out) {
  const std::vector<std::string> names = compiled_input_names(package);
  const auto input = number(captured(error, "input")), dim = number(captured(error, "dim")),
             got = number(captured(error, "got"));
  if (!input || !dim || !got || *input < 0 || static_cast<size_t>(*input) >= names.size()) return;
  add_reasons(broken_guards(trace, names[static_cast<size_t>(*input)] + ".size(" + std::to_string(*dim) + ")", *got),
              out);
}

}  // namespace

std::optional<std::pair<std::string, std::string>> traced_lines(const CompileTrace& trace, const std::string& kernel) {
  const TracedKernel* found = trace.find_kernel(kernel);
  if (!found || found->lines.empty()) return std::nullopt;
  std::string lines;
  for (const std::string& line : found->lines) lines += (lines.empty() ? "" : "; ") + line;
  return std::pair(found->by_name ? "model lines with its operators" : "model lines", lines);
}

void add_trace_facts(const CompileTrace& trace, const PackageInfo& package, const RecognisedError& error,
                     Explanation* out) {
  const std::string_view id = error.pattern->id;
  if (id == "input-size") add_refused_size(trace, package, error, out);
  if (id == "input-layout")
    for (const Condition& condition : package.contract.conditions)
      if (out->culprit.find(condition.text) != std::string::npos) add_reasons(guards_of(trace, condition.expr), out);
  if (id == "program-refuses")
    if (const Result<Expr> guard = parse_size_text(with_dimensions(captured(error, "guard"))))
      add_reasons(guards_of(trace, *guard), out);
  if (id == "size-assertion") {
    const std::string symbol = captured(error, "what");
    for (const TracedSymbol& one : trace.symbols)
      if (one.name == symbol && !one.line.empty()) out->facts.emplace_back(symbol + " comes from", one.line);
    if (const auto got = number(captured(error, "got"))) add_reasons(broken_guards(trace, symbol, *got), out);
  }
  if (id == "data-dependent")
    for (const TracedDataDependent& one : trace.data_dependent)
      if (one.text == captured(error, "expression") && !one.line.empty())
        out->facts.emplace_back("model line", one.line);
  if (has_fact(*out, "model line")) return;
  for (const char* name : {"kernel", "made by"}) {
    const auto fact =
        std::find_if(out->facts.begin(), out->facts.end(), [&](const auto& one) { return one.first == name; });
    if (fact == out->facts.end()) continue;
    if (auto lines = traced_lines(trace, fact->second.substr(0, fact->second.find(' ')))) {
      out->facts.push_back(std::move(*lines));
      return;
    }
  }
}

}  // namespace aotifuzz
