#include "campaign/confirmed_reduction.h"

namespace aotifuzz {
namespace {

/// Runs every case in a process of its own.
class RenewingExecutor final : public CaseExecutor {
 public:
  explicit RenewingExecutor(CaseExecutor& inner) : inner_(inner) {}
  CaseResult run(const Case& c) override {
    inner_.renew();
    return inner_.run(c);
  }
  void renew() override { inner_.renew(); }
  void set_patience(double factor) override { inner_.set_patience(factor); }
  void set_careful(bool careful) override { inner_.set_careful(careful); }

 private:
  CaseExecutor& inner_;
};

}  // namespace

std::optional<ConfirmedReduction> reduce_confirmed(const TriageContext& context, CaseExecutor& executor, const Case& c,
                                                   const Verdict& verdict, const ReducerOptions& options, int replays,
                                                   const std::function<bool()>& stop) {
  RenewingExecutor renewing(executor);
  ConfirmedReduction out;
  for (CaseExecutor* way : {&executor, static_cast<CaseExecutor*>(&renewing)}) {
    out.reduction = Reducer(context, *way, options).reduce(c, verdict, stop);
    out.runs += out.reduction.runs;
    out.confirmation = confirm(context, executor, out.reduction.minimal, finding_key(verdict), {}, replays);
    if (out.confirmation.reproduced > 0) return out;
    if (stop && stop()) break;
  }
  return std::nullopt;
}

}  // namespace aotifuzz
