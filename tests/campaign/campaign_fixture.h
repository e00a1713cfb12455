#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "tests/campaign/fake_executor.h"

/// A campaign on a contract of two tied sizes, with executors that answer as a test wants.
namespace aotifuzz::test {

/// Sizes sweep with k, so that thresholds are met early.
class SweepingSource final : public CaseSource {
 public:
  std::vector<Case> seeds() const override { return seed_list; }
  Case draw(uint64_t k) const override {
    Case c = tied_case(static_cast<int64_t>(k * 7 % 50), static_cast<int64_t>(k % 5));
    if (untied_each && k % untied_each == 0) ++c.inputs[1].sizes[0];
    return c;
  }
  uint64_t untied_each = 0;  ///< every so many draws break the tie between the inputs; 0: none
  std::vector<Case> seed_list = {tied_case(0, 0)};
};

class RecordingListener final : public CampaignListener {
 public:
  void on_progress(const Progress&) override {
    ++ticks;
    if (on_tick) on_tick();
  }
  void on_finding(const Finding& finding, const std::string&, const std::string& excuse) override {
    findings.push_back(finding);
    excuses.push_back(excuse);
  }
  void on_merged(const std::string& folder, const std::string& into) override { merged.push_back({folder, into}); }
  std::vector<Finding> findings;
  std::vector<std::string> excuses;
  std::vector<std::pair<std::string, std::string>> merged;
  int ticks = 0;
  std::function<void()> on_tick;
};

class CampaignTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "aotifuzz-campaign-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    out_ = name;
    options_.out = out_ + "/out";
    options_.cases = 100;
  }
  void TearDown() override { std::filesystem::remove_all(out_); }

  CampaignResult run(CaseExecutor& executor) {
    FindingContext context;
    context.package_hash = hash_;
    Campaign campaign({contract_, true, "/models/m.pt2", "", {{"torch", "2.11.0"}}, context, {}}, options_,
                      {{executor, source_}}, listener_);
    return campaign.run(stop_);
  }

  Contract contract_ = tied_contract();
  SweepingSource source_;
  RecordingListener listener_;
  CampaignOptions options_;
  std::atomic<bool> stop_{false};
  std::string out_, hash_ = "00000000000000aa";
};

inline CaseResult threshold(const Case& c) {
  return reported({c.inputs[0].sizes[0] >= 16 ? failed("wrong-result output 0") : passed()});
}

}  // namespace aotifuzz::test
