#include "campaign/known_issues.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "core/contract.h"
#include "core/guard_parser.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

constexpr size_t kFileMax = 4 << 20;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string line_name(int line) { return "line " + std::to_string(line); }

/// Collects the lines of one block.
class Block {
 public:
  bool empty() const { return issue_.line == 0; }

  std::optional<ParseError> add(std::string_view line, int number) {
    if (empty()) issue_.line = number;
    const size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view keyword = line.substr(0, blank), rest = trimmed(line.substr(blank));
    const auto wrong = [&](std::string what) { return ParseError{std::move(what), line_name(number)}; };
    if (rest.empty()) return wrong("nothing after \"" + std::string(keyword.substr(0, 40)) + "\"");
    if (keyword == "case") {
      issue_.cases.emplace_back(rest);
      return std::nullopt;
    }
    if (std::find(seen_.begin(), seen_.end(), keyword) != seen_.end())
      return wrong("a second \"" + std::string(keyword) + "\" in one block; an empty line begins the next issue");
    seen_.emplace_back(keyword);
    if (keyword == "class") {
      const auto cls = verdict_class_from_name(rest);
      if (!cls) return wrong("unknown verdict class \"" + std::string(rest.substr(0, 40)) + "\"");
      issue_.cls = *cls;
    } else if (keyword == "section") {
      if (rest != "fault" && rest != "gap") return wrong("neither \"fault\" nor \"gap\"");
      issue_.fault = rest == "fault";
    } else if (keyword == "where") {
      auto where = parse_size_text(rest);
      if (!where) return wrong("not a condition on sizes: " + where.error().what);
      if (where->has_opaque()) return wrong("not integer arithmetic over sizes, strides and offsets");
      issue_.where = std::move(*where);
    } else if (std::string* text = text_of(keyword)) {
      *text = rest;
    } else {
      return wrong("unknown keyword \"" + std::string(keyword.substr(0, 40)) + "\"");
    }
    return std::nullopt;
  }

  Result<KnownIssue> take() {
    for (const char* needed : {"issue", "class", "reason"})
      if (std::find(seen_.begin(), seen_.end(), needed) == seen_.end())
        return parse_error("the issue that begins here has no \"" + std::string(needed) + "\"", line_name(issue_.line));
    if (issue_.op.empty() && issue_.kernel.empty() && issue_.relation.empty() && issue_.signature.empty())
      return parse_error(
          "the issue that begins here has none of op, kernel, relation and signature: it would hide all "
          "findings of its class",
          line_name(issue_.line));
    return std::move(issue_);
  }

 private:
  std::string* text_of(std::string_view keyword) {
    const std::array<std::pair<std::string_view, std::string*>, 6> texts = {{{"issue", &issue_.link},
                                                                             {"op", &issue_.op},
                                                                             {"kernel", &issue_.kernel},
                                                                             {"relation", &issue_.relation},
                                                                             {"signature", &issue_.signature},
                                                                             {"reason", &issue_.reason}}};
    for (const auto& [name, text] : texts)
      if (name == keyword) return text;
    return nullptr;
  }

  KnownIssue issue_;
  std::vector<std::string> seen_;
};

/// Words are names with dots in them: "aten.max" is no word of "aten.max.dim", and a full stop ends one.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool before = at > 0 && (is_name(text[at - 1]) || text[at - 1] == '.');
    const bool after = end < text.size() &&
                       (is_name(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_name(text[end + 1])));
    if (!before && !after) return true;
  }
  return false;
}

bool names_kernel(const Verdict& verdict, const std::string& kernel) {
  return has_word(verdict.signature, kernel) || has_word(verdict.reason, kernel) ||
         std::any_of(verdict.measures.begin(), verdict.measures.end(),
                     [&](const auto& measure) { return has_word(measure.second, kernel); });
}

}  // namespace

Result<std::vector<KnownIssue>> parse_known_issues(std::string_view text) {
  if (text.size() > kFileMax) return parse_error("longer than 4 MiB", line_name(1));
  std::vector<KnownIssue> issues;
  Block block;
  const auto finish = [&]() -> std::optional<ParseError> {
    if (block.empty()) return std::nullopt;
    auto issue = block.take();
    if (!issue) return issue.error();
    issues.push_back(std::move(*issue));
    block = {};
    return std::nullopt;
  };
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (auto error = line.empty() ? finish() : block.add(line, number)) return tl::unexpected(std::move(*error));
  }
  if (auto error = finish()) return tl::unexpected(std::move(*error));
  return issues;
}

std::vector<KnownIssue> load_known_issues(const std::string& path) {
  auto issues = parse_known_issues(read_file(path));
  if (!issues)
    throw HarnessError("the known issues cannot be read: " + issues.error().what, path + ", " + issues.error().where,
                       "correct the text; campaign/known_issues.h has the format");
  for (KnownIssue& issue : *issues)
    for (std::string& file : issue.cases)
      file = (std::filesystem::path(path).parent_path() / file).lexically_normal().string();
  return std::move(*issues);
}

bool matches(const KnownIssue& issue, const Verdict& verdict, const Case& minimal) {
  if (verdict.status != VerdictStatus::kFail || verdict.cls != issue.cls) return false;
  if (issue.fault && *issue.fault != verdict.fault) return false;
  if (!issue.signature.empty() && issue.signature != verdict.signature) return false;
  if (!issue.op.empty() && !has_word(verdict.signature, issue.op)) return false;
  if (!issue.kernel.empty() && !names_kernel(verdict, issue.kernel)) return false;
  if (!issue.relation.empty() && verdict.signature.find("breaks " + issue.relation) == std::string::npos) return false;
  if (!issue.where) return true;
  const auto value = issue.where->evaluate([&](const std::string& name) { return dimension_value(minimal, name); });
  return value && *value != 0;
}

std::string known_issue_excuse(const std::vector<KnownIssue>& issues, const Verdict& verdict, const Case& minimal) {
  for (const KnownIssue& issue : issues)
    if (matches(issue, verdict, minimal)) return "known issue " + issue.link + ": " + issue.reason;
  return "";
}

}  // namespace aotifuzz
