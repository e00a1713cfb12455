#include "gate/operator_judge.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "gate/registration.h"
#include "gate/stack_frames.h"

namespace aotifuzz {
namespace {

/// What a tensor may be when nobody says: the first one that the kernel accepts.
constexpr TensorGuess kGuesses[] = {{2, Dtype::kF32},  {1, Dtype::kF32}, {3, Dtype::kF32},
                                    {4, Dtype::kF32},  {1, Dtype::kI64}, {2, Dtype::kI64},
                                    {2, Dtype::kBF16}, {2, Dtype::kU8},  {1, Dtype::kI32}};

/// The same fault at more sizes than this says nothing new.
constexpr size_t kSymptomsMax = 3;

bool has_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

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

int64_t total(const SymbolValues& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

}  // namespace

OperatorKernels kernels_of(const c10::OperatorHandle& op, bool library_uses_python) {
  OperatorKernels out;
  const bool composite = has_composite(op);
  out.meta = composite || op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  out.cpu = composite || op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
  const auto stub = c10::Dispatcher::singleton().getPyStub(op.operator_name());
  const bool own_meta = op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  out.decomposed = !own_meta && !op.hasKernelForDispatchKey(c10::DispatchKey::CPU) &&
                   op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  if (stub && !own_meta) out.meta = false;  // a fake in Python comes before a composite kernel
  if (out.meta) return out;
  if (stub)
    out.why_no_meta = std::string("its fake is Python (module ") + stub->first + ")";
  else if (library_uses_python)
    out.why_no_meta = "it has no C++ meta, and other operators of the library have theirs in Python";
  return out;
}

OperatorJudge::OperatorJudge(const c10::OperatorHandle& op, const OperatorSpec* spec, const OperatorKernels& kernels,
                             const JudgeOptions& options, GuardAllocator& allocator, GateCrumb* crumb, Report report)
    : op_(op),
      spec_(spec),
      kernels_(kernels),
      options_(options),
      allocator_(allocator),
      crumb_(crumb),
      report_(std::move(report)) {
  const c10::OperatorName name = op.operator_name();
  name_ = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

void OperatorJudge::note(std::string text) {
  GateOperator part;
  part.notes = {std::move(text)};
  report_(std::move(part));
}

std::string OperatorJudge::values_text(const SymbolValues& values) const {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i)
    out += (i ? ", " : "") + drawn_.symbols[i].name + "=" + std::to_string(values[i]);
  return out;
}

std::string OperatorJudge::key_of(const CallPoint& point) const {
  const auto at = std::find(alternatives_.begin(), alternatives_.end(), *point.alternative) - alternatives_.begin();
  return std::to_string(at) + " " + layout_name(point.layout);
}

void OperatorJudge::leave_crumb(GateCrumb::Phase phase, int64_t step, const CallPoint& point) {
  GateCrumb::set(crumb_->sizes, values_text(point.values));
  GateCrumb::set(crumb_->layout, layout_name(point.layout));
  GateCrumb::set(crumb_->arguments, call_->builder().text(*point.alternative));
  crumb_->weight = total(point.values);
  crumb_->at(phase, step);
}

void OperatorJudge::add_finding(const CallPoint& point, GateFinding finding, const std::vector<void*>& frames) {
  if (kernels_.decomposed && (finding.kind == "hidden-mutation" || finding.kind == "undeclared-alias")) return;
  finding.sizes = values_text(point.values);
  finding.layout = layout_name(point.layout);
  finding.arguments = call_->builder().text(*point.alternative);
  finding.weight = total(point.values);
  finding.frames = frames_in_libraries(frames);
  // Whether a kernel writes everything may hang on values that nobody called legal: an index, a length, a count.
  if ((finding.kind == "kernel-unwritten" || finding.kind == "kernel-reads-unwritten") && drawn_.by_default)
    finding.precondition = values_may_matter(finding.arguments);
  const bool of_kernel = finding.kind.starts_with("kernel-") || finding.kind == "hidden-mutation" ||
                         finding.kind == "undeclared-alias" || finding.kind == "one-sided-error";
  const Registration at = registration_of(op_, finding.kind == "int-for-size" ? "" : of_kernel ? "CPU" : "Meta");
  finding.file = at.file;
  finding.line = at.line;
  // Of one fault a few sizes are enough, but a smaller one is always news.
  const std::string same = finding.kind + std::to_string(finding.output) + finding.change +
                           (finding.frames.empty() ? "" : std::to_string(finding.frames[0].offset));
  const std::string size = " " + std::to_string(finding.weight);
  const auto alike = static_cast<size_t>(
      std::count_if(seen_.begin(), seen_.end(), [&](const std::string& key) { return key.starts_with(same + " "); }));
  if (!seen_.insert(same + size + finding.layout).second) return;
  if (alike >= kSymptomsMax && finding.weight > 3 * static_cast<int64_t>(point.values.size())) return;
  if (of_kernel && frames.empty() && finding.kind != "one-sided-error")
    finding.frames = frames_in_libraries(call_->locate_in_kernel(point, finding.output));
  GateOperator part;
  part.findings = {std::move(finding)};
  report_(std::move(part));
}

bool OperatorJudge::accepts(const DrawnArguments& drawn) {
  const OperatorCall call(op_, drawn);
  const SizeFamily family(drawn.symbols, {});
  const std::vector<int> first(drawn.alternatives.size(), 0);
  const CallPoint point{.alternative = &first, .values = family.base()};
  GateCrumb::set(crumb_->sizes, "");
  GateCrumb::set(crumb_->arguments, call.builder().text(first));
  crumb_->declared_outs = call.outs_have_declared_size();
  allocator_.begin_run({.stage = Stage::kSubject, .freed = FreedMemory::kFilled});
  torch::jit::Stack arguments = call.arguments(point, RunKind::kKernel);
  const std::vector<std::string> names = call.builder().tensor_names(arguments);
  const std::vector<at::Tensor> inputs = ArgumentBuilder::tensors_of(arguments);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined() && inputs[i].storage().nbytes() > 0)
      allocator_.label(inputs[i].storage().data(), BufferRole::kInput, names[i]);
  const bool finished = call.run(std::move(arguments), point, RunKind::kKernel).finished;
  allocator_.end_run();
  return finished;
}

/// False: nothing can be drawn, and the report says why.
bool OperatorJudge::draw(const GateResume& resume) {
  GateOperator part;
  std::ostringstream schema;
  schema << op_.schema();
  part.schema = schema.str();
  part.drawn_by_default = !spec_;
  drawn_ = draw_arguments(op_.schema(), spec_);
  if (!drawn_.unsupported.empty()) {
    part.not_judged = drawn_.unsupported + ", which is not drawn: give values in a spec, or None where it may be";
    report_(std::move(part));
    return false;
  }
  if (!spec_ && kernels_.cpu) {
    bool accepted = false;
    for (int i = resume.first_guess; i < static_cast<int>(std::size(kGuesses)) && !accepted; ++i) {
      crumb_->at(GateCrumb::kGuess, i);
      DrawnArguments guess = draw_arguments(op_.schema(), nullptr, kGuesses[i]);
      accepted = (resume.guess_is_accepted && i == resume.first_guess) || accepts(guess);
      if (accepted) drawn_ = std::move(guess);
    }
    if (!accepted) {
      part.not_judged =
          "its kernel accepts none of the arguments that are drawn from the schema alone: give a line in the spec";
      part.arguments = spec_line(op_.schema(), name_, drawn_);
      report_(std::move(part));
      return false;
    }
  }
  part.arguments = spec_line(op_.schema(), name_, drawn_);
  report_(std::move(part));
  return true;
}

void OperatorJudge::mine(const CallResult& result) {
  std::set<int64_t> constants;
  for (const SizeEvent& event : result.events) event.expression->collect_constants(&constants);
  for (const TensorFacts& facts : result.facts)
    for (const SizeExprPtr& size : facts.sizes) size->collect_constants(&constants);
  mined_.merge(SizeFamily::worth_trying(constants));
}

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
    finding.change = change_for_intermediate(event.call);
    add_finding(point, std::move(finding), event.frames);
  }
  report_(std::move(guards));
}

