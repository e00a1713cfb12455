#include "gate/operator_judge.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "gate/registration.h"
#include "gate/stack_frames.h"

namespace aotifuzz {
namespace {

/// The same fault at more sizes than this says nothing new.
constexpr size_t kSymptomsMax = 3;

bool has_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

int64_t total(const SymbolValues& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

}  // namespace

OperatorKernels kernels_of(const c10::OperatorHandle& op, bool library_uses_python, c10::DispatchKey key) {
  OperatorKernels out;
  const bool composite = has_composite(op);
  out.meta = composite || op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  out.kernel = composite || op.hasKernelForDispatchKey(key);
  const auto stub = c10::Dispatcher::singleton().getPyStub(op.operator_name());
  const bool own_meta = op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  out.decomposed = !own_meta && !op.hasKernelForDispatchKey(key) &&
                   op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  if (stub && !own_meta) out.meta = false;  // a fake in Python comes before a composite kernel
  if (out.meta) return out;
  if (stub)
    out.why_no_meta = std::string("its fake is Python: give --fakes ") + stub->first + " to judge it";
  else if (library_uses_python)
    out.why_no_meta =
        "it has no C++ meta, and other operators of the library have theirs in Python: give --fakes MODULE to judge it";
  return out;
}

OperatorJudge::OperatorJudge(const c10::OperatorHandle& op, const OperatorSpec* spec, const OperatorKernels& kernels,
                             const JudgeOptions& options, KernelMemory& memory, GateCrumb* crumb, int python_fd,
                             Report report)
    : op_(op),
      spec_(spec),
      kernels_(kernels),
      options_(options),
      memory_(memory),
      crumb_(crumb),
      report_(std::move(report)),
      name_(full_name(op.operator_name())),
      python_(python_fd, name_, op_.schema(), crumb),
      no_kernel_(std::string("it has no ") + c10::toString(options.key) +
                 " kernel: only the meta's use of symbols was looked at") {}

CallResult OperatorJudge::run_meta(const CallPoint& point, RunKind kind) {
  if (kernels_.python_meta) return python_.run(drawn_, point, kind);
  return call_->run(call_->arguments(point, kind), point, kind);
}

CallResult OperatorJudge::run_kernel(const CallPoint& point) {
  if (!kernels_.python_cpu) return checks_->run(point);
  return python_.run_kernel(*call_, drawn_, point,
                            [this](const CallPoint& at, GateFinding finding) { add_finding(at, std::move(finding)); });
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

void OperatorJudge::place_finding(GateFinding* finding, const SourcePlace& place) const {
  const bool in_python = finding->of_kernel() ? kernels_.python_cpu : kernels_.python_meta;
  const SourcePlace& side = finding->of_kernel() ? kernels_.cpu_place : kernels_.meta_place;
  if (in_python && (place.line > 0 || side.line > 0)) {
    const SourcePlace& known = place.line > 0 ? place : side;
    finding->file = known.file;
    finding->line = known.line;
    finding->function = known.function.empty() ? "Python" : known.function;
    return;
  }
  const std::string key = finding->kind == "int-for-size" ? ""
                          : finding->of_kernel()          ? c10::toString(options_.key)
                                                          : "Meta";
  const Registration at = registration_of(op_, key);
  finding->file = at.file;
  finding->line = at.line;
}

void OperatorJudge::add_finding(const CallPoint& point, GateFinding finding, const std::vector<void*>& frames,
                                const SourcePlace& place) {
  if (kernels_.decomposed && (finding.kind == "hidden-mutation" || finding.kind == "undeclared-alias")) return;
  finding.sizes = values_text(point.values);
  finding.layout = layout_name(point.layout);
  finding.arguments = call_->builder().text(*point.alternative);
  finding.weight = total(point.values);
  finding.frames = frames_in_libraries(frames);
  // Whether a kernel writes everything may hang on values that nobody called legal: an index, a length, a count.
  if (finding.kind == "kernel-unwritten" || finding.kind == "kernel-reads-unwritten")
    finding.precondition = drawn_.by_default ? values_may_matter(finding.arguments)
                                             : drawn_.by_call && tensor_values_may_matter(finding.arguments);
  place_finding(&finding, place);
  // Of one fault a few sizes are enough, but a smaller one is always news.
  const std::string same = finding.kind + std::to_string(finding.output) + finding.change +
                           (finding.frames.empty() ? "" : std::to_string(finding.frames[0].offset)) +
                           (place.line > 0 ? ":" + std::to_string(place.line) : "");
  const std::string size = " " + std::to_string(finding.weight);
  const auto alike = static_cast<size_t>(
      std::count_if(seen_.begin(), seen_.end(), [&](const std::string& key) { return key.starts_with(same + " "); }));
  if (!seen_.insert(same + size + finding.layout).second) return;
  if (alike >= kSymptomsMax && finding.weight > 3 * static_cast<int64_t>(point.values.size())) return;
  if (finding.of_kernel() && !kernels_.python_cpu && frames.empty() && finding.kind != "one-sided-error")
    finding.frames = frames_in_libraries(call_->locate_in_kernel(point, finding.output));
  GateOperator part;
  part.findings = {std::move(finding)};
  report_(std::move(part));
}

bool OperatorJudge::legality_is_unknown(const std::string& arguments) const {
  return drawn_.by_default || (drawn_.by_call && tensor_values_may_matter(arguments));
}

void OperatorJudge::mine(const CallResult& result) {
  std::set<int64_t> constants;
  for (const SizeEvent& event : result.events) event.expression->collect_constants(&constants);
  for (const TensorFacts& facts : result.facts)
    for (const SizeExprPtr& size : facts.sizes) size->collect_constants(&constants);
  mined_.merge(SizeFamily::worth_trying(constants));
}

void OperatorJudge::run_symbolic_point(const CallPoint& point, const std::string& key, bool reporting) {
  const CallResult result = run_meta(point, RunKind::kSymbolic);
  mine(result);
  if (!result.not_followed.empty()) not_followed_ = result.not_followed;
  if (!result.unruled.empty()) unruled_ = result.unruled;
  if (!result.without_meta.empty() && result.read_data.empty()) {
    without_meta_ = result.without_meta;
    return;
  }
  if (reporting) report_events(point, result);
  Symbolic& kept = symbolic_[key];
  kept.finished = result.finished;
  kept.facts = result.facts;
  kept.unbacked = result.unbacked;
  bool numbers = false;
  for (const SizeEvent& event : result.events) {
    numbers |= event.kind == SizeEvent::Kind::kNumber;
    if (event.kind != SizeEvent::Kind::kNumber)
      kept.path.push_back(event.result ? event.expression
                                       : SizeExpr::make(SizeExpr::Op::kNot, SizeExpr::Type::kBool, {event.expression}));
  }
  kept.exact =
      result.finished && result.unruled.empty() && result.path_known && result.not_followed.empty() && !numbers;
  if (result.finished && reporting) {
    GateOperator part;
    for (size_t i = 0; i < result.facts.size(); ++i)
      if (result.facts[i].defined)
        part.expressions[key + " output " + std::to_string(i)] =
            result.facts[i].symbolic_sizes(names_with_unbacked(call_->symbol_names(), result.unbacked.size()));
    report_(std::move(part));
  }
  if (result.finished || !result.unruled.empty() || !result.not_followed.empty() || !reporting) return;
  // With numbers in place of symbols the meta may be fine: then it is the symbols that it cannot stand.
  const CallResult plain = run_meta(point, RunKind::kMeta);
  if (!plain.finished) return;
  GateFinding finding;
  finding.kind = "meta-specialises";
  finding.message = "the meta raises with symbolic sizes, and not with numbers: " + result.error;
  finding.expected = result.error;
  finding.actual = "no error with the sizes as numbers";
  finding.change =
      kernels_.python_meta ? kPythonChange : "compute with c10::SymInt to the end; do not ask it for an int64_t";
  add_finding(point, std::move(finding), result.throw_frames, result.throw_place);
}

void OperatorJudge::run_symbolically(bool reporting) {
  const SizeFamily family(drawn_.symbols, {}, conditions_of(drawn_));
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
        ++crumb_->beat;
        mine(run_meta(point, RunKind::kSymbolic));
      }
    }
}

bool OperatorJudge::run_point(const CallPoint& point, const std::string& key) {
  CallResult meta;
  if (kernels_.meta) {
    leave_crumb(GateCrumb::kMeta, points_, point);
    meta = run_meta(point, RunKind::kMeta);
    if (!meta.not_followed.empty()) not_followed_ = meta.not_followed;
  }
  leave_crumb(GateCrumb::kKernel, points_, point);
  const CallResult kernel = run_kernel(point);
  if (!kernel.not_followed.empty()) not_followed_ = kernel.not_followed;
  if (options_.values) {
    GateOperator part;
    std::vector<FactsDifference> differences;
    const SymbolValues values = bind_unbacked(point.values, meta.unbacked, meta.facts, kernel.facts, &differences);
    const auto text = [&](const CallResult& result) {
      std::string out;
      for (const TensorFacts& facts : result.facts) out += (out.empty() ? "" : "; ") + facts.text(values);
      return result.finished ? out : std::string("raises");
    };
    part.values[key + " " + values_text(point.values)] = {kernels_.meta ? text(meta) : "no meta", text(kernel)};
    report_(std::move(part));
  }
  if (kernel.out_of_memory || meta.out_of_memory)
    ++out_of_memory_;
  else if (!meta.not_followed.empty() || !kernel.not_followed.empty())
    return true;
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
  call_ = std::make_unique<OperatorCall>(op_, drawn_, memory_.device());
  crumb_->declared_outs = call_->outs_have_declared_size();
  checks_ = std::make_unique<KernelChecks>(
      *call_, memory_, [this](const CallPoint& point, GateFinding finding) { add_finding(point, std::move(finding)); });
  if (kernels_.meta && resume.symbolic) run_symbolically(!resume.symbolic_reported);
  GateOperator part;
  part.mined.assign(mined_.begin(), mined_.end());
  mined_.insert(options_.extra_constants.begin(), options_.extra_constants.end());
  family_ = std::make_unique<SizeFamily>(drawn_.symbols, mined_, conditions_of(drawn_));
  if (kernels_.kernel) run_points(resume);
  checks_->finish(&part.notes);
  if (kernels_.python_cpu) part.notes.push_back("its kernel is Python: what it does to memory is not watched");
  for (const auto& [layout, count] : refused_layouts_)
    part.notes.push_back("the kernel refuses tensors with layout " + layout + " that the meta accepts");
  if (out_of_memory_ > 0) part.notes.push_back(std::to_string(out_of_memory_) + " points left out: out of memory");
  if (kernels_.kernel && points_ == out_of_memory_)
    part.not_judged = "every size of the spec is too large to run (" + std::to_string(left_out_ + out_of_memory_) +
                      " points left out)";
  else if (!without_meta_.empty())
    part.not_judged =
        "its meta calls " + without_meta_ + (kernels_.python_meta ? ", which has no fake" : ", which has no C++ meta");
  else if (!unruled_.empty())
    part.not_judged = "its meta calls " + unruled_ + ", whose sizes are not followed: only numbers were compared";
  else if (!not_followed_.empty())
    part.not_judged = "what Python says of it has no form here: " + not_followed_;
  else if (!kernels_.kernel)
    part.not_judged = no_kernel_;
  else if (kernels_.meta && refused_ == points_ && points_ > 0)
    part.not_judged = "its kernel accepts none of the arguments of the spec";
  part.points = points_ - std::min(points_, resume.first_point);
  part.refused = refused_;
  part.ended = 1;
  report_(std::move(part));
}

}  // namespace aotifuzz
