#include "campaign/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "campaign/duration_text.h"
#include "campaign/novelty.h"
#include "campaign/steering.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

// Longer lists are in --json.
constexpr size_t kLinesMax = 12;

std::string joined(const std::map<std::string, uint64_t>& counts) {
  std::vector<std::pair<std::string, uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [name, count] : order) out += (out.empty() ? "" : ", ") + fmt::format("{} {}", name, count);
  return out.empty() ? "none" : out;
}

void list(std::string* out, const std::string& title, const std::map<std::string, uint64_t>& counts) {
  if (counts.empty()) return;
  std::vector<std::pair<std::string, uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  *out += title + "\n";
  for (size_t i = 0; i < order.size() && i < kLinesMax; ++i)
    *out += fmt::format("  {:>8}  {}\n", order[i].second, order[i].first);
  if (order.size() > kLinesMax) *out += fmt::format("  {:>8}  more: see --json\n", order.size() - kLinesMax);
}

void section(std::string* out, const CampaignResult& result, bool fault) {
  for (const auto& reported : result.findings) {
    const Finding& finding = reported.finding;
    if (finding.verdict.fault != fault || result.excuses.contains(reported.key)) continue;
    const auto known = result.ledger.known.find(reported.key);
    *out += fmt::format("  {}: {}\n", finding.verdict.cls ? verdict_class_name(*finding.verdict.cls) : "",
                        finding.verdict.signature);
    if (!finding.verdict.reason.empty()) *out += fmt::format("    {}\n", finding.verdict.reason);
    *out += fmt::format("    came {} of {} times in fresh processes{}", finding.reproduced, finding.tries,
                        finding.reproduced < finding.tries ? ": not each time" : "");
    if (known != result.ledger.known.end() && known->second.duplicates)
      *out += fmt::format(", and in {} further cases", known->second.duplicates);
    if (!finding.before.empty())
      *out += fmt::format("; only after {} other case(s) in the same process\n", finding.before.size());
    else
      *out += finding.one_minimal ? fmt::format("; 1-minimal after {} runs\n", finding.reduction_runs)
                                  : fmt::format("; reduced with {} runs\n", finding.reduction_runs);
    for (const std::string& line : finding.certificate) *out += "    " + line + "\n";
    *out += "    " + replay_command(reported.folder) + "\n";
  }
}

int count(const CampaignResult& result, bool fault) {
  return static_cast<int>(std::count_if(result.findings.begin(), result.findings.end(), [&](const auto& reported) {
    return reported.finding.verdict.fault == fault && !result.excuses.contains(reported.key);
  }));
}

std::string span_text(const Coverage::Dimension& dimension) {
  std::string out = dimension.least == dimension.greatest ? fmt::format("{}", dimension.least)
                                                          : fmt::format("{}..{}", dimension.least, dimension.greatest);
  if (!dimension.landmarks.empty())
    out += fmt::format(" ({} of {} values worth trying)", dimension.hit.size(), dimension.landmarks.size());
  return out;
}

}  // namespace

int SummaryContext::exit_code(const CampaignResult& result) const {
  const int code = result.exit_code(fail_on_gaps);
  return strict_known ? strict_exit_code(known_cases, code) : code;
}

