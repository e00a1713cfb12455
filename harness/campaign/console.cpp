#include "campaign/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "campaign/duration_text.h"
#include "store/finding_folder.h"

namespace aotifuzz {

Console::Console() : terminal_(::isatty(STDERR_FILENO)), begin_(std::chrono::steady_clock::now()), last_(begin_) {}

void Console::on_progress(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const auto every = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
  if (now - last_ < every) return;
  last_ = now;
  const Statistics& statistics = progress.statistics;
  const double fuzzing_us = statistics.elapsed_us - statistics.reduction_us;
  const std::string line =
      fmt::format("{}  {} cases, {:.0f} cases/s  faults {}, gaps {}  {}", print_duration(statistics.elapsed_us / 1e6),
                  statistics.cases, fuzzing_us > 0 ? 1e6 * static_cast<double>(statistics.cases) / fuzzing_us : 0,
                  progress.faults, progress.gaps, progress.activity);
  std::fputs(terminal_ ? ("\r\x1b[K" + line).c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
  shown_ = terminal_;
}

void Console::on_finding(const Finding& finding, const std::string& folder) {
  clear();
  std::fputs(fmt::format("{}: {}: {} ({} of {})\n  {}\n", finding.verdict.fault ? "FAULT" : "gap",
                         finding.verdict.cls ? verdict_class_name(*finding.verdict.cls) : "", finding.verdict.signature,
                         finding.reproduced, finding.tries, replay_command(folder))
                 .c_str(),
             stderr);
}

void Console::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace aotifuzz
