#include "package/contract_solver.h"

#include <gtest/gtest.h>

#include "core/guard_parser.h"

namespace aotifuzz {
namespace {

using Answer = ContractSolver::Answer;

Contract contract_of(const std::vector<const char*>& conditions) {
  Contract contract;
  for (const char* name : {"x", "y"}) {
    InputSpec input;
    input.name = name;
    input.sizes = {Expr::symbol(std::string("s") + name)};
    contract.symbols.push_back({std::string("s") + name, std::string(name) + ".size(0)"});
    contract.inputs.push_back(input);
  }
  for (const char* text : conditions)
    contract.conditions.push_back({Condition::Kind::kGuard, -1, *parse_size_text(text), text});
  return contract;
}

TEST(ContractSolver, FindsAnAssignmentThatEvaluationConfirms) {
  const Contract contract =
      contract_of({"x.size(0) % 7 == 3", "x.size(0) > y.size(0) + 10", "max(x.size(0), 4) // 2 != 5"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  const ContractSolver::Solution solution = solver.solve({});
  ASSERT_EQ(solution.answer, Answer::kYes);
  EXPECT_TRUE(space.satisfies(solution.values));
}

TEST(ContractSolver, ProvesThatNothingFits) {
  const Contract contract = contract_of({"x.size(0) % 2 == 0", "x.size(0) % 2 == 1"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  EXPECT_EQ(solver.solve({}).answer, Answer::kNo);
  ContractSolver::Query one;
  one.without = {1};
  EXPECT_EQ(solver.solve(one).answer, Answer::kYes);
}

TEST(ContractSolver, BoundsFixedValuesAndCongruencesNarrow) {
  const Contract contract = contract_of({"x.size(0) == 2*y.size(0)"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  ContractSolver::Query query;
  query.fixed = {{"y.size(0)", 5}};
  EXPECT_EQ(solver.solve(query).values.at("x.size(0)"), 10);
  query.at_most = {{"x.size(0)", 9}};
  EXPECT_EQ(solver.solve(query).answer, Answer::kNo);
  ContractSolver::Query odd;
  odd.not_congruent = {"x.size(0)", {2, 0}};
  EXPECT_EQ(solver.solve(odd).answer, Answer::kNo);
  ContractSolver::Query negative;
  negative.at_most = {{"x.size(0)", -1}};
  EXPECT_EQ(solver.solve(negative).answer, Answer::kNo) << "sizes are not negative";
}

TEST(ContractSolver, BrokenConditionFailsAndTheOthersHold) {
  const Contract contract = contract_of({"x.size(0) <= 8", "x.size(0) % 4 == 0"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  ContractSolver::Query query;
  query.broken = 0;
  const ContractSolver::Solution solution = solver.solve(query);
  ASSERT_EQ(solution.answer, Answer::kYes);
  EXPECT_EQ(space.broken(solution.values, 9), std::vector<int>{0});
}

// Z3 rounds division by another rule than Python does, and leaves division by zero open.
TEST(ContractSolver, DivisionMeansWhatPythonMeans) {
  for (const char* expression :
       {"(x.size(0) - 9) // 4", "(x.size(0) - 9) // (0 - 4)", "(x.size(0) - 9) % 4", "(x.size(0) - 9) % (0 - 4)",
        "(x.size(0) - 9) // (y.size(0) - 5)", "(x.size(0) - 9) % (y.size(0) - 5)", "ceil_div(x.size(0) - 9, 4)",
        "ceil_div(x.size(0) - 9, y.size(0) - 5)", "modular_indexing(x.size(0), 3, 4)", "abs(x.size(0) - 9)",
        "where(x.size(0) < 3, 7, 8)"}) {
    for (int64_t x : {0, 3, 9, 14, 16})
      for (int64_t y : {0, 2, 8}) {
        const std::optional<int64_t> value = parse_size_text(expression)->evaluate([&](const std::string& name) {
          return std::optional(name[0] == 'x' ? x : y);
        });
        ASSERT_TRUE(value);
        const std::string same = std::string(expression) + " == " + std::to_string(*value);
        const Contract contract = contract_of({same.c_str()});
        const DimensionSpace space(contract);
        ContractSolver solver(space);
        ContractSolver::Query query;
        query.fixed = {{"x.size(0)", x}, {"y.size(0)", y}};
        EXPECT_EQ(solver.solve(query).answer, Answer::kYes) << same << " with x = " << x << ", y = " << y;
      }
  }
  const Contract zero = contract_of({"x.size(0) // (y.size(0) - 5) == 3"});
  const DimensionSpace space(zero);
  ContractSolver solver(space);
  ContractSolver::Query query;
  query.fixed = {{"y.size(0)", 5}};
  EXPECT_EQ(solver.solve(query).answer, Answer::kNo) << "a division by zero refuses";
}

TEST(ContractSolver, WhatCannotBeTranslatedIsListed) {
  const Contract contract = contract_of({"2**x.size(0) == 8", "x.size(0)**2 == 9"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  EXPECT_EQ(solver.untranslated(), std::vector<int>{0});
  EXPECT_EQ(solver.solve({}).values.at("x.size(0)"), 3);
}

TEST(ContractSolver, HopelessQuestionsEnd) {
  // Fermat's last theorem for exponent 3.
  const Contract contract =
      contract_of({"x.size(0)**3 + y.size(0)**3 == (x.size(0) + y.size(0) - 3)**3", "x.size(0) > 2", "y.size(0) > 2"});
  const DimensionSpace space(contract);
  ContractSolver solver(space);
  for (int i = 0; i < 50; ++i)
    if (solver.solve({}).answer == Answer::kYes) FAIL() << "not expected to be solvable";
  SUCCEED();
}

}  // namespace
}  // namespace aotifuzz
