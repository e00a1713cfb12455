#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "package/kernel_report.h"
#include "package/package_info.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

PackageInfo read(const Members& members, PackageRequest request = {}) {
  const TemporaryFile file("m.pt2");
  write_zip(file.path(), members);
  request.path = file.path();
  return read_package(request);
}

std::string error_of(const Members& members, PackageRequest request = {}) {
  try {
    read(members, std::move(request));
    return "";
  } catch (const HarnessError& error) {
    return error.what();
  }
}

Members without(Members members, const std::string& part) {
  std::erase_if(members, [&](const auto& member) { return member.first.find(part) != std::string::npos; });
  return members;
}

Members changed(Members members, const std::string& part, const std::string& bytes) {
  for (auto& [name, value] : members)
    if (name.find(part) != std::string::npos) value = bytes;
  return members;
}

TEST(PackageReader, ReadsCompiledModelProgramAndContract) {
  const PackageInfo info = read(embedding_package());
  EXPECT_THAT(info.models, ElementsAre("model"));
  ASSERT_TRUE(info.compiled);
  EXPECT_EQ(info.compiled->device, "cpu");
  EXPECT_EQ(info.compiled->cpu_isa, "AVX512");
  EXPECT_EQ(info.compiled->so_member, "m/data/aotinductor/model/abc.wrapper.so");
  ASSERT_TRUE(info.program);
  ASSERT_EQ(info.program->weights.size(), 1u);
  EXPECT_EQ(info.program->weights[0].member, "m/data/weights/weight_0");
  EXPECT_THAT(info.missing, IsEmpty());
  EXPECT_TRUE(info.contract.declared);
  EXPECT_EQ(info.contract.inputs[1].role.kind, ValueRole::Kind::kIndex);
  EXPECT_THAT(info.compiled->kernels[0].post_grad_nodes, ElementsAre("add_4", "embedding"));
  EXPECT_FALSE(info.pack);
  EXPECT_GT(info.bytes, 1000u);
}

TEST(PackageReader, ChecksAndSymbolsTakeTheProgramsNames) {
  const PackageInfo info = read(embedding_package());
  EXPECT_EQ(info.compiled->checks[1].text, "x.size(0) >= 2");
  EXPECT_EQ(info.compiled->symbol_dims.at("s58"), "x.size(0)");
}

TEST(PackageReader, TheRootFolderMayHaveAnyNameOrNone) {
  EXPECT_TRUE(read(embedding_package("some_model/")).program);
  EXPECT_TRUE(read(embedding_package("")).program);
}

TEST(PackageReader, WithoutAProgramItSaysWhatIsOff) {
  const PackageInfo info = read(without(embedding_package(), "models/"));
  EXPECT_FALSE(info.program);
  EXPECT_FALSE(info.contract.declared);
  EXPECT_EQ(info.contract.inputs[0].name, "arg1_1");
  EXPECT_THAT(info.missing, Contains(StartsWith("close, metadata")));
}

TEST(PackageReader, ReferenceMayComeFromAnotherArchive) {
  const TemporaryFile reference("ep.pt2");
  write_zip(reference.path(), without(embedding_package(), "aotinductor"));
  const PackageInfo info = read(without(embedding_package(), "models/"), {"", "", reference.path()});
  ASSERT_TRUE(info.program);
  EXPECT_EQ(info.program_path, reference.path());
  EXPECT_TRUE(info.contract.declared);
  const std::vector<uint8_t> bytes = read_member(reference.path(), info.program->weights[0].member);
  EXPECT_EQ(bytes.size(), 160u);
}

TEST(PackageReader, ProgramOnlyArchivesAreReadToo) {
  const PackageInfo info = read(without(embedding_package(), "aotinductor"));
  EXPECT_TRUE(info.program);
  EXPECT_FALSE(info.compiled);
  EXPECT_THAT(info.missing, Contains(HasSubstr("no compiled model")));
}

TEST(PackageReader, SeveralModelsNeedAChoice) {
  Members members = embedding_package();
  for (auto& [name, bytes] : embedding_package())
    if (const size_t at = name.find("/model"); at != std::string::npos && name.find("aotinductor") != std::string::npos)
      members.emplace_back(name.substr(0, at) + "/other" + name.substr(at + 6), bytes);
  const PackageInfo info = read(members);
  EXPECT_THAT(info.models, ElementsAre("model", "other"));
  EXPECT_EQ(info.compiled->name, "model") << "the default name";
  const PackageInfo other = read(members, {"", "other", ""});
  EXPECT_EQ(other.compiled->name, "other");
  EXPECT_FALSE(other.program) << "the only program belongs to another model";
  EXPECT_THAT(error_of(members, {"", "absent", ""}), HasSubstr("model, other"));
  Members renamed = without(members, "aotinductor/model/");
  EXPECT_EQ(read(renamed).compiled->name, "other");
}

TEST(PackageReader, PackRecordIsRead) {
  Members members = embedding_package();
  members.emplace_back(
      "m/extra/aotifuzz_pack.json",
      R"({"pack_version": 1, "torch_version": "2.11.0", "recipe": {"file": "a.py", "function": "f", "source": "def f(): pass"}})");
  const PackageInfo info = read(members);
  ASSERT_TRUE(info.pack);
  EXPECT_EQ(info.pack->version, 1);
  EXPECT_EQ(info.pack->recipe_function, "f");
  members.back().second = R"({"pack_version": 1, "recipe": null})";
  EXPECT_EQ(read(members).pack->recipe_function, "");
}

