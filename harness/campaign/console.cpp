#include "campaign/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "campaign/status.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTerminalEvery{200}, kLineEvery{10'000}, kJsonEvery{1'000};
constexpr size_t kColumns = 80;  // of a terminal that does not say

/// A line longer than the terminal wraps, and then \r does not return to its beginning.
std::string fitted(std::string line) {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return line.substr(0, (known ? size.ws_col : kColumns) - 1);
}

void print_line(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

Console::Console(Style style) : style_(style), terminal_(::isatty(STDERR_FILENO)), last_(Clock::now()) {}

void Console::on_progress(const Progress& progress) {
  if (style_ == Style::kQuiet) return;
  const auto now = Clock::now();
  if (now - last_ < (style_ == Style::kJsonLines ? kJsonEvery : terminal_ ? kTerminalEvery : kLineEvery)) return;
  last_ = now;
  if (style_ == Style::kJsonLines) return print_line(status_json(progress));
  const std::string line = status_line(progress);
  std::fputs(terminal_ ? ("\r\x1b[K" + fitted(line)).c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
  shown_ = terminal_;
}

void Console::on_finding(const Finding& finding, const std::string& folder, const std::string& excuse) {
  if (style_ == Style::kQuiet) return;
  if (style_ == Style::kJsonLines) return print_line(finding_json(finding, folder, excuse));
  clear();
  std::fputs(
      fmt::format("{}: {}: {} ({} of {}){}\n  {}\n", excuse.empty() ? finding.verdict.fault ? "FAULT" : "gap" : "known",
                  finding.verdict.cls ? verdict_class_name(*finding.verdict.cls) : "", finding.verdict.signature,
                  finding.reproduced, finding.tries, excuse.empty() ? "" : ", " + excuse, replay_command(folder))
          .c_str(),
      stderr);
}

void Console::on_merged(const std::string& folder, const std::string& into) {
  if (style_ == Style::kQuiet) return;
  if (style_ == Style::kJsonLines) return print_line(merged_json(folder, into));
  clear();
  std::fputs(fmt::format("  an output shows now what {} was about: removed, see {}\n", folder, into).c_str(), stderr);
}

void Console::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace aotifuzz
