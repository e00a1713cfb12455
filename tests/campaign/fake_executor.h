#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/case_executor.h"
#include "core/contract.h"

namespace aotifuzz::test {

/// Answers cases from a function; counts what it was asked.
class FakeExecutor final : public CaseExecutor {
 public:
  explicit FakeExecutor(std::function<CaseResult(const Case&)> answer) : answer_(std::move(answer)) {}
  CaseResult run(const Case& c) override {
    ran.push_back(c);
    CaseResult result = answer_(c);
    result.fresh_child = fresh_;
    fresh_ = result.death.has_value();
    return result;
  }
  void renew() override {
    fresh_ = true;
    ++renewals;
    if (on_renew) on_renew();
  }

  std::vector<Case> ran;
  int renewals = 0;
  std::function<void()> on_renew;

 private:
  std::function<CaseResult(const Case&)> answer_;
  bool fresh_ = true;
};

inline Verdict passed() {
  Verdict verdict;
  verdict.oracle = "close";
  return verdict;
}

inline Verdict failed(const std::string& signature, bool fault = true, VerdictClass cls = VerdictClass::kWrongResult) {
  Verdict verdict;
  verdict.oracle = "close";
  verdict.status = VerdictStatus::kFail;
  verdict.cls = cls;
  verdict.fault = fault;
  verdict.signature = signature;
  verdict.reason = "output 0 differs";
  verdict.measures = {{"output", "0"}, {"expected", "3"}, {"actual", "4"}};
  return verdict;
}

inline CaseResult reported(std::vector<Verdict> verdicts) {
  CaseResult result;
  result.report.emplace();
  result.report->reference_accepts = true;
  result.report->runs = {{"subject", {}, 10}};
  result.report->verdicts = std::move(verdicts);
  return result;
}

inline CaseResult died(int signal, Stage stage = Stage::kSubject, bool reference_done = true) {
  CaseResult result;
  result.death.emplace();
  result.death->signal = signal;
  result.death->stage = stage;
  result.death->reference_done = result.death->reference_accepts = reference_done;
  return result;
}

inline CaseInput tensor(const std::string& name, std::vector<int64_t> sizes) {
  CaseInput input;
  input.name = name;
  input.sizes = std::move(sizes);
  return input;
}

/// x f32[s0, s1], y f32[s1]: both symbols free from 0, y tied to x.
inline Contract tied_contract() {
  Contract contract;
  InputSpec x, y;
  x.name = "x";
  x.sizes = {Expr::symbol("s0"), Expr::symbol("s1")};
  x.strides = {Expr::symbol("s1"), Expr::integer(1)};
  y.name = "y";
  y.sizes = {Expr::symbol("s1")};
  y.strides = {Expr::integer(1)};
  contract.inputs = {x, y};
  contract.symbols = {{"s0", "x.size(0)", 0, std::nullopt, false}, {"s1", "x.size(1)", 0, std::nullopt, false}};
  Condition tie;
  tie.kind = Condition::Kind::kSize;
  tie.input = 1;
  tie.expr = Expr::make(ExprOp::kEq, {Expr::symbol("y.size(0)"), Expr::symbol("x.size(1)")});
  tie.text = "y.size(0) == x.size(1)";
  contract.conditions = {tie};
  return contract;
}

inline Case tied_case(int64_t rows, int64_t columns) {
  Case c;
  c.inputs = {tensor("x", {rows, columns}), tensor("y", {columns})};
  return c;
}

}  // namespace aotifuzz::test
