#include <ATen/ATen.h>

#include <sstream>

#include "gate/operator_judge.h"

// How a judge comes to the arguments that it calls an operator with.

namespace aotifuzz {
namespace {

/// What a tensor may be when nobody says: the first one that the kernel accepts.
constexpr TensorGuess kGuesses[] = {{2, Dtype::kF32},  {1, Dtype::kF32}, {3, Dtype::kF32},
                                    {4, Dtype::kF32},  {1, Dtype::kI64}, {2, Dtype::kI64},
                                    {2, Dtype::kBF16}, {2, Dtype::kU8},  {1, Dtype::kI32}};

}  // namespace

void OperatorJudge::choose_integers(const GateResume& resume) {
  DrawnArguments zeros = drawn_;
  const bool has_integers = with_zeros(&zeros);
  const DrawnArguments* const guesses[] = {&drawn_, &zeros};
  for (int i = resume.first_guess; i < 2 && (i == 0 || has_integers); ++i) {
    crumb_->at(GateCrumb::kGuess, i);
    if (!(resume.guess_is_accepted && i == resume.first_guess) && !accepts(*guesses[i])) continue;
    if (i == 0) return;
    drawn_ = std::move(zeros);
    note("integer tensors of its calls hold zeros: of their values nothing is known, and it refuses others");
    return;
  }
  kernels_.kernel = false;
  no_kernel_ = std::string("its kernel does not take what was drawn for a call of the program") +
               (has_integers ? ", of which the values of integer tensors are not known" : "") +
               ": give a line in the spec; only the meta's use of symbols was looked at";
}

bool OperatorJudge::accepts(const DrawnArguments& drawn) {
  const OperatorCall call(op_, drawn, memory_.device());
  const SizeFamily family(drawn.symbols, {}, conditions_of(drawn));
  const std::vector<int> first(drawn.alternatives.size(), 0);
  const CallPoint point{.alternative = &first, .values = family.base()};
  GateCrumb::set(crumb_->sizes, "");
  GateCrumb::set(crumb_->arguments, call.builder().text(first));
  crumb_->declared_outs = call.outs_have_declared_size();
  if (kernels_.python_cpu) {
    const CallResult result = python_.run(drawn, point, RunKind::kKernel);
    return result.finished || !result.not_followed.empty();
  }
  memory_.begin_run({});
  torch::jit::Stack arguments = call.arguments(point, RunKind::kKernel);
  memory_.label_inputs(ArgumentBuilder::tensors_of(arguments), call.builder().tensor_names(arguments));
  const bool finished = call.run(std::move(arguments), point, RunKind::kKernel).finished;
  memory_.end_run();
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
  if (!spec_ && kernels_.kernel) {
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
  if (!SizeFamily(drawn_.symbols, {}, conditions_of(drawn_)).is_possible()) {
    part.not_judged = "no sizes were found that meet the conditions of its line";
    part.ended = 1;
    report_(std::move(part));
    return false;
  }
  part.arguments = spec_line(op_.schema(), name_, drawn_);
  if (drawn_.by_call && kernels_.kernel) choose_integers(resume);
  report_(std::move(part));
  return true;
}

}  // namespace aotifuzz