std::string print_summary(const CampaignResult& result, const SummaryContext& context) {
  const Statistics& statistics = result.statistics;
  const Coverage& coverage = result.coverage;
  std::string out = fmt::format("\n{}{}\n", context.package, result.interrupted ? " (stopped early)" : "");
  const bool alone = result.jobs.size() == 1;
  out += fmt::format("{} cases in {} ({:.0f} cases/s; {} of {} went into confirming and reducing)", statistics.cases,
                     print_duration(statistics.elapsed_us / 1e6), statistics.cases_per_second(),
                     print_duration(statistics.reduction_us / 1e6),
                     alone ? "it" : fmt::format("the time of {} jobs", result.jobs.size()));
  for (const auto& job : result.jobs)
    out += fmt::format("{}seed {}, from case {}{}", alone ? ", " : "\n  job: ", job.seed, job.first_case,
                       alone ? "" : fmt::format(", {} cases{}{}", job.cases, job.draws.empty() ? "" : "; ", job.draws));
  out += "\n";
  out += fmt::format("package: {}; {} processes died, {} served cases, slowest recovery {:.1f} ms\n",
                     joined(statistics.outcomes), statistics.deaths, context.worker_children,
                     context.recovery_us_max / 1000);
  std::string oracles;
  for (const std::string& oracle : context.oracles) oracles += (oracles.empty() ? "" : ", ") + oracle;
  out += fmt::format("oracles: {}, crash, hang\n", oracles.empty() ? "none from the worker" : oracles);

  out += "covered\n";
  for (const auto& [name, dimension] : coverage.dimensions())
    if (dimension.cases) out += fmt::format("  {}: {}\n", name, span_text(dimension));
  out += fmt::format("  layouts: {}\n  values: {}\n  dtypes: {}\n", joined(coverage.layouts()),
                     joined(coverage.values()), joined(coverage.dtypes()));
  out += fmt::format("  within the contract: {} of {} cases\n", coverage.legal_shaped(), statistics.cases);
  list(&out, "conditions broken on purpose", coverage.broken());
  if (statistics.passed_over)
    out += fmt::format(
        "  {} further draws passed over: they break conditions that bring nothing new (1 in {} still runs)\n",
        statistics.passed_over, Novelty::kOneIn);

  if (statistics.steered_away) {
    out +=
        fmt::format("  {} further draws passed over: they have what always shows a known fault (1 in {} still runs):\n",
                    statistics.steered_away, Steering::kOneIn);
    for (size_t i = 0; i < statistics.steered_from.size() && i < kLinesMax; ++i)
      out += "    " + statistics.steered_from[i] + "\n";
    if (statistics.steered_from.size() > kLinesMax)
      out += fmt::format("    {} more: see --json\n", statistics.steered_from.size() - kLinesMax);
  }
  if (statistics.refused_units)
    out += fmt::format("  {} units of the corpus folder are no case of this package: left alone\n",
                       statistics.refused_units);

  if (!context.not_judged.empty()) {
    out += "not judged\n";
    for (const std::string& line : context.not_judged) out += "  " + line + "\n";
  }
  list(&out, "skipped, by oracle and reason", statistics.skips);
  std::map<std::string, uint64_t> weak, doubtful;
  for (const auto& [reason, times] : statistics.mistrusted)
    (reason.find("proves little") != reason.npos ? weak : doubtful).emplace(reason, times);
  list(&out, "agreed, but proves little", weak);
  list(&out, "not decided, by oracle and reason", doubtful);
  if (!result.set_aside.empty()) {
    out += "seen, but never again in fresh processes\n";
    for (const auto& [key, times] : result.set_aside) out += fmt::format("  {:>8}  {}\n", times, key);
  }

  list(&out, "memory faults under compute-sanitizer", statistics.sanitizer);

  const int faults = count(result, true), gaps = count(result, false);
  const int known_faults = result.known_faults() - faults, known_gaps = result.known_gaps() - gaps;
  out += fmt::format("\nfaults: {}{}\n", faults,
                     known_faults ? fmt::format(" new, {} known from earlier runs", known_faults) : "");
  section(&out, result, true);
  out +=
      fmt::format("gaps: {}{}\n", gaps, known_gaps ? fmt::format(" new, {} known from earlier runs", known_gaps) : "");
  section(&out, result, false);
  if (result.gaps_waiting > 0)
    out += fmt::format("{} more gaps wait to be confirmed and reduced: the next run with --out {} begins with them\n",
                       result.gaps_waiting, context.out);
  if (!result.excuses.empty()) out += fmt::format("do not count: {}\n", result.excuses.size());
  for (const auto& [key, excuse] : result.excuses) out += fmt::format("  {}\n    {}\n", key, excuse);
  if (known_faults + known_gaps > 0) out += fmt::format("what is known lies in {}/findings\n", context.out);
  out += print_known_cases(context.known_cases);
  if (!context.report.empty()) out += fmt::format("report: {}\n", context.report);
  for (const std::string& note : statistics.notes) out += "note: " + note + "\n";
  if (statistics.cases == 0) {
    out += "\nno case was run: this run says nothing about the package\n";
  } else if (statistics.mostly_unjudged()) {
    out += fmt::format(
        "\nnothing was judged in {} of {} cases, for the reasons above: this run says little about the package\n",
        statistics.cases - statistics.judged, statistics.cases);
  }
  return out;
}

