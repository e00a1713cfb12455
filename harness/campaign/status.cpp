#include "campaign/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "campaign/duration_text.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;
using Progress = CampaignListener::Progress;

// More rates make no line easier to read.
constexpr size_t kRatesMax = 4;

double rate_of(const CampaignListener::Job& job, double elapsed_us) {
  const double fuzzing_us = elapsed_us - job.reduction_us;
  return fuzzing_us > 0 ? 1e6 * static_cast<double>(job.cases) / fuzzing_us : 0;
}

std::string rates(const Progress& progress) {
  const Statistics& statistics = progress.statistics;
  std::string out = fmt::format("{:.0f} cases/s", statistics.cases_per_second());
  if (progress.jobs.size() == 1) return out;
  out += " (";
  if (progress.jobs.size() > kRatesMax)
    return out + fmt::format("{} jobs, {:.0f} each)", progress.jobs.size(),
                             statistics.cases_per_second() / static_cast<double>(progress.jobs.size()));
  for (size_t i = 0; i < progress.jobs.size(); ++i)
    out += fmt::format("{}{:.0f}", i ? " + " : "", rate_of(progress.jobs[i], statistics.elapsed_us));
  return out + ")";
}

/// "fault wrong-result", as keys of findings begin, to how many there are.
std::map<std::string, uint64_t> by_class(const Ledger::Section& ledger) {
  std::map<std::string, uint64_t> out;
  for (const auto& [key, known] : ledger.known) ++out[key.substr(0, key.find(':'))];
  return out;
}

std::string findings(const Progress& progress, bool faults) {
  const std::string section = faults ? "fault " : "gap ";
  std::string classes;
  uint64_t count = 0;
  for (const auto& [name, times] : by_class(progress.ledger)) {
    if (!name.starts_with(section)) continue;
    count += times;
    classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", name.substr(section.size()), times);
  }
  return fmt::format("{} {}{}", faults ? "faults" : "gaps", count, classes.empty() ? "" : " (" + classes + ")");
}

uint64_t lost_workers(const Statistics& statistics) {
  const auto lost = statistics.outcomes.find("worker lost");
  return lost == statistics.outcomes.end() ? 0 : lost->second;
}

double share(uint64_t part, uint64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double share_passed_over(const Statistics& statistics) {
  const uint64_t passed_over = statistics.passed_over + statistics.steered_away;
  return share(passed_over, statistics.cases + passed_over);
}

std::string ago(double us, double elapsed_us) {
  return us > 0 ? fmt::format(", last new {} ago", print_duration((elapsed_us - us) / 1e6)) : "";
}

std::string activities(const Progress& progress) {
  std::map<std::string, int> counts;
  for (const auto& job : progress.jobs) ++counts[job.activity];
  counts.erase("");
  if (counts.size() == 1) return counts.begin()->first;
  std::string out;
  for (const auto& [activity, count] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, activity);
  return out;
}

ordered_json seconds_ago(double us, double elapsed_us) {
  return us > 0 ? ordered_json((elapsed_us - us) / 1e6) : ordered_json();
}

std::string one_line(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string status_line(const Progress& progress) {
  const Statistics& statistics = progress.statistics;
  return fmt::format(
      "{}  {} cases, {}  {}, {}{}  cells {}{}  died {}, lost {}  not judged {:.0f} %, passed over {:.0f} %  {}",
      print_duration(statistics.elapsed_us / 1e6), statistics.cases, rates(progress), findings(progress, true),
      findings(progress, false), ago(progress.new_finding_us, statistics.elapsed_us), progress.coverage.cells().size(),
      ago(progress.new_cell_us, statistics.elapsed_us), statistics.deaths, lost_workers(statistics),
      100 * share(statistics.cases - statistics.judged, statistics.cases), 100 * share_passed_over(statistics),
      activities(progress));
}

std::string status_json(const Progress& progress) {
  const Statistics& statistics = progress.statistics;
  ordered_json root = {{"event", "status"},
                       {"seconds", statistics.elapsed_us / 1e6},
                       {"cases", statistics.cases},
                       {"cases_per_second", statistics.cases_per_second()}};
  root["jobs"] = ordered_json::array();
  for (const auto& job : progress.jobs)
    root["jobs"].push_back({{"seed", job.seed},
                            {"cases", job.cases},
                            {"cases_per_second", rate_of(job, statistics.elapsed_us)},
                            {"activity", job.activity}});
  root["cells"] = progress.coverage.cells().size();
  root["seconds_since_new_cell"] = seconds_ago(progress.new_cell_us, statistics.elapsed_us);
  root["findings"] = by_class(progress.ledger);
  root["seconds_since_new_finding"] = seconds_ago(progress.new_finding_us, statistics.elapsed_us);
  root["processes_died"] = statistics.deaths;
  root["workers_lost"] = lost_workers(statistics);
  root["share_not_judged"] = share(statistics.cases - statistics.judged, statistics.cases);
  root["share_passed_over"] = share_passed_over(statistics);
  return one_line(root);
}

std::string finding_json(const Finding& finding, const std::string& folder, const std::string& excuse) {
  return one_line({{"event", "finding"},
                   {"section", finding.verdict.fault ? "fault" : "gap"},
                   {"class", finding.verdict.cls ? verdict_class_name(*finding.verdict.cls) : ""},
                   {"signature", finding.verdict.signature},
                   {"reproduced", finding.reproduced},
                   {"tries", finding.tries},
                   {"after_cases", finding.after_cases},
                   {"excuse", excuse},
                   {"folder", folder}});
}

std::string merged_json(const std::string& folder, const std::string& into) {
  return one_line({{"event", "merged"}, {"folder", folder}, {"into", into}});
}

}  // namespace aotifuzz
