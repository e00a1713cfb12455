#include "campaign/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "generators/audit_call_probes.h"
#include "store/corpus_folder.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

constexpr const char* kTie = "y.size(0) == x.size(1)";

/// What the package answers; refusals and what the reference says are set as runs have them.
struct Answering {
  static CaseResult right() { return reported({passed()}); }
  static CaseResult refused(bool legal = true) {
    CaseResult result = reported({passed()});
    result.report->reference_accepts = legal;
    result.report->runs[0].outcome.kind = OutcomeKind::kRejected;
    return result;
  }
};

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    info_.contract = tied_contract();
    options_.elements_max = 1 << 12;
    Case apart = tied_case(4, 3);
    apart.inputs[1].sizes = {2};
    probes_.push_back({AuditSubject::kRelation, kTie, "y.size(0) = 2, x.size(1) = 3", 0, apart});
    Case other = tied_case(4, 3);
    other.inputs[0].dtype = Dtype::kF64;
    probes_.push_back({AuditSubject::kDtype, "x.dtype == f32", "f64", 0, other});
  }

  AuditReport run(const std::function<CaseResult(const Case&)>& answer) {
    executor_ = std::make_unique<FakeExecutor>(answer);
    const AuditSubjectMatter subject{
        info_, {info_.contract}, bounds_, {tied_case(5, 3)}, probes_, untried_,       [](Case&) {},
        {},    "model.pt2",      "",      "2.15.0",          {},      second_values_, trace_};
    return audit(subject, *executor_, options_);
  }
  static const AuditItem& item(const AuditReport& report, const std::string& name) {
    for (const AuditItem& one : report.items)
      if (one.name == name) return one;
    ADD_FAILURE() << "no item " << name;
    static const AuditItem none;
    return none;
  }
  static bool is_apart(const Case& c) { return c.inputs[1].sizes[0] != c.inputs[0].sizes[1]; }

  PackageInfo info_;
  ContractBounds bounds_;
  std::vector<AuditProbe> probes_;
  std::vector<AuditUntried> untried_;
  AuditOptions options_;
  std::unique_ptr<FakeExecutor> executor_;
  std::function<void(Case&)> second_values_;
  const CompileTrace* trace_ = nullptr;
};

TEST_F(AuditTest, APackageThatStopsWhatItMustIsOk) {
  const AuditReport report = run([&](const Case& c) {
    return violations(info_.contract, c).empty() ? Answering::right() : Answering::refused(false);
  });
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 0);
  EXPECT_EQ(report.count(AuditWord::kTooStrict), 0);
  EXPECT_EQ(item(report, kTie).enforced_off, "refused");
  EXPECT_EQ(item(report, "x.size(0)").declared, "0..unbounded");
  EXPECT_EQ(item(report, "x.size(0)").safe, "0..1025");
  EXPECT_THAT(report.unconfirmed, IsEmpty());
}

TEST_F(AuditTest, AMissingGuardIsPrintedWithItsCase) {
  const AuditReport report = run([&](const Case& c) {
    return is_apart(c) && !c.input_checks ? reported({failed("apart", false, VerdictClass::kMemoryFault)})
           : is_apart(c)                  ? Answering::refused()
                                          : Answering::right();
  });
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 1);
  const AuditLine& line = item(report, kTie).lines.at(0);
  EXPECT_EQ(line.word, AuditWord::kUnsafe);
  EXPECT_FALSE(line.inside);
  EXPECT_TRUE(line.refused_with_checks);
  EXPECT_EQ(line.reproduced, 3);
  EXPECT_EQ(line.tries, 3);
  EXPECT_TRUE(is_apart(line.input));
  EXPECT_THAT(line.guard.cpp, HasSubstr(kTie));
  EXPECT_EQ(item(report, "x.dtype == f32").word(), AuditWord::kOk);
}