TEST(PackageReader, ErrorsNameMemberAndReason) {
  const Members good = embedding_package();
  EXPECT_EQ(error_of(good), "");
  EXPECT_THAT(error_of(changed(good, "models/model.json", "{")), HasSubstr("models/model.json"));
  EXPECT_THAT(error_of(changed(good, "models/model.json", "{}")), HasSubstr("schema_version"));
  EXPECT_THAT(error_of(changed(good, "weights_config", "[]")), HasSubstr("weights"));
  EXPECT_THAT(error_of(without(good, "weight_0")), HasSubstr("e.weight"));
  EXPECT_THAT(error_of(changed(good, "weight_0", "short")), HasSubstr("e.weight"));
  EXPECT_THAT(error_of(changed(good, "wrapper_metadata", "5")), HasSubstr("wrapper_metadata"));
  EXPECT_THAT(error_of(changed(good, "kernel_information", "[1]")), HasSubstr("kernel_information"));
  EXPECT_THAT(error_of({{"m/readme", "hello"}}), HasSubstr("neither a compiled model nor an ExportedProgram"));
  EXPECT_THROW(read_package({"/nonexistent/model.pt2", "", ""}), HarnessError);
}

TEST(PackageReader, WhatIsMerelyAbsentIsMissingNotAnError) {
  EXPECT_THAT(read(without(embedding_package(), "kernel_information")).missing, Contains(StartsWith("kernel origins")));
  EXPECT_THAT(read(without(embedding_package(), "wrapper.cpp")).missing, Contains(StartsWith("input checks, kernels")));
}

TEST(PackageReader, AbsentMemberIsAnError) {
  const TemporaryFile file("m.pt2");
  write_zip(file.path(), embedding_package());
  EXPECT_THROW(read_member(file.path(), "m/data/weights/weight_9"), HarnessError);
  EXPECT_THROW(read_member(file.path(), "../../etc/passwd"), HarnessError);
}

/// The same model, as each version wrote it (tests/support/record_samples.py).
class RecordedPackage : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedPackage, SaysTheSameWhateverVersionWroteIt) {
  const std::string version = GetParam();
  const PackageInfo info = read_package(
      {std::string(AOTIFUZZ_TEST_DATA) + "/torch-" + version + "/embedding_mlp.pt2", "", "", /*kernels=*/true});
  ASSERT_TRUE(info.program && info.compiled && info.pack && info.kernels);
  EXPECT_THAT(info.missing, IsEmpty());
  EXPECT_THAT(info.pack->torch_version, StartsWith(version));
  EXPECT_THAT(info.kernels->torch_version, StartsWith(version));
  EXPECT_THAT(info.compiled->device, "cpu");
  EXPECT_THAT(info.compiled->cpu_isa, StartsWith("AVX"));
  EXPECT_EQ(info.program->weights.size(), 5u);

  ASSERT_EQ(info.contract.inputs.size(), 2u);
  EXPECT_EQ(info.contract.inputs[0].name, "x");
  EXPECT_EQ(info.contract.inputs[1].role.kind, ValueRole::Kind::kIndex);
  std::vector<std::string> conditions;
  for (const Condition& condition : info.contract.conditions) conditions.push_back(condition.text);
  EXPECT_THAT(conditions,
              UnorderedElementsAre("x.size(2) == 16", "idx.size(0) == x.size(0)", "idx.size(1) == x.size(1)",
                                   "x.size(0) >= 1", "x.size(0) <= 64", "x.size(1) >= 1", "x.size(1) <= 512"));

  std::vector<std::string> checks;
  for (const InputCheck& check : info.compiled->checks)
    if (check.kind != InputCheck::Kind::kLayer2) checks.push_back(check.text);
  EXPECT_THAT(checks, UnorderedElementsAre("x.dtype == f32", "x.size(0) >= 2", "x.size(0) <= 64", "x.size(1) >= 2",
                                           "x.size(1) <= 512", "x.size(2) == 16", "x.stride(1) == 16",
                                           "x.stride(2) == 1", "x.device == cpu", "idx.dtype == i64",
                                           "idx.size(0) >= 2", "idx.size(0) <= 64", "idx.size(1) >= 2",
                                           "idx.size(1) <= 512", "idx.stride(1) == 1", "idx.device == cpu"));
  // The second layer of checks came with 2.13.
  EXPECT_EQ(info.compiled->assumed_sizes.empty(), version == "2.11.0" || version == "2.12.1");

  ASSERT_EQ(info.kernels->calls.size(), 3u);
  for (const MappedCall& call : info.kernels->calls) EXPECT_EQ(why_not_judged(*info.kernels, call), "");
  EXPECT_EQ(info.compiled->kernels.size(), 3u);
  EXPECT_THAT(info.compiled->kernels[0].post_grad_nodes, Contains("embedding"));
}

INSTANTIATE_TEST_SUITE_P(Versions, RecordedPackage, ::testing::Values("2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"),
                         [](const auto& version) {
                           std::string name = version.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace aotifuzz