void OperatorJudge::run_symbolic_point(const CallPoint& point, const std::string& key, bool reporting) {
  const CallResult result = call_->run(call_->arguments(point, RunKind::kSymbolic), point, RunKind::kSymbolic);
  mine(result);
  if (!result.unruled.empty()) unruled_ = result.unruled;
  if (!result.without_meta.empty() && result.read_data.empty()) {
    without_meta_ = result.without_meta;
    return;
  }
  if (reporting) report_events(point, result);
  Symbolic& kept = symbolic_[key];
  kept.finished = result.finished;
  kept.facts = result.facts;
  bool numbers = false;
  for (const SizeEvent& event : result.events) {
    numbers |= event.kind == SizeEvent::Kind::kNumber;
    if (event.kind != SizeEvent::Kind::kNumber)
      kept.path.push_back(event.result ? event.expression
                                       : SizeExpr::make(SizeExpr::Op::kNot, SizeExpr::Type::kBool, {event.expression}));
  }
  kept.exact = result.finished && result.unruled.empty() && !numbers;
  if (result.finished && reporting) {
    GateOperator part;
    for (size_t i = 0; i < result.facts.size(); ++i)
      if (result.facts[i].defined)
        part.expressions[key + " output " + std::to_string(i)] = result.facts[i].symbolic_sizes(call_->symbol_names());
    report_(std::move(part));
  }
  if (result.finished || !result.unruled.empty() || !reporting) return;
  // With numbers in place of symbols the meta may be fine: then it is the symbols that it cannot stand.
  const CallResult plain = call_->run(call_->arguments(point, RunKind::kMeta), point, RunKind::kMeta);
  if (!plain.finished) return;
  GateFinding finding;
  finding.kind = "meta-specialises";
  finding.message = "the meta raises with symbolic sizes, and not with numbers: " + result.error;
  finding.expected = result.error;
  finding.actual = "no error with the sizes as numbers";
  finding.change = "compute with c10::SymInt to the end; do not ask it for an int64_t";
  add_finding(point, std::move(finding), result.throw_frames);
}

