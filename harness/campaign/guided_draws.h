#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/case_source.h"
#include "campaign/engine_process.h"

namespace aotifuzz {

/// The draws of one job under libFuzzer: it decides which earlier case is built upon, the source makes the new one.
/// The source's given cases and its seeds come first, whatever libFuzzer builds upon. Not thread-safe.
class GuidedDraws {
 public:
  /// `job` of `jobs`, which share the seeds; `position` as position() said when an earlier run ended.
  GuidedDraws(EngineProcess& engine, const CaseSource& source, size_t job, size_t jobs, uint64_t position);

  /// The next case to run; none once `stopped` says so. Answer it with ran() or passed_over() before the next one.
  /// Throws HarnessError when the engine ended, or runs nothing of what it is given.
  std::optional<Case> next(const std::function<bool()>& stopped);
  void ran(const std::vector<EngineCounter>& reached) { engine_.answer_counters(true, reached); }
  void passed_over() { engine_.answer_counters(false, {}); }

  uint64_t handed_out() const { return handed_out_; }  ///< cases, by next()
  /// All draws below this one have been handed out.
  uint64_t position() const { return position_; }
  /// Units of the corpus folder that are no case of this program.
  uint64_t refused() const { return refused_; }

 private:
  Case make(const EngineRequest& request);
  std::optional<Case> read(const std::string& unit) const;

  EngineProcess& engine_;
  const CaseSource& source_;
  std::vector<Case> given_, seeds_;
  std::map<uint64_t, std::shared_ptr<const FileValues>> files_;  ///< of given cases, by hash: units open no file
  size_t job_, jobs_;
  size_t next_given_;
  uint64_t position_, handed_out_ = 0, refused_ = 0;
};

}  // namespace aotifuzz
