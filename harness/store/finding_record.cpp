#include "store/finding_record.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

}  // namespace

Result<FindingRecord> parse_finding_record(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return parse_error("not a JSON object", "finding");
  FindingRecord out;
  try {
    const std::string section = root.value("section", ""), cls = root.value("class", "");
    if (section != "fault" && section != "gap") return parse_error("neither \"fault\" nor \"gap\"", "section");
    out.verdict.status = VerdictStatus::kFail;
    out.verdict.fault = section == "fault";
    out.verdict.cls = verdict_class_from_name(cls);
    if (!out.verdict.cls) return parse_error("unknown verdict class \"" + cls + "\"", "class");
    out.verdict.signature = root.value("signature", "");
    out.verdict.oracle = root.value("oracle", "");
    out.verdict.reason = root.value("reason", "");
    out.verdict.measures = root.value("measures", decltype(out.verdict.measures){});
    out.reproduced = root.value("reproduced", 0);
    out.tries = root.value("tries", 0);
    out.reduction_runs = root.value("reduction_runs", 0);
    out.one_minimal = root.value("one_minimal", false);
    out.certificate = root.value("certificate", out.certificate);
    out.package = root.value("package", "");
    out.package_hash = root.value("package_hash", "");
    out.environment = root.value("environment", out.environment);
  } catch (const json::exception& error) {
    return parse_error("a field has the wrong type", error.what());
  }
  return out;
}

std::vector<FindingRecord> read_findings(const std::string& out) {
  std::vector<FindingRecord> records;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(out + "/findings", none)) {
    const std::string folder = entry.path().string(), file = folder + "/finding.json";
    if (entry.path().filename().string().starts_with(kUnfinished) || !fs::exists(file)) continue;
    auto record = parse_finding_record(read_file(file));
    if (!record)
      throw HarnessError("a finding cannot be read: " + record.error().what, file + ", " + record.error().where,
                         "move the folder away; the next campaign finds it again");
    record->folder = folder;
    record->slug = entry.path().filename().string();
    record->case_text = read_file(folder + "/case.txt");
    records.push_back(std::move(*record));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.slug < b.slug; });
  return records;
}

}  // namespace aotifuzz
