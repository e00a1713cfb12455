#include "package/inspect_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PackageInfo sample() {
  const TemporaryFile file("m.pt2");
  write_zip(file.path(), embedding_package());
  return read_package({file.path(), "", ""});
}

TEST(InspectReport, TextSaysWhatThePackageIs) {
  const PackageInfo package = sample();
  std::ostringstream out;
  print_inspect_text(package, compute_bounds(package.contract, 1 << 16), out);
  const std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("compiled    model for cpu, AVX512"));
  EXPECT_THAT(text, HasSubstr("schema 8.17, torch 2.11.0"));
  EXPECT_THAT(text, HasSubstr("x  f32[s58, s27, 4]  strides (4*x.size(1), 4, 1)  cpu"));
  EXPECT_THAT(
      text,
      HasSubstr("i  i64[x.size(0), x.size(1)]  strides (x.size(1), 1)  cpu  index below 10 (aten.embedding.default)"));
  EXPECT_THAT(text, HasSubstr("x.size(0): 1 to 64   [s58]"));
  EXPECT_THAT(text, HasSubstr("cpp_fused_add_embedding_0  x1  from add_4, embedding"));
  EXPECT_THAT(text, HasSubstr("aoti_torch_cpu_mm_out  x2"));
  EXPECT_THAT(text, HasSubstr("e.weight  f32[10, 4]  192 bytes"));
}

TEST(InspectReport, SaysWhatChecksLeaveOutAndAdd) {
  const PackageInfo package = sample();
  EXPECT_THAT(unchecked_conditions(package),
              ElementsAre("i.size(0) == x.size(0)", "i.size(1) == x.size(1)", "x.size(1) <= 512"));
  EXPECT_THAT(undeclared_checks(package), ElementsAre("x.size(0) >= 2", "i.size(0) >= 2"));
}

TEST(InspectReport, JsonIsOneDocumentWithTheSameFacts) {
  const PackageInfo package = sample();
  const json document = json::parse(inspect_json(package, compute_bounds(package.contract, 1 << 16)));
  EXPECT_EQ(document["compiled"]["device"], "cpu");
  EXPECT_EQ(document["inputs"][1]["role"], "index");
  EXPECT_EQ(document["inputs"][1]["role_bound"], "10");
  EXPECT_EQ(document["dimensions"][0]["dim"], "x.size(0)");
  EXPECT_EQ(document["dimensions"][0]["max"], 64);
  EXPECT_EQ(document["conditions"][1]["text"], "i.size(0) == x.size(0)");
  EXPECT_FALSE(document["conditions"][1]["broken_by"].empty());
  EXPECT_EQ(document["compiled"]["kernels"][1]["extern"], true);
}

TEST(InspectReport, NamesThatAreNoTextDoNotBreakTheJson) {
  PackageInfo package = sample();
  package.compiled->kernels[0].name = "\xff\xfe";
  EXPECT_NO_THROW(static_cast<void>(json::parse(inspect_json(package, {}))));
}

TEST(InspectReport, WithoutACompiledModelThereAreNoChecksToReport) {
  PackageInfo package = sample();
  package.compiled.reset();
  EXPECT_TRUE(undeclared_checks(package).empty());
  std::ostringstream out;
  print_inspect_text(package, {}, out);
  EXPECT_THAT(out.str(), ::testing::Not(HasSubstr("input checks compiled in")));
}

}  // namespace
}  // namespace aotifuzz