void OperatorJudge::run_symbolically(bool reporting) {
  const SizeFamily family(drawn_.symbols, {});
  int64_t step = 0;
  for (const std::vector<int>& alternative : alternatives_)
    for (const DrawnLayout layout : kDrawnLayouts) {
      CallPoint point{.alternative = &alternative, .layout = layout, .values = family.base()};
      if (call_->builder().largest_tensor(point) > kElementsMaxSymbolic) continue;
      leave_crumb(GateCrumb::kSymbolic, step++, point);
      run_symbolic_point(point, key_of(point), reporting);
      if (layout != DrawnLayout::kContiguous) continue;
      // Only for the conditions that other sizes meet.
      for (const SymbolValues& values : family.few()) {
        point.values = values;
        if (call_->builder().largest_tensor(point) > kElementsMaxSymbolic) continue;
        mine(call_->run(call_->arguments(point, RunKind::kSymbolic), point, RunKind::kSymbolic));
      }
    }
}

void OperatorJudge::compare_expression(const CallPoint& point, const CallResult& meta, const CallResult& kernel,
                                       const std::string& key) {
  const auto found = symbolic_.find(key);
  if (found == symbolic_.end() || !found->second.exact) return;
  for (const SizeExprPtr& condition : found->second.path)
    if (condition->integer(point.values) == 0) return;
  int changed = -1, changes = 0;
  for (size_t i = 0; i < point.values.size(); ++i)
    if (point.values[i] != family_->base()[i]) changed = static_cast<int>(i), ++changes;
  const bool plain_int = changes == 1 && drawn_.is_plain_int[changed];
  for (size_t i = 0; i < point.values.size(); ++i)
    if (changes > 1 && drawn_.is_plain_int[i] && point.values[i] != family_->base()[i]) return;
  const auto names = call_->builder().tensor_names(call_->builder().build(point, RunKind::kMeta));
  for (const FactsDifference& difference : compare_facts(found->second.facts, kernel.facts, point.values, names)) {
    GateFinding finding;
    finding.output = difference.output;
    finding.actual = difference.kernel;
    const TensorFacts& facts = found->second.facts[std::max(difference.output, 0)];
    finding.expected = facts.symbolic_sizes(call_->symbol_names()) + " = " + difference.meta;
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
    const auto& sizes = kernel.facts[std::max(difference.output, 0)].sizes;
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
    finding.precondition = drawn_.by_default;
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
    add_finding(point, std::move(finding), meta.throw_frames);
    return;
  }
  const auto names = call_->builder().tensor_names(call_->builder().build(point, RunKind::kMeta));
  const auto symbolic = symbolic_.find(key);
  bool differs = false;
  for (FactsDifference& difference : compare_facts(meta.facts, kernel.facts, point.values, names)) {
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
        finding.expected = (difference.kind == "meta-wrong-size" ? facts.symbolic_sizes(call_->symbol_names())
                                                                 : facts.symbolic_strides(call_->symbol_names())) +
                           " = " + difference.meta;
    }
    finding.actual = difference.kernel;
    const bool known = difference.output >= 0 && difference.output < static_cast<int>(meta.made_frames.size());
    add_finding(point, std::move(finding), known ? meta.made_frames[difference.output] : std::vector<void*>());
  }
  if (!differs) compare_expression(point, meta, kernel, key);
}

