#include <ATen/ATen.h>

#include <algorithm>

#include "gate/operator_judge.h"

// What a judge makes of runs of the meta and the kernel.

namespace aotifuzz {
namespace {

/// "x.size(0)" -> "use x.sym_size(0)".
std::string change_for(const std::string& call) {
  const size_t dot = call.rfind('.');
  if (call == "guard_int()" || dot == std::string::npos)
    return "compute with c10::SymInt to the end; do not ask it for an int64_t";
  for (const char* method : {"sizes()", "size(", "strides()", "numel()", "storage_offset()"})
    if (call.compare(dot + 1, std::string(method).size(), method) == 0)
      return "use `" + call.substr(0, dot + 1) + "sym_" + call.substr(dot + 1) + "`";
  if (const size_t quote = call.find("'s "); quote != std::string::npos) return "use sym_" + call.substr(quote + 3);
  return "compute with c10::SymInt to the end";
}

std::string change_for_intermediate(const std::string& call) {
  const size_t at = call.find("'s ");
  return at == std::string::npos ? change_for(call) : "use `sym_" + call.substr(at + 3) + "`";
}

}  // namespace

void OperatorJudge::report_events(const CallPoint& point, const CallResult& result) {
  GateOperator guards;
  for (const SizeEvent& event : result.events) {
    const std::string text = event.expression->text(call_->symbol_names());
    if (event.kind != SizeEvent::Kind::kNumber) {
      guards.guards.push_back(event.result ? text : "not " + text);
      continue;
    }
    if (!event.aten.empty()) continue;  // ATen's own Meta kernel asked: not the meta's doing
    GateFinding finding;
    finding.kind = "meta-specialises";
    finding.message = "`" + event.call + "` turns " + text + " into the number " + std::to_string(event.result);
    finding.expected = text;
    finding.actual = std::to_string(event.result);
    finding.change = kernels_.python_meta ? kPythonChange : change_for_intermediate(event.call);
    add_finding(point, std::move(finding), event.frames, event.place);
  }
  report_(std::move(guards));
}

void OperatorJudge::compare_expression(const CallPoint& point, const CallResult& meta, const CallResult& kernel,
                                       const std::string& key) {
  const auto found = symbolic_.find(key);
  if (found == symbolic_.end() || !found->second.exact) return;
  std::vector<FactsDifference> differences;
  const Symbolic& symbolic = found->second;
  const SymbolValues values =
      bind_unbacked(point.values, symbolic.unbacked, symbolic.facts, kernel.facts, &differences);
  for (const SizeExprPtr& condition : symbolic.path)
    if (condition->integer(values) == 0) return;
  int changed = -1, changes = 0;
  for (size_t i = 0; i < point.values.size(); ++i)
    if (point.values[i] != family_->base()[i]) changed = static_cast<int>(i), ++changes;
  const bool plain_int = changes == 1 && drawn_.is_plain_int[changed];
  for (size_t i = 0; i < point.values.size(); ++i)
    if (changes > 1 && drawn_.is_plain_int[i] && point.values[i] != family_->base()[i]) return;
  const auto names = call_->builder().tensor_names(call_->builder().build(point, RunKind::kMeta));
  for (FactsDifference& difference : compare_facts(symbolic.facts, kernel.facts, values, names))
    differences.push_back(std::move(difference));
  const std::vector<std::string> symbol_names = names_with_unbacked(call_->symbol_names(), symbolic.unbacked.size());
  for (const FactsDifference& difference : differences) {
    GateFinding finding;
    finding.output = difference.output;
    finding.actual = difference.kernel;
    finding.expected = difference.meta;
    if (const size_t output = std::max(difference.output, 0); output < symbolic.facts.size())
      finding.expected = symbolic.facts[output].symbolic_sizes(symbol_names) + " = " + difference.meta;
    if (!plain_int) {
      finding.kind = difference.kind;
      finding.message = "with symbolic sizes the meta says " + difference.meta +
                        " and with numbers what the kernel made, " + difference.kernel;
      if (finding.expected.find("//") != std::string::npos)
        finding.change =
            "`/` of c10::SymInt rounds down, that of int64_t towards zero: keep what is divided from being negative";
      const bool known = difference.output >= 0 && difference.output < static_cast<int>(meta.made_frames.size());
      add_finding(point, std::move(finding), known ? meta.made_frames[difference.output] : std::vector<void*>());
      continue;
    }
    const std::string argument = drawn_.argument_of_symbol[changed];
    const std::vector<SizeExprPtr> no_sizes;
    const auto& sizes = kernel.facts.empty() ? no_sizes : kernel.facts[std::max(difference.output, 0)].sizes;
    const bool is_a_size = std::any_of(sizes.begin(), sizes.end(), [&](const SizeExprPtr& size) {
      return size->integer({}) == point.values[changed];
    });
    if (!is_a_size) {
      note("sizes depend on the value of `" + argument + "`, an int: compiled for one value of it");
      continue;
    }
    finding.kind = "int-for-size";
    finding.message = "`" + argument + "` is a size of output " + std::to_string(difference.output) +
                      ", and the schema declares it int";
    finding.change = "declare it `SymInt " + argument +
                     "`; if it is a constant of the model, give its values in the spec (" + argument + "=64|128)";
    add_finding(point, std::move(finding));
  }
}

void OperatorJudge::compare(const CallPoint& point, const CallResult& meta, const CallResult& kernel,
                            const std::string& key) {
  GateFinding finding;
  if (!kernel.finished) {
    ++refused_;
    if (!meta.finished) return;
    if (point.layout != DrawnLayout::kContiguous) {
      ++refused_layouts_[layout_name(point.layout)];
      return;
    }
    finding.kind = "one-sided-error";
    finding.message = "the kernel refuses what the meta accepts: " + kernel.error;
    finding.expected = "accepted";
    finding.actual = kernel.error;
    finding.precondition = legality_is_unknown(call_->builder().text(*point.alternative));
    add_finding(point, std::move(finding));
    return;
  }
  if (!meta.without_meta.empty() && meta.read_data.empty()) {
    without_meta_ = meta.without_meta;
    return;
  }
  if (!meta.finished) {
    finding.kind = meta.read_data.empty() ? "meta-raises" : "meta-reads-data";
    finding.message = meta.read_data.empty() ? "the meta raises where the kernel does not: " + meta.error
                                             : "the meta reads values of a tensor (" + meta.read_data + ")";
    finding.expected = meta.error;
    finding.actual = "accepted";
    add_finding(point, std::move(finding), meta.throw_frames, meta.throw_place);
    return;
  }
  const auto names = call_->builder().tensor_names(call_->builder().build(point, RunKind::kMeta));
  const auto symbolic = symbolic_.find(key);
  bool differs = false;
  std::vector<FactsDifference> differences;
  const SymbolValues values = bind_unbacked(point.values, meta.unbacked, meta.facts, kernel.facts, &differences);
  for (FactsDifference& difference : compare_facts(meta.facts, kernel.facts, values, names))
    differences.push_back(std::move(difference));
  const std::vector<std::string> symbol_names = names_with_unbacked(call_->symbol_names(), meta.unbacked.size());
  for (const FactsDifference& difference : differences) {
    differs = true;
    finding = {};
    finding.kind = difference.kind;
    finding.output = difference.output;
    finding.message = "output " + std::to_string(difference.output) + ": the meta says " + difference.meta +
                      ", the kernel made " + difference.kernel;
    if (difference.output < 0)
      finding.message = "the meta says " + difference.meta + ", the kernel made " + difference.kernel;
    finding.expected = difference.meta;
    if (symbolic != symbolic_.end() && symbolic->second.exact && difference.output >= 0 &&
        difference.output < static_cast<int>(symbolic->second.facts.size())) {
      const TensorFacts& facts = symbolic->second.facts[difference.output];
      if (facts.defined && difference.meta.front() == '[')
        finding.expected = (difference.kind == "meta-wrong-size" ? facts.symbolic_sizes(symbol_names)
                                                                 : facts.symbolic_strides(symbol_names)) +
                           " = " + difference.meta;
    }
    finding.actual = difference.kernel;
    const bool known = difference.output >= 0 && difference.output < static_cast<int>(meta.made_frames.size());
    add_finding(point, std::move(finding), known ? meta.made_frames[difference.output] : std::vector<void*>());
  }
  if (!differs) compare_expression(point, meta, kernel, key);
}

}  // namespace aotifuzz