TEST_F(AuditTest, ALineOfSizesHasTheRecordedGuardAndOneOfADtypeHasNone) {
  CompileTrace trace;
  const auto guard = [&](ExprOp op, Expr a, Expr b, const char* line) {
    const Expr e = Expr::make(op, {std::move(a), std::move(b)});
    trace.guards.push_back({e, e.text(), line, false, 1});
  };
  const Expr x = Expr::symbol("x.size(0)"), columns = Expr::symbol("x.size(1)"), y = Expr::symbol("y.size(0)");
  guard(ExprOp::kEq, columns, y, "model.py:3: x @ y");
  guard(ExprOp::kNe, y, Expr::integer(2), "model.py:4: if y.size(0) != 2:");
  // The plain case breaks it too, so it explains no difference.
  guard(ExprOp::kGt, x, Expr::integer(100), "model.py:5: wrong");
  trace.symbols.push_back({"s1", "L['x'].size()[0]", "x.size(0)", "[2, int_oo]", "5", ""});
  trace_ = &trace;
  const AuditReport report = run([&](const Case& c) {
    if (c.inputs[0].sizes[0] < 2 && c.input_checks) return Answering::refused();
    return is_apart(c) || c.inputs[0].dtype == Dtype::kF64
               ? reported({failed("apart", false, VerdictClass::kMemoryFault)})
               : Answering::right();
  });
  EXPECT_THAT(item(report, kTie).lines.at(0).because, ElementsAre("x.size(1) == y.size(0) at model.py:3: x @ y"));
  EXPECT_THAT(item(report, "x.dtype == f32").lines.at(0).because, IsEmpty());
  const AuditLine& strict = item(report, "x.size(0)").lines.at(0);
  EXPECT_EQ(strict.word, AuditWord::kTooStrict);
  EXPECT_THAT(strict.because, ElementsAre(HasSubstr("x.size(0) >= 2, the range [2, int_oo] that export gave s1")));
}

TEST_F(AuditTest, WithChecksOnOnlyWhatTheyLetThroughIsUnsafe) {
  options_.checks = ChecksMode::kOn;
  const auto package = [&](const Case& c) {
    return is_apart(c) && !c.input_checks ? reported({failed("apart", false, VerdictClass::kMemoryFault)})
           : is_apart(c)                  ? Answering::refused()
                                          : Answering::right();
  };
  EXPECT_EQ(run(package).count(AuditWord::kUnsafe), 0);
  const AuditReport report = run([&](const Case& c) {
    return is_apart(c) ? reported({failed("apart", false, VerdictClass::kMemoryFault)}) : Answering::right();
  });
  ASSERT_EQ(report.count(AuditWord::kUnsafe), 1);
  EXPECT_TRUE(item(report, kTie).lines.at(0).input.input_checks);
}

TEST_F(AuditTest, AFaultInsideTheContractHasAGuardFromWhatPassed) {
  const AuditReport report =
      run([&](const Case& c) { return c.inputs[0].sizes[0] < 3 ? died(11) : Answering::right(); });
  ASSERT_EQ(report.count(AuditWord::kUnsafe), 1);
  const AuditLine& line = item(report, "x.size(0)").lines.at(0);
  EXPECT_TRUE(line.inside);
  EXPECT_EQ(line.what, "x.size(0) = 0..2");
  EXPECT_THAT(line.guard.python, ElementsAre("torch._check(x.size(0) >= 3)"));
  EXPECT_EQ(item(report, "x.size(0)").safe, "3..1025");
}

TEST_F(AuditTest, WhatFailsEverywhereIsNoMatterOfASize) {
  const AuditReport report = run([&](const Case&) { return reported({failed("always")}); });
  EXPECT_EQ(item(report, "inputs as declared").word(), AuditWord::kUnsafe);
  EXPECT_EQ(item(report, "x.size(0)").word(), AuditWord::kOk);
  EXPECT_EQ(item(report, "x.size(0)").safe, "none");
}

TEST_F(AuditTest, ARefusedLegalSizeIsTooStrict) {
  const AuditReport report = run([&](const Case& c) {
    return c.inputs[0].sizes[0] < 2 && c.input_checks ? Answering::refused() : Answering::right();
  });
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 0);
  ASSERT_EQ(report.count(AuditWord::kTooStrict), 1);
  EXPECT_THAT(item(report, "x.size(0)").lines.at(0).what, HasSubstr("x.size(0) = 0..1: legal, and refused with"));
}