std::string print_summary_json(const CampaignResult& result, const SummaryContext& context, bool one_line) {
  using nlohmann::ordered_json;
  const Statistics& statistics = result.statistics;
  const Coverage& coverage = result.coverage;
  ordered_json root;
  if (one_line) root["event"] = "summary";
  root["package"] = context.package;
  root["out"] = context.out;
  root["report"] = context.report;
  root["seed"] = result.jobs.front().seed;
  root["first_case"] = result.jobs.front().first_case;
  root["jobs"] = ordered_json::array();
  for (const auto& job : result.jobs)
    root["jobs"].push_back({{"seed", job.seed},
                            {"first_case", job.first_case},
                            {"cases", job.cases},
                            {"draws", job.draws},
                            {"seconds_reducing", job.reduction_us / 1e6}});
  root["cases"] = statistics.cases;
  root["seconds"] = statistics.elapsed_us / 1e6;
  root["seconds_reducing"] = statistics.reduction_us / 1e6;
  root["cases_per_second"] = statistics.cases_per_second();
  root["interrupted"] = result.interrupted;
  root["judged"] = statistics.judged;
  root["passed_over"] = statistics.passed_over;
  root["steered_away"] = statistics.steered_away;
  root["notes"] = statistics.notes;
  root["steered_from"] = statistics.steered_from;
  root["refused_units"] = statistics.refused_units;
  root["within_contract"] = coverage.legal_shaped();
  root["outcomes"] = statistics.outcomes;
  root["verdicts"] = statistics.verdicts;
  root["skips"] = statistics.skips;
  root["mistrusted"] = statistics.mistrusted;
  root["sanitizer"] = statistics.sanitizer;
  root["set_aside"] = result.set_aside;
  root["worker"] = {{"starts", context.worker_starts},
                    {"processes", context.worker_children},
                    {"deaths", statistics.deaths},
                    {"slowest_recovery_ms", context.recovery_us_max / 1000}};
  root["oracles"] = context.oracles;
  root["not_judged"] = context.not_judged;
  ordered_json dimensions = ordered_json::object();
  for (const auto& [name, dimension] : coverage.dimensions())
    dimensions[name] = {{"least", dimension.least},
                        {"greatest", dimension.greatest},
                        {"cases", dimension.cases},
                        {"landmarks", dimension.landmarks},
                        {"hit", dimension.hit}};
  root["coverage"] = {{"dimensions", std::move(dimensions)}, {"layouts", coverage.layouts()},
                      {"values", coverage.values()},         {"dtypes", coverage.dtypes()},
                      {"broken", coverage.broken()},         {"cells", coverage.cells().size()}};
  ordered_json findings = ordered_json::array();
  for (const auto& reported : result.findings) {
    const Finding& finding = reported.finding;
    const auto known = result.ledger.known.find(reported.key);
    const auto excuse = result.excuses.find(reported.key);
    findings.push_back({{"section", finding.verdict.fault ? "fault" : "gap"},
                        {"class", finding.verdict.cls ? verdict_class_name(*finding.verdict.cls) : ""},
                        {"signature", finding.verdict.signature},
                        {"reason", finding.verdict.reason},
                        {"reproduced", finding.reproduced},
                        {"tries", finding.tries},
                        {"after_cases", finding.after_cases},
                        {"one_minimal", finding.one_minimal},
                        {"reduction_runs", finding.reduction_runs},
                        {"certificate", finding.certificate},
                        {"duplicates", known == result.ledger.known.end() ? 0 : known->second.duplicates},
                        {"excuse", excuse == result.excuses.end() ? "" : excuse->second},
                        {"folder", reported.folder}});
  }
  root["findings"] = std::move(findings);
  root["excuses"] = result.excuses;
  root["known_faults"] = result.known_faults();
  root["known_gaps"] = result.known_gaps();
  root["known_cases"] = ordered_json::array();
  for (const KnownCase& known : context.known_cases)
    root["known_cases"].push_back({{"issue", known.link},
                                   {"case", known.path},
                                   {"status", known_case_status_name(known.status)},
                                   {"note", known.note}});
  root["exit_code"] = context.exit_code(result);
  return root.dump(one_line ? -1 : 1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace aotifuzz
