#include "store/finding_file.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "store/case_text.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

constexpr int kVersion = 1;

/// Reads typed fields; the first wrong type is remembered.
struct Reader {
  const nlohmann::json& object;
  std::string wrong;

  const nlohmann::json* find(const char* key) const {
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }
  void read(const char* key, std::string* out) {
    if (const auto* value = find(key)) {
      if (value->is_string())
        *out = value->get<std::string>();
      else
        wrong = key;
    }
  }
  void read(const char* key, int* out) {
    if (const auto* value = find(key)) {
      if (value->is_number_integer() && *value >= 0 && *value <= 1'000'000)
        *out = value->get<int>();
      else
        wrong = key;
    }
  }
  void read(const char* key, std::vector<std::string>* out) {
    const auto* value = find(key);
    if (!value) return;
    if (!value->is_array()) {
      wrong = key;
      return;
    }
    for (const auto& item : *value) {
      if (item.is_string())
        out->push_back(item.get<std::string>());
      else
        wrong = key;
    }
  }
};

}  // namespace

std::string print_finding(const Finding& finding, const FindingContext& context) {
  const Verdict& verdict = finding.verdict;
  ordered_json measures = ordered_json::array();
  for (const auto& [key, value] : verdict.measures) measures.push_back({key, value});
  ordered_json before = ordered_json::array();
  for (const Case& c : finding.before) before.push_back(print_case(c));
  ordered_json root;
  root["version"] = kVersion;
  root["section"] = verdict.fault ? "fault" : "gap";
  root["class"] = verdict.cls ? verdict_class_name(*verdict.cls) : "";
  root["signature"] = verdict.signature;
  root["oracle"] = verdict.oracle;
  root["reason"] = verdict.reason;
  root["measures"] = std::move(measures);
  root["reproduced"] = finding.reproduced;
  root["tries"] = finding.tries;
  root["one_minimal"] = finding.one_minimal;
  root["reduction_runs"] = finding.reduction_runs;
  root["certificate"] = finding.certificate;
  root["package"] = finding.package;
  root["package_hash"] = context.package_hash;
  root["model"] = finding.model;
  root["reference"] = context.reference;
  root["ops"] = context.ops;
  root["environment"] = finding.environment;
  root["before"] = std::move(before);
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<Expectation> parse_expectation(std::string_view text) {
  const auto root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return parse_error("not a JSON object", "expectation");
  // expect.json, written by hand, may leave the version out.
  if (const nlohmann::json version = root.value("version", nlohmann::json(kVersion)); version != kVersion)
    return parse_error("unknown version " + version.dump(), "version");
  Reader reader{root, ""};
  Expectation out;
  std::string cls, section, model, recipe, torch;
  reader.read("signature", &out.signature);
  reader.read("class", &cls);
  reader.read("section", &section);
  reader.read("tries", &out.tries);
  reader.read("reproduced", &out.reproduced);
  reader.read("package", &out.package);
  reader.read("model", &model);
  reader.read("recipe", &recipe);
  reader.read("torch", &torch);
  reader.read("reference", &out.reference);
  reader.read("ops", &out.ops);
  reader.read("before", &out.before);
  if (!reader.wrong.empty()) return parse_error("a field has the wrong type", reader.wrong);
  if (out.signature.empty() && cls.empty()) return parse_error("neither a signature nor a class", "expectation");
  if (!cls.empty()) {
    out.cls = verdict_class_from_name(cls);
    if (!out.cls) return parse_error("unknown verdict class \"" + cls + "\"", "class");
  }
  if (section == "fault" || section == "gap")
    out.fault = section == "fault";
  else if (!section.empty())
    return parse_error("neither \"fault\" nor \"gap\"", "section");
  const auto range = TorchRange::parse(torch);
  if (!range) return parse_error("no range of versions like \">=2.11,<2.13\": \"" + torch + "\"", "torch");
  out.torch = *range;
  // Corpus entries name the recipe that their model is packed from; finding.json names a model of its package.
  if (!recipe.empty()) out.recipe = recipe;
  if (out.package.empty() && recipe.empty())
    out.recipe = model;
  else
    out.model = model;
  return out;
}

bool matches(const Expectation& expectation, const Verdict& verdict) {
  if (verdict.status != VerdictStatus::kFail) return false;
  if (expectation.cls && verdict.cls != expectation.cls) return false;
  if (expectation.fault && *expectation.fault != verdict.fault) return false;
  return expectation.signature.empty() || expectation.signature == verdict.signature;
}

std::string finding_slug(const Verdict& verdict, const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char digits[8];
  std::snprintf(digits, sizeof(digits), "%06llx", static_cast<unsigned long long>((hash ^ (hash >> 32)) & 0xffffff));
  const std::string cls(verdict.cls ? verdict_class_name(*verdict.cls) : "finding");
  return (verdict.fault ? "" : "gap-") + cls + "-" + digits;
}

}  // namespace aotifuzz