TEST_F(AuditTest, WhatTheReferenceRefusesIsUnreached) {
  const AuditReport report =
      run([&](const Case& c) { return c.inputs[0].sizes[0] > 40 ? Answering::refused(false) : Answering::right(); });
  ASSERT_EQ(report.count(AuditWord::kUnreached), 1);
  EXPECT_THAT(item(report, "x.size(0)").lines.at(0).what,
              HasSubstr("x.size(0) = 41..1025: declared, and the reference"));
}

TEST_F(AuditTest, WhereTheReferenceRaisesOtherValuesAreTried) {
  // It raises for the plain values beyond 40 rows, and for any beyond 100.
  second_values_ = [](Case& c) { c.inputs[0].offset = 16; };
  const AuditReport report = run([&](const Case& c) {
    const int64_t rows = c.inputs[0].sizes[0];
    return rows > 100 || (rows > 40 && c.inputs[0].offset != 16) ? Answering::refused(false) : Answering::right();
  });
  EXPECT_THAT(item(report, "x.size(0)").lines.at(0).what,
              HasSubstr("x.size(0) = 101..1025: declared, and the reference"));
}

TEST_F(AuditTest, WhatNobodyCouldJudgeIsCounted) {
  const AuditReport none = run([&](const Case&) {
    CaseResult result = reported({});
    result.report->runs[0].outcome.kind = OutcomeKind::kOutOfMemory;
    return result;
  });
  EXPECT_GT(none.cases, 0);
  EXPECT_EQ(none.judged, 0);
  const AuditReport all = run([&](const Case&) { return Answering::right(); });
  EXPECT_EQ(all.judged, all.cases);
}

TEST_F(AuditTest, DeclaredSizesAreTriedBeforeWhatTheContractForbids) {
  run([&](const Case&) { return Answering::right(); });
  size_t declared = 0;
  bool forbidden = false;
  for (const Case& c : executor_->ran) {
    forbidden |= !violations(info_.contract, c).empty();
    declared += !forbidden && c.inputs[0].sizes[0] != 5;
  }
  EXPECT_TRUE(forbidden);
  EXPECT_GE(declared, 4u);
}

TEST_F(AuditTest, WhatLiesBeyondTheTraceIsNotCalledSafe) {
  // The guards of a branch: beyond them the exported program is no judge.
  for (Condition& condition : info_.contract.conditions) condition.traced |= condition.text == kTie;
  Condition few{Condition::Kind::kGuard, 0, Expr::make(ExprOp::kLe, {Expr::symbol("x.size(0)"), Expr::integer(64)}),
                "x.size(0) <= 64"};
  few.traced = true;
  info_.contract.conditions.push_back(few);
  const AuditReport report = run([&](const Case&) { return Answering::right(); });
  EXPECT_EQ(item(report, kTie).safe, "not known beyond the trace");
  EXPECT_EQ(item(report, kTie).word(), AuditWord::kUnjudged);
  EXPECT_EQ(item(report, "x.size(0)").safe, "0..64");
  // And without such guards it is.
  for (Condition& condition : info_.contract.conditions) condition.traced = false;
  EXPECT_EQ(item(run([&](const Case&) { return Answering::right(); }), kTie).safe, "right in 1 of 1");
}

TEST_F(AuditTest, WhatIsRightByChanceIsOk) {
  const AuditReport report = run([&](const Case& c) {
    return is_apart(c) ? reported({failed(std::string(kTie) + " lucky", false, VerdictClass::kAcceptsIllegal)})
                       : Answering::right();
  });
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 0);
  EXPECT_EQ(item(report, kTie).safe, "right in 1 of 1");
}

TEST_F(AuditTest, WhatDoesNotComeAgainIsNoLine) {
  int times = 0;
  const AuditReport report = run([&](const Case& c) {
    return is_apart(c) && !c.input_checks && times++ == 0 ? reported({failed("once")}) : Answering::right();
  });
  EXPECT_EQ(report.count(AuditWord::kUnsafe), 0);
  EXPECT_THAT(report.unconfirmed, ElementsAre(HasSubstr(kTie)));
}

