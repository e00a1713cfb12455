#include "worker/reference_program.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "oracles/program_facts_builder.h"
#include "package/package_info.h"
#include "tests/package/package_builder.h"
#include "tests/worker/graph_builder.h"

namespace aotifuzz {
namespace {

using test::GraphBuilder;
using test::number;
using test::program_of;
using test::tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Contract contract_of(const Program& program) {
  Contract contract;
  for (const GraphInput& input : program.inputs) {
    if (input.kind != GraphInput::Kind::kUser) continue;
    InputSpec spec;
    spec.name = input.name;
    contract.inputs.push_back(spec);
  }
  return contract;
}

/// A program whose first `weights` are in an archive of their own: float32, values 1, 2, 3...
class WithWeights {
 public:
  WithWeights(Program program, const std::map<std::string, std::vector<int64_t>>& weights)
      : file_("w.pt2"), program_(std::move(program)) {
    Members members;
    for (const auto& [placeholder, sizes] : weights) {
      WeightInfo info;
      info.fqn = "m." + placeholder;
      info.member = "w/data/weights/" + placeholder;
      info.meta.dtype = Dtype::kF32;
      int64_t numel = 1;
      for (int64_t size : sizes) {
        info.meta.sizes.push_back(Expr::integer(size));
        numel *= size;
      }
      for (int64_t stride : CaseInput::dense_strides(sizes)) info.meta.strides.push_back(Expr::integer(stride));
      std::vector<float> values(numel);
      for (int64_t i = 0; i < numel; ++i) values[i] = static_cast<float>(i + 1);
      members.emplace_back(info.member, std::string(reinterpret_cast<const char*>(values.data()), numel * 4));
      program_.weights.push_back(info);
      for (GraphInput& input : program_.inputs) {
        if (input.name != placeholder) continue;
        input.kind = GraphInput::Kind::kBuffer;
        input.target = info.fqn;
      }
    }
    write_zip(file_.path(), members);
    reference_ = std::make_unique<ReferenceProgram>(program_, file_.path(), contract_of(program_),
                                                    build_program_facts(program_));
  }
  ReferenceProgram& operator*() { return *reference_; }
  ReferenceProgram* operator->() { return reference_.get(); }

