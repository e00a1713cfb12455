#include <algorithm>
#include <filesystem>
#include <utility>

#include "campaign/campaign_board.h"
#include "campaign/sanitizer_detail.h"
#include "core/python_repro.h"
#include "package/kernel_detail.h"
#include "store/case_text.h"
#include "store/finding_folder.h"
#include "store/finding_record.h"

namespace aotifuzz {
namespace {

// What never comes again is looked into this often, then only counted.
constexpr int kFlakyTries = 3;

/// What the package knows of the kernel that the verdict names.
void add_kernel_detail(const CampaignSubject& subject, Finding* finding, FindingContext* context) {
  if (!subject.info) return;
  Measures& measures = finding->verdict.measures;
  merge_measures(&measures, kernel_measures(*subject.info, finding->minimal, measures));
  const std::optional<KernelSource> source = kernel_source(*subject.info, named_kernel(measures));
  if (!source) return;
  merge_measures(&measures, {{"kernel source", source->where}});
  context->kernel_where = source->where;
  context->kernel_text = source->text;
}

}  // namespace

std::string CampaignBoard::excuse(const std::string& key, const Verdict& verdict, const Case& minimal) {
  const std::string why = options_.excuse ? options_.excuse(verdict, minimal) : "";
  if (!why.empty()) result_.excuses[key] = why;
  return why;
}

/// The known issues may have changed since.
void CampaignBoard::excuse_earlier_findings() {
  for (const FindingRecord& record : read_findings(options_.out)) {
    const std::string key = finding_key(record.verdict);
    const auto known = result_.ledger.known.find(key);
    if (known == result_.ledger.known.end() || known->second.slug != record.slug) continue;
    if (const auto minimal = parse_case(record.case_text)) excuse(key, record.verdict, *minimal);
  }
}

/// Failures of a kind that is known, set aside, or already somebody's are counted there and cost no more.
bool CampaignBoard::is_settled(const Verdict& verdict, const std::string& key) {
  if (const auto known = result_.ledger.known.find(key); known != result_.ledger.known.end()) {
    ++known->second.duplicates;
    return true;
  }
  if (const auto flaky = result_.set_aside.find(key);
      flaky != result_.set_aside.end() && flaky->second >= kFlakyTries) {
    ++flaky->second;
    return true;
  }
  for (auto* list : {&pending_, &in_work_})
    if (const auto suspicion = list->find(key); suspicion != list->end()) {
      ++suspicion->second.duplicates;
      return true;
    }
  return is_hidden(verdict) && is_put_down_to_another(verdict);
}

/// Is the same kernel's same value behind a finding that outputs show? Then it is counted there; a fault never behind a
/// gap.
bool CampaignBoard::is_put_down_to_another(const Verdict& verdict) {
  const std::string culprit = culprit_of(verdict);
  if (culprit.empty()) return false;
  for (auto& [key, known] : result_.ledger.known)
    if (!known.hidden && known.culprit == culprit && (known.fault || !verdict.fault)) {
      ++known.duplicates;
      return true;
    }
  for (auto& [key, suspicion] : in_work_)
    if (!is_hidden(suspicion.verdict) && culprit_of(suspicion.verdict) == culprit &&
        (suspicion.verdict.fault || !verdict.fault)) {
      ++suspicion.duplicates;
      return true;
    }
  return false;
}

void CampaignBoard::settle(const Suspicion& suspicion, ExplainedFinding explained) {
  const std::string key = finding_key(suspicion.verdict);
  const Finding& finding = explained.finding;
  int& aside = result_.set_aside[key];
  // One that needs its predecessors is a poor reproducer: a later case may show the same alone.
  const bool waits = finding.reproduced > 0 && !finding.before.empty() && aside + 1 < kFlakyTries;
  if (finding.reproduced == 0 || waits) {
    ++aside;
    in_work_.erase(key);
    if (waits) waiting_.insert_or_assign(key, std::move(explained.finding));
    return;
  }
  result_.set_aside.erase(key);
  waiting_.erase(key);
  // An output may have shown it meanwhile.
  if (is_hidden(finding.verdict) && is_put_down_to_another(finding.verdict)) {
    in_work_.erase(key);
    return;
  }
  const uint64_t duplicates = in_work_.at(key).duplicates;
  report(std::move(explained), key, duplicates);
}

void CampaignBoard::report(ExplainedFinding explained, const std::string& key, uint64_t duplicates) {
  Finding& finding = explained.finding;
  // The package is part of the name: two builds in one folder may share a finding.
  const std::string slug = finding_slug(finding.verdict, key + subject_.context.package_hash);
  FindingContext context = subject_.context;
  add_kernel_detail(subject_, &finding, &context);
  context.inputs_python = python_inputs(finding.minimal);
  for (size_t i = 0; i < finding.minimal.then.size(); ++i)
    context.then_python.push_back(python_inputs(finding.minimal.call(i)));
  for (const Case& before : finding.before) context.before_python.push_back(python_inputs(before));
  const std::string folder = options_.out + "/findings/" + slug;
  write_finding_folder(folder, finding, context);
  if (explained.sanitized) add_to_finding(folder, "memcheck", *explained.sanitized);
  if (!explained.sanitizer.empty()) ++result_.statistics.sanitizer[explained.sanitizer];
  // The finding first, the ledger second: killed in between, the worst is that it is found again.
  result_.ledger.known[key] = {slug, finding.verdict.fault, duplicates, culprit_of(finding.verdict),
                               is_hidden(finding.verdict)};
  in_work_.erase(key);
  new_finding_us_ = elapsed_us();
  result_.findings.push_back({std::move(finding), key, folder});
  save();
  const Finding& reported = result_.findings.back().finding;
  listener_.on_finding(reported, folder, excuse(key, reported.verdict, reported.minimal));
  if (!is_hidden(reported.verdict)) merge_hidden(key, folder);
}

/// Takes back what was reported of the same kernel's same value before an output showed it.
void CampaignBoard::merge_hidden(const std::string& key, const std::string& folder) {
  auto& known = result_.ledger.known;
  const std::string culprit = known.at(key).culprit;
  if (culprit.empty()) return;
  std::vector<std::string> merged;
  for (auto it = known.begin(); it != known.end();) {
    const bool same = it->second.hidden && it->second.culprit == culprit && (known.at(key).fault || !it->second.fault);
    if (!same) {
      ++it;
      continue;
    }
    known.at(key).duplicates += 1 + it->second.duplicates;
    std::erase_if(result_.findings, [&](const auto& reported) { return reported.key == it->first; });
    result_.excuses.erase(it->first);
    merged.push_back(options_.out + "/findings/" + it->second.slug);
    it = known.erase(it);
  }
  if (merged.empty()) return;
  save();  // first: a folder that nobody knows of is better than a finding that is known and has none
  for (const std::string& one : merged) {
    std::error_code ignored;
    std::filesystem::remove_all(one, ignored);
    listener_.on_merged(one, folder);
  }
}

}  // namespace aotifuzz