TEST_F(AuditTest, WithoutTimeEverythingIsListedAsNotTried) {
  options_.time = std::chrono::milliseconds(0);
  const AuditReport report = run([&](const Case&) { return Answering::right(); });
  EXPECT_TRUE(report.out_of_time);
  EXPECT_THAT(executor_->ran, IsEmpty());
  std::string all;
  for (const AuditUntried& one : report.untried) all += one.what + ": " + one.why + "\n";
  EXPECT_THAT(all, HasSubstr(std::string(kTie) + ": 1 case: no time left"));
  EXPECT_THAT(all, HasSubstr("x.dtype == f32: 1 case: no time left"));
  EXPECT_THAT(all, HasSubstr("x.size(0): some sizes: no time left"));
}

TEST_F(AuditTest, EachNewWayOfCallingIsALineWhereItHarmsAndNoneWhereItIsRefused) {
  const AuditCallProbes calls = audit_call_probes(info_.contract, tied_case(4, 3), /*gpu_here=*/false);
  probes_ = calls.probes;
  untried_ = calls.untried;
  const auto is_far = [](const Case& c) { return c.inputs[0].offset > int64_t{1} << 30; };
  const auto lacks_one = [](const Case& c) { return c.inputs[1].kind == CaseInput::Kind::kNone; };
  const auto planted = [&](const std::function<bool(const Case&)>& fault, bool legal) {
    return run([&, legal](const Case& c) {
      if (fault(c)) return reported({failed("planted", legal, VerdictClass::kMemoryFault)});
      return violations(info_.contract, c).empty() ? Answering::right() : Answering::refused(false);
    });
  };
  const AuditReport clean = planted([](const Case&) { return false; }, false);
  EXPECT_EQ(clean.count(AuditWord::kUnsafe), 0);
  EXPECT_EQ(item(clean, "number of inputs as exported").enforced_off, "refused");
  EXPECT_EQ(item(clean, "y: a tensor, not None").enforced_off, "refused");
  EXPECT_EQ(item(clean, "x: elements beyond 2^31").safe, "right in 1 of 1");
  EXPECT_EQ(item(clean, "x: elements beyond 2^31").declared, "offset free, strides fixed");
  std::string untried;
  for (const AuditUntried& one : clean.untried) untried += one.what + ": " + one.why + "\n";
  EXPECT_THAT(untried, HasSubstr("inputs on a GPU: no GPU here\n"));

  const AuditReport more = planted([](const Case& c) { return c.surplus_inputs() > 0; }, false);
  ASSERT_EQ(more.count(AuditWord::kUnsafe), 1);
  EXPECT_EQ(item(more, "number of inputs as exported").lines.at(0).input.surplus_inputs(), 1u);
  EXPECT_THAT(item(more, "number of inputs as exported").lines.at(0).guard.cpp, HasSubstr("inputs.size() == 2"));

  const AuditReport fewer = planted(lacks_one, false);
  ASSERT_EQ(fewer.count(AuditWord::kUnsafe), 1);
  EXPECT_TRUE(lacks_one(item(fewer, "y: a tensor, not None").lines.at(0).input));

  const AuditReport far = planted(is_far, true);
  ASSERT_EQ(far.count(AuditWord::kUnsafe), 1);
  EXPECT_TRUE(item(far, "x: elements beyond 2^31").lines.at(0).inside);
  EXPECT_TRUE(is_far(item(far, "x: elements beyond 2^31").lines.at(0).input));
}