bool OperatorJudge::run_point(const CallPoint& point, const std::string& key) {
  CallResult meta;
  if (kernels_.meta) {
    leave_crumb(GateCrumb::kMeta, points_, point);
    meta = call_->run(call_->arguments(point, RunKind::kMeta), point, RunKind::kMeta);
  }
  leave_crumb(GateCrumb::kKernel, points_, point);
  const CallResult kernel = checks_->run(point);
  if (options_.values) {
    GateOperator part;
    const auto text = [&](const CallResult& result) {
      std::string out;
      for (const TensorFacts& facts : result.facts) out += (out.empty() ? "" : "; ") + facts.text(point.values);
      return result.finished ? out : std::string("raises");
    };
    part.values[key + " " + values_text(point.values)] = {kernels_.meta ? text(meta) : "no meta", text(kernel)};
    report_(std::move(part));
  }
  if (kernel.out_of_memory || meta.out_of_memory)
    ++out_of_memory_;
  else if (kernels_.meta)
    compare(point, meta, kernel, key);
  else
    refused_ += !kernel.finished;
  return kernel.finished;
}

void OperatorJudge::run_points(const GateResume& resume) {
  int64_t work = 0;
  for (const std::vector<int>& alternative : alternatives_)
    for (const DrawnLayout layout : kDrawnLayouts) {
      const bool full = &alternative == &alternatives_.front() && layout == DrawnLayout::kContiguous;
      bool base_refused = false;
      for (const SymbolValues& values : full ? family_->all() : family_->few()) {
        const CallPoint point{.alternative = &alternative, .layout = layout, .values = values};
        // What nobody called legal and the kernel takes only at some sizes, it takes by chance.
        if (base_refused && drawn_.by_default) continue;
        const int64_t elements = call_->builder().largest_tensor(point);
        if (elements > kElementsMax || work + elements > kWorkMax) {
          ++left_out_;
          continue;
        }
        work += elements;
        const bool accepted = points_ < resume.first_point || run_point(point, key_of(point));
        if (values == family_->base()) base_refused = !accepted;
        ++points_;
      }
    }
  if (left_out_ > 0 && points_ > 0) note(std::to_string(left_out_) + " points left out: too many elements");
}

void OperatorJudge::run(const GateResume& resume) {
  if (!draw(resume)) return;
  size_t dropped = 0;
  alternatives_ = choose_alternatives(drawn_, kAlternativesMax, &dropped);
  if (dropped > 0) note(std::to_string(dropped) + " further combinations of argument values are not tried");
  call_ = std::make_unique<OperatorCall>(op_, drawn_);
  crumb_->declared_outs = call_->outs_have_declared_size();
  checks_ = std::make_unique<KernelChecks>(*call_, allocator_, [this](const CallPoint& point, GateFinding finding) {
    add_finding(point, std::move(finding));
  });
  if (kernels_.meta && resume.symbolic) run_symbolically(!resume.symbolic_reported);
  GateOperator part;
  part.mined.assign(mined_.begin(), mined_.end());
  mined_.insert(options_.extra_constants.begin(), options_.extra_constants.end());
  family_ = std::make_unique<SizeFamily>(drawn_.symbols, mined_);
  if (kernels_.cpu) run_points(resume);
  checks_->finish(&part.notes);
  for (const auto& [layout, count] : refused_layouts_)
    part.notes.push_back("the kernel refuses tensors with layout " + layout + " that the meta accepts");
  if (out_of_memory_ > 0) part.notes.push_back(std::to_string(out_of_memory_) + " points left out: out of memory");
  if (kernels_.cpu && points_ == out_of_memory_)
    part.not_judged = "every size of the spec is too large to run (" + std::to_string(left_out_ + out_of_memory_) +
                      " points left out)";
  else if (!without_meta_.empty())
    part.not_judged = "its meta calls " + without_meta_ + ", which has no C++ meta";
  else if (!unruled_.empty())
    part.not_judged = "its meta calls " + unruled_ + ", whose sizes are not followed: only numbers were compared";
  else if (!kernels_.cpu)
    part.not_judged = "it has no CPU kernel: only the meta's use of symbols was looked at";
  else if (kernels_.meta && refused_ == points_ && points_ > 0)
    part.not_judged = "its kernel accepts none of the arguments of the spec";
  part.points = points_ - std::min(points_, resume.first_point);
  part.refused = refused_;
  part.ended = true;
  report_(std::move(part));
}

}  // namespace aotifuzz