 private:
  TemporaryFile file_;
  Program program_;
  std::unique_ptr<ReferenceProgram> reference_;
};

ReferenceProgram reference_of(const Program& program) {
  return ReferenceProgram(program, "", contract_of(program), build_program_facts(program));
}

TEST(ReferenceProgram, AnOpThatRaisesIsARejectionWithItsFirstLine) {
  GraphBuilder g;
  g.input("x")
      .input("i")
      .op("index_select.default", {{"self", tensor("x")}, {"dim", number(0)}, {"index", tensor("i")}}, "y")
      .output("y");
  ReferenceProgram reference = reference_of(program_of(g.graph));
  const std::vector<c10::IValue> bad = {at::ones({3}), at::tensor({7})};
  const auto results = reference.run(bad, {});
  EXPECT_EQ(results.outcome.kind, OutcomeKind::kRejected);
  EXPECT_EQ(results.outcome.stage, Stage::kReference);
  EXPECT_THAT(results.outcome.message, HasSubstr("index out of range"));
  EXPECT_THAT(results.outputs, IsEmpty());
  const std::vector<c10::IValue> good = {at::ones({3}), at::tensor({2})};
  EXPECT_EQ(reference.run(good, {}).outcome.kind, OutcomeKind::kFinished);
}

TEST(ReferenceProgram, InPlaceOpsActOnTheInputsTheyName) {
  GraphBuilder g;
  g.input("x").op("mul_.Tensor", {{"self", tensor("x")}, {"other", number(2)}}, "y").output("y");
  ReferenceProgram reference = reference_of(program_of(g.graph));
  const at::Tensor x = at::ones({2});
  const std::vector<c10::IValue> inputs = {x};
  const auto results = reference.run(inputs, {});
  EXPECT_EQ(x[0].item<float>(), 2);
  EXPECT_TRUE(results.outputs.at(0).is_alias_of(x));
}

TEST(ReferenceProgram, OutputsThatStandForMutatedInputsAreCopiedIntoThem) {
  GraphBuilder g;
  g.input("x")
      .op("mul.Tensor", {{"self", tensor("x")}, {"other", number(3)}}, "y")
      .op("neg.default", {{"self", tensor("x")}}, "z")
      .output("y")
      .output("z");
  Program program = program_of(g.graph);
  program.outputs[0].kind = GraphOutput::Kind::kUserInputMutation;
  program.outputs[0].target = "x";
  ReferenceProgram reference = reference_of(program);
  const at::Tensor x = at::ones({2});
  const std::vector<c10::IValue> inputs = {x};
  const auto results = reference.run(inputs, {});
  EXPECT_EQ(x[0].item<float>(), 3);
  ASSERT_EQ(results.outputs.size(), 1u);
  EXPECT_EQ(results.outputs[0][0].item<float>(), -1);
}

TEST(ReferenceProgram, BuffersStartEachRunAsExportedAndWritesAreNoted) {
  GraphBuilder g;  // through a view, so that no name of the graph says that the buffer is written
  g.input("b")
      .input("x")
      .op("select.int", {{"self", tensor("b")}, {"dim", number(0)}, {"index", number(1)}}, "row")
      .op("add_.Tensor", {{"self", tensor("row")}, {"other", tensor("x")}}, "w")
      .op("mul.Tensor", {{"self", tensor("b")}, {"other", number(1)}}, "y")
      .output("y")
      .output("b");
  WithWeights reference(program_of(g.graph), {{"b", {2, 2}}});
  ASSERT_THAT(reference->unsupported(), IsEmpty());
  EXPECT_THAT(reference->written_buffers(), IsEmpty());
  const std::vector<c10::IValue> inputs = {at::full({2}, 10.0f)};
  for (int round = 0; round < 3; ++round) {
    const auto results = reference->run(inputs, {});
    ASSERT_EQ(results.outcome.kind, OutcomeKind::kFinished);
    EXPECT_EQ(results.outputs[0][1][0].item<float>(), 13) << round;
    EXPECT_EQ(results.outputs[1][1][0].item<float>(), 13) << "the output keeps what the run wrote";
    EXPECT_EQ(results.outputs[0][0][0].item<float>(), 1);
  }
  ASSERT_TRUE(reference->written_buffers().contains("m.b"));
  EXPECT_EQ(reference->written_buffers().at("m.b")[1][0].item<float>(), 3);
}

TEST(ReferenceProgram, BuffersAreRestoredAlsoAfterARunThatRaises) {
  GraphBuilder g;
  g.input("b")
      .input("x")
      .op("add_.Tensor", {{"self", tensor("b")}, {"other", number(1)}}, "w")
      .op("view.default", {{"self", tensor("x")}, {"size", test::list({number(2)})}}, "y")
      .op("add.Tensor", {{"self", tensor("y")}, {"other", tensor("b")}}, "z")
      .output("z");
  WithWeights reference(program_of(g.graph), {{"b", {2}}});
  const std::vector<c10::IValue> bad = {at::ones({3})}, good = {at::ones({2})};
  EXPECT_EQ(reference->run(bad, {}).outcome.kind, OutcomeKind::kRejected);
  EXPECT_EQ(reference->run(good, {}).outputs.at(0)[0].item<float>(), 3);
}

TEST(ReferenceProgram, WideRunsComputeInFloat64AndLeaveTheInputsAlone) {
  GraphBuilder g;
  g.input("w")
      .input("x")
      .input("n")
      .op("mul_.Tensor", {{"self", tensor("x")}, {"other", tensor("w")}}, "y")
      .op("add.Tensor", {{"self", tensor("y")}, {"other", tensor("n")}}, "z")
      .output("z")
      .output("n");
  WithWeights reference(program_of(g.graph), {{"w", {2}}});
  const at::Tensor x = at::ones({2}, at::kBFloat16), n = at::tensor({1, 2}, at::kLong);
  const std::vector<c10::IValue> inputs = {x, n};
  const auto results = reference->run(inputs, {.wide = true});
  EXPECT_EQ(results.outcome.stage, Stage::kReferee);
  EXPECT_EQ(results.outputs.at(0).scalar_type(), at::kDouble);
  EXPECT_EQ(results.outputs.at(1).scalar_type(), at::kLong);
  EXPECT_EQ(x[1].item<float>(), 1) << "the input itself must not change";
  EXPECT_EQ(results.inputs_after.at(0)[1].item<double>(), 2);
}

TEST(ReferenceProgram, WatchedValuesAreThoseThatTheArgReductionSaw) {
  GraphBuilder g;
  g.input("x")
      .op("argmax.default", {{"self", tensor("x")}}, "i")
      .op("mul_.Tensor", {{"self", tensor("x")}, {"other", number(-1)}}, "y")
      .output("i")
      .output("y");
  ReferenceProgram reference = reference_of(program_of(g.graph));
  const std::vector<c10::IValue> inputs = {at::tensor({1.0f, 5.0f})};
  const auto results = reference.run(inputs, {});
  ASSERT_THAT(results.watched, ::testing::SizeIs(1));
  EXPECT_EQ(results.watched[0].first, "x");
  EXPECT_EQ(results.watched[0].second[1].item<float>(), 5) << "not what a later op made of it";
}

TEST(ReferenceProgram, NumbersAndNoneAmongTheOutputsKeepTheirPlaces) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.aten.sym_size.int", {{"self", tensor("x")}, {"dim", number(0)}}, {test::sym_int("n")})
      .output(test::sym_int("n"))
      .output(test::none())
      .output("x");
  ReferenceProgram reference = reference_of(program_of(g.graph));
  const std::vector<c10::IValue> inputs = {at::ones({3})};
  const auto results = reference.run(inputs, {});
  ASSERT_EQ(results.outputs.size(), 3u);
  EXPECT_EQ(results.outputs[0].scalar_type(), at::kLong);
  EXPECT_EQ(results.outputs[0].item<int64_t>(), 3);
  EXPECT_FALSE(results.outputs[1].defined());
}

TEST(ReferenceProgram, WhatItCannotRunIsNamed) {
  GraphBuilder g;
  g.input("x").node("torch.ops.nowhere.f.default", {{"x", tensor("x")}}, {tensor("y")}).output("y");
  Program program = program_of(g.graph);
  program.inputs[0].kind = GraphInput::Kind::kParameter;
  program.inputs[0].target = "lost.weight";
  Contract none;
  const ReferenceProgram reference(program, "", none, {});
  EXPECT_THAT(reference.unsupported(), ElementsAre(HasSubstr("node y"), HasSubstr("no weight lost.weight")));
}

TEST(ReferenceProgram, RunsWhatThePackageReaderReads) {
  const TemporaryFile file("m.pt2");
  write_zip(file.path(), embedding_package());
  const PackageInfo info = read_package({file.path(), "", ""});
  ASSERT_TRUE(info.program);
  ReferenceProgram reference(*info.program, info.program_path, info.contract, build_program_facts(*info.program));
  ASSERT_THAT(reference.unsupported(), IsEmpty());
  const at::Tensor x = at::rand({2, 3, 4});
  const std::vector<c10::IValue> inputs = {x, at::zeros({2, 3}, at::kLong)};
  EXPECT_TRUE(reference.run(inputs, {}).outputs.at(0).equal(x)) << "all weights of this package are 0";
}

}  // namespace
}  // namespace aotifuzz
