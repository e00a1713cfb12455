#include "store/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "store/finding_folder.h"
#include "store/html_page.h"
#include "store/svg_chart.h"
#include "store/utf8_text.h"

namespace aotifuzz {
namespace {

// Longer lists are in statistics.json.
constexpr size_t kRowsMax = 40;

std::string text(std::string_view raw) { return html_text(raw); }

std::string row(const std::string& name, const std::string& value) {
  return "<tr><td>" + text(name) + "</td><td>" + text(value) + "</td></tr>\n";
}

std::string list(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<h3>" + text(title) + "</h3>\n<ul>\n";
  for (size_t i = 0; i < lines.size() && i < kRowsMax; ++i) out += "<li>" + text(lines[i]) + "</li>\n";
  if (lines.size() > kRowsMax) out += fmt::format("<li>{} more: see statistics.json</li>\n", lines.size() - kRowsMax);
  return out + "</ul>\n";
}

std::vector<std::string> counted(const std::map<std::string, uint64_t>& counts) {
  std::vector<std::pair<std::string, uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> out;
  for (const auto& [name, count] : order) out.push_back(fmt::format("{} × {}", count, name));
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string joined(const std::set<int64_t>& sizes) {
  std::vector<std::string> parts;
  for (const int64_t size : sizes) parts.push_back(std::to_string(size));
  return joined(parts);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string date_text(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  char buffer[32] = "";
  if (::gmtime_r(&time, &parts)) std::strftime(buffer, sizeof(buffer), "%Y-%m-%d %H:%M UTC", &parts);
  return buffer;
}

std::string finding_html(const FindingRecord& finding, const std::string& excuse) {
  const Verdict& verdict = finding.verdict;
  const std::string cls(verdict.cls ? verdict_class_name(*verdict.cls) : "");
  const std::string slug = text(finding.slug);
  // Most signatures begin with their class, which stands in front.
  const std::string_view signature = verdict.signature;
  const std::string_view rest = signature.starts_with(cls + " ") ? signature.substr(cls.size() + 1) : signature;
  std::string out = fmt::format(
      "<details id=\"{}\"><summary><span class=\"{}\">{}</span> {} <span class=\"faint\">{} of {}{}</span></summary>\n",
      slug,
      excuse.empty() && verdict.fault ? "bad"
      : excuse.empty()                ? "warn"
                                      : "faint",
      text(cls), text(rest), finding.reproduced, finding.tries, finding.one_minimal ? ", 1-minimal" : "");
  if (!excuse.empty()) out += "<p class=\"faint\">Does not count: " + text(excuse) + "</p>\n";
  if (verdict.cls) out += "<p>" + text(verdict_class_meaning(*verdict.cls)) + "</p>\n";
  if (!verdict.reason.empty()) out += "<p>" + text(verdict.reason) + "</p>\n";
  for (const std::string& line : finding.certificate) out += "<p class=\"faint\">" + text(line) + "</p>\n";
  out += "<pre>" + text(finding.case_text) + "</pre>\n<pre>" + text(replay_command(finding.folder)) + "</pre>\n";
  if (!verdict.measures.empty()) {
    out += "<table>\n";
    for (const auto& [name, value] : verdict.measures) out += row(name, value);
    out += "</table>\n";
  }
  return out + fmt::format(
                   "<p><a href=\"findings/{0}/report.md\">report.md</a> · <a href=\"findings/{0}/case.txt\">"
                   "case.txt</a> · <a href=\"findings/{0}/repro.py\">repro.py</a></p></details>\n",
                   slug);
}

std::string findings_html(const CampaignRecord& record, const std::vector<const FindingRecord*>& findings) {
  const auto excuse_of = [&](const FindingRecord& finding) {
    const auto excuse = record.excuses.find(finding.slug);
    return excuse == record.excuses.end() ? "" : excuse->second;
  };
  const std::array<std::pair<const char*, int>, 3> sections = {
      {{"Faults", 0}, {"Gaps", 1}, {"Known, do not count", 2}}};
  std::string out;
  for (const auto& [title, section] : sections) {
    std::string items;
    int count = 0;
    for (const FindingRecord* finding : findings) {
      const std::string excuse = excuse_of(*finding);
      if ((!excuse.empty() ? 2 : finding->verdict.fault ? 0 : 1) != section) continue;
      items += finding_html(*finding, excuse);
      ++count;
    }
    if (section == 2 && count == 0) continue;
    out += fmt::format("<h2>{}: {}</h2>\n{}", title, count, items);
  }
  if (record.gaps_waiting)
    out += fmt::format("<p>{} more gaps wait to be confirmed and reduced: the next run begins with them.</p>\n",
                       record.gaps_waiting);
  return out;
}

std::string tested_html(const CampaignRecord& record) {
  std::string out =
      "<h2>What was tested</h2>\n<table>\n<tr><th>dimension</th><th>sizes tried</th><th>of those worth "
      "trying</th></tr>\n";
  for (const auto& [name, dimension] : record.dimensions) {
    if (!dimension.cases) continue;
    out +=
        "<tr><td>" + text(name) + "</td><td>" +
        (dimension.least == dimension.greatest ? fmt::format("{}", dimension.least)
                                               : fmt::format("{} to {}", dimension.least, dimension.greatest)) +
        "</td><td>" +
        (dimension.landmarks.empty() ? "" : fmt::format("{} of {}", dimension.hit.size(), dimension.landmarks.size())) +
        "</td></tr>\n";
  }
  out += "</table>\n<table>\n" + row("layouts", joined(counted(record.layouts))) +
         row("values", joined(counted(record.values))) + row("dtypes", joined(counted(record.dtypes))) +
         row("within the contract", fmt::format("{} of {} cases", record.within_contract, record.cases)) +
         row("how runs of the package ended", joined(counted(record.outcomes))) +
         row("oracles", joined(record.oracles) + (record.oracles.empty() ? "" : ", ") + "crash, hang") + "</table>\n";
  return out + list("Conditions broken on purpose", counted(record.broken));
}

/// Names of `all` that nothing in `seen` has, a layout's additions ("+offset") left out.
std::vector<std::string> unseen(const std::vector<std::string>& all, const std::map<std::string, uint64_t>& seen) {
  std::vector<std::string> out;
  for (const std::string& name : all)
    if (std::none_of(seen.begin(), seen.end(),
                     [&](const auto& entry) { return entry.first.substr(0, entry.first.find('+')) == name; }))
      out.push_back(name);
  return out;
}

std::string not_tested_html(const CampaignRecord& record) {
  std::vector<std::string> sizes, beyond, conditions;
  for (const auto& [name, dimension] : record.dimensions) {
    std::set<int64_t> missed;
    std::set_difference(dimension.landmarks.begin(), dimension.landmarks.end(), dimension.hit.begin(),
                        dimension.hit.end(), std::inserter(missed, missed.end()));
    if (!missed.empty()) sizes.push_back(name + ": " + joined(missed));
    if (!dimension.cases)
      beyond.push_back(name + ": never given");
    else if (dimension.declared_max.empty())
      beyond.push_back(fmt::format("{}: never beyond {}", name, dimension.greatest));
    else if (dimension.greatest < dimension.declared_max[0])
      beyond.push_back(
          fmt::format("{}: never beyond {}, declared up to {}", name, dimension.greatest, dimension.declared_max[0]));
  }
  for (const std::string& condition : record.conditions)
    if (!record.broken.contains(condition)) conditions.push_back(condition);
  const std::vector<std::string> layouts = unseen(
      {"dense", "permuted", "gaps", "permuted with gaps", "expanded", "overlapping", "zero tensor"}, record.layouts);
  std::string out = "<h2>What was not tested</h2>\n";
  out += list("Sizes worth trying that no case had", sizes);
  out += list("How far sizes went", beyond);
  out += list("Conditions of the contract that no case broke", conditions);
  out += list("Layouts that no input had", layouts);
  out += list("Not judged", record.not_judged);
  out += list("Skipped, by oracle and reason", counted(record.skips));
  out += list("Not decided, or agreed in a way that proves little", counted(record.mistrusted));
  out += list("Seen, but never again in fresh processes", counted(record.set_aside));
  if (record.passed_over)
    out += fmt::format("<p>{} draws were passed over: they break conditions that brought nothing new.</p>\n",
                       record.passed_over);
  if (record.steered_away)
    out += fmt::format(
        "<p>{} draws within the contract were passed over: at sizes or values that always show a known fault.</p>\n",
        record.steered_away);
  return out;
}

std::string growth_html(const CampaignRecord& record) {
  std::vector<std::pair<double, double>> cells, findings, speed;
  const CampaignRecord::Sample* before = nullptr;
  for (const CampaignRecord::Sample& sample : record.samples) {
    cells.emplace_back(sample.seconds, static_cast<double>(sample.cells));
    findings.emplace_back(sample.seconds, static_cast<double>(sample.findings));
    if (before && sample.seconds > before->seconds && sample.cases >= before->cases)
      speed.emplace_back(sample.seconds,
                         static_cast<double>(sample.cases - before->cases) / (sample.seconds - before->seconds));
    before = &sample;
  }
  std::string out = "<h2>Growth</h2>\n<div class=\"charts\">\n" + svg_chart("cells covered", cells, "") +
                    svg_chart("findings", findings, "") +
                    svg_chart("speed, confirming and reducing included", speed, "cases/s") + "</div>\n<table>\n" +
                    "<tr><th>run</th><th>began</th><th class=\"n\">time</th><th class=\"n\">cases</th><th>seeds: first "
                    "case + cases</th></tr>\n";
  int number = 0;
  for (const CampaignRecord::Run& run : record.runs) {
    std::vector<std::string> jobs;
    for (const CampaignRecord::Job& job : run.jobs)
      jobs.push_back(fmt::format("{}: {} + {}{}", job.seed, job.first_case, job.cases,
                                 job.draws.empty() ? "" : " (" + html_text(job.draws) + ")"));
    out += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                       ++number, date_text(run.began), time_text(run.seconds), run.cases, joined(jobs));
  }
  return out + "</table>\n";
}

std::string package_html(const CampaignRecord& record, const std::vector<const FindingRecord*>& findings) {
  std::string out = "<h1>" + text(record.package) + "</h1>\n<p>";
  out += fmt::format("{} cases in {}, {} of them judged; {} cells covered; {} processes died.", record.cases,
                     time_text(record.seconds), record.judged, record.cells.size(), record.deaths);
  if (record.judged * 2 < record.cases)
    out += " <strong class=\"bad\">Most cases were judged by nothing: this says little about the package.</strong>";
  out +=
      "</p>\n" + findings_html(record, findings) + tested_html(record) + not_tested_html(record) + growth_html(record);
  out += "<h2>Environment</h2>\n<table>\n";
  if (!record.aotifuzz_version.empty()) out += row("aotifuzz", record.aotifuzz_version);
  for (const auto& [name, value] : record.environment)
    if (name != "aotifuzz") out += row(name, value);
  return out + "</table>\n";
}

}  // namespace

std::string print_html_report(const CampaignRecords& records, const std::vector<FindingRecord>& findings) {
  std::string body;
  for (const auto& [hash, record] : records) {
    std::vector<const FindingRecord*> own;
    for (const FindingRecord& finding : findings)
      if (finding.package_hash == hash) own.push_back(&finding);
    body += package_html(record, own);
  }
  return html_page("aotifuzz report", body);
}

}  // namespace aotifuzz