TEST_F(AuditTest, AnInputOnTheHostIsALineOfAPackageForAGpu) {
  for (InputSpec& spec : info_.contract.inputs) spec.device = "cuda:0";
  const AuditCallProbes calls = audit_call_probes(info_.contract, tied_case(4, 3), /*gpu_here=*/true);
  probes_ = calls.probes;
  const auto on_host = [](const Case& c) { return c.inputs[0].place == CasePlace::kHost; };
  const AuditReport report = run([&](const Case& c) {
    if (on_host(c)) return reported({failed("planted", false, VerdictClass::kMemoryFault)});
    return violations(info_.contract, c).empty() ? Answering::right() : Answering::refused(false);
  });
  ASSERT_EQ(report.count(AuditWord::kUnsafe), 1);
  const AuditLine& line = item(report, "x.device.type == cuda").lines.at(0);
  EXPECT_TRUE(on_host(line.input));
  EXPECT_EQ(line.guard.cpp, "TORCH_CHECK(x.is_cuda(), \"x.device.type == cuda\");");
  EXPECT_EQ(item(report, "y.device.type == cuda").enforced_off, "refused");
}

TEST_F(AuditTest, TheCaseOfALineIsReducedAndStillAboutItsRow) {
  const AuditReport report = run([&](const Case& c) {
    if (!violations(info_.contract, c).empty()) return Answering::refused(false);
    return c.inputs[0].sizes[0] >= 100 ? reported({failed("planted")}) : Answering::right();
  });
  const AuditLine& rows = item(report, "x.size(0)").lines.at(0);
  EXPECT_EQ(rows.input.inputs[0].sizes, (std::vector<int64_t>{100, 0}));
  EXPECT_TRUE(rows.one_minimal);
  EXPECT_EQ(rows.reproduced, rows.tries);
  EXPECT_EQ(report.reduced, 1);
  EXPECT_EQ(report.reduction_cut_short + report.reduction_unconfirmed, 0);
  EXPECT_GT(report.reduction_runs, 0);
  // More columns than five are as wrong: the row about rows must not be shown by columns.
  const AuditReport both = run([&](const Case& c) {
    if (!violations(info_.contract, c).empty()) return Answering::refused(false);
    return c.inputs[0].sizes[0] >= 100 || c.inputs[0].sizes[1] > 5 ? reported({failed("planted")}) : Answering::right();
  });
  EXPECT_EQ(item(both, "x.size(0)").lines.at(0).input.inputs[0].sizes[0], 100);
  EXPECT_EQ(item(both, "x.size(1)").lines.at(0).input.inputs[0].sizes[1], 6);
}

TEST_F(AuditTest, WhatAPlacementBreaksKeepsItsPlacementWhenItIsReduced) {
  probes_.clear();
  Case offset = tied_case(4, 3);
  offset.inputs[0].offset = 1;
  probes_.push_back({AuditSubject::kPlacement, "x: storage offset and alignment", "offset of 1 element", 0, offset});
  // The same finding comes of a size as well: reduced to that, the row would be shown by nothing.
  const AuditReport report = run([&](const Case& c) {
    if (!violations(info_.contract, c).empty()) return Answering::refused(false);
    const bool bad = c.inputs[0].offset != 0 || c.inputs[0].sizes[0] == 0;
    return bad ? reported({failed("planted")}) : Answering::right();
  });
  const AuditItem& placement = item(report, "x: storage offset and alignment");
  ASSERT_EQ(placement.word(), AuditWord::kUnsafe);
  EXPECT_EQ(placement.lines.at(0).input.inputs[0].offset, 1);
  EXPECT_EQ(placement.lines.at(0).input.inputs[0].sizes, (std::vector<int64_t>{0, 0}));
}

TEST_F(AuditTest, TheCaseOfALineIsAFolderToReplay) {
  const fs::path out = fs::path(::testing::TempDir()) / "aotifuzz-audit-test";
  fs::remove_all(out);
  options_.out = out.string();
  const AuditReport report = run([&](const Case& c) {
    return is_apart(c) ? reported({failed("apart", false, VerdictClass::kMemoryFault)}) : Answering::right();
  });
  const std::string folder = item(report, kTie).lines.at(0).folder;
  const std::vector<std::string> cases = find_cases(folder);
  ASSERT_EQ(cases.size(), 1u);
  const CorpusEntry entry = read_entry(cases[0]);
  EXPECT_TRUE(is_apart(entry.input));
  EXPECT_EQ(entry.expectation->signature, "apart");
  fs::remove_all(out);
}

}  // namespace
}  // namespace aotifuzz
