#include "store/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "store/case_text.h"
#include "store/finding_folder.h"
#include "store/html_page.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

constexpr size_t kWidest = 48;  // of a column; what is longer pushes the rest aside
constexpr AuditWord kWords[] = {AuditWord::kUnsafe, AuditWord::kUnjudged, AuditWord::kTooStrict, AuditWord::kUnreached};

bool has_guard(AuditWord word) { return word == AuditWord::kUnsafe || word == AuditWord::kUnjudged; }

std::string counted(const AuditReport& report) {
  std::string out;
  for (const AuditWord word : kWords) out += fmt::format("{} {}, ", report.count(word), audit_word_name(word));
  return out + fmt::format("{} items ok", report.count(AuditWord::kOk));
}

std::string plain(const std::string& item, const AuditLine& line) {
  return line.what.starts_with(item) ? line.what : item + ": " + line.what;
}

/// Of unsafe lines, how many have a case that is as simple as it gets; "" when there was none to reduce.
std::string reductions_text(const AuditReport& report) {
  if (report.reduced + report.reduction_cut_short + report.reduction_unconfirmed == 0) return "";
  std::string out = fmt::format("cases of unsafe lines: {} reduced until 1-minimal, in {} runs", report.reduced,
                                report.reduction_runs);
  if (report.reduction_cut_short > 0) out += fmt::format("; {} not: no time left", report.reduction_cut_short);
  if (report.reduction_unconfirmed > 0)
    out += fmt::format("; {} left as found: the simpler case did not come each time", report.reduction_unconfirmed);
  return out;
}

/// "memory-fault: ..." and whether input checks would stop it.
std::string harm_text(const AuditLine& line) {
  if (line.word == AuditWord::kUnjudged)
    return "returns what the exported program returns, which was not traced for it: the model itself may take another "
           "way";
  if (!line.verdict) return "";
  std::string out = line.verdict->cls ? std::string(verdict_class_name(*line.verdict->cls)) : "";
  out += fmt::format(": {}", line.verdict->reason);
  return out;
}

std::string stopped_text(const AuditReport& report, const AuditLine& line) {
  std::string out = line.inside ? "inside the contract, " : "outside the contract, ";
  out += report.checks == ChecksMode::kOn ? "accepted with input checks on"
         : line.refused_with_checks       ? "refused with input checks on"
                                          : "accepted with input checks on too";
  if (line.tries > 0) out += fmt::format("; came {} of {} times in fresh processes", line.reproduced, line.tries);
  if (line.one_minimal) out += "; its case is 1-minimal";
  return out;
}

/// What the compile-time trace has recorded. That an input inside the contract goes wrong where it breaks what was
/// assumed is likely no chance, but nobody has shown that it is the cause.
std::vector<std::string> because_texts(const AuditLine& line) {
  constexpr size_t kMost = 3;
  std::vector<std::string> out;
  const char* how = line.inside && line.word == AuditWord::kUnsafe ? "breaks " : "because of ";
  for (size_t i = 0; i < line.because.size() && i < kMost; ++i) out.push_back(how + line.because[i]);
  if (line.because.size() > kMost)
    out.push_back(fmt::format("and {} more recorded guards", line.because.size() - kMost));
  return out;
}

std::string dimension(const std::pair<std::string, int>& dim) {
  return fmt::format("{}.size({})", dim.first, dim.second);
}

/// What to do, one line each: (label, text).
std::vector<std::pair<std::string, std::string>> guard_lines(const AuditGuard& guard) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& statement : guard.python) out.emplace_back("model", statement);
  std::string automatic;
  for (const auto& dim : guard.automatic) automatic += (automatic.empty() ? "" : ", ") + dimension(dim);
  if (!guard.python.empty() && !automatic.empty()) out.emplace_back("export", "Dim.AUTO for " + automatic);
  for (const auto& [dim, size] : guard.example)
    out.emplace_back("export", fmt::format("an example with {} = {}, and Dim.AUTO", dimension(dim), size));
  if (!guard.caller.empty()) out.emplace_back("caller", guard.caller);
  if (!guard.cpp.empty()) out.emplace_back("C++", guard.cpp);
  if (!guard.note.empty()) out.emplace_back("note", guard.note);
  return out;
}

void print_lines(const AuditReport& report, AuditWord word, std::string& out) {
  for (const AuditItem& item : report.items)
    for (const AuditLine& line : item.lines) {
      if (line.word != word) continue;
      out += fmt::format("{:<10}  {}\n", audit_word_name(word), plain(item.name, line));
      if (!has_guard(word)) {
        for (const std::string& text : because_texts(line)) out += fmt::format("            {}\n", text);
        continue;
      }
      out += fmt::format("            {}\n", harm_text(line));
      out += fmt::format("            {}\n", stopped_text(report, line));
      for (const std::string& text : because_texts(line)) out += fmt::format("            {}\n", text);
      for (const auto& [label, text] : guard_lines(line.guard))
        out += fmt::format("            {:<6}  {}\n", label, text);
      if (!line.folder.empty()) out += fmt::format("            {}\n", replay_command(line.folder));
    }
}

ordered_json guard_json(const AuditGuard& guard) {
  auto automatic = ordered_json::array(), example = ordered_json::array();
  for (const auto& [input, dim] : guard.automatic) automatic.push_back({{"input", input}, {"dim", dim}});
  for (const auto& [dim, size] : guard.example)
    example.push_back({{"input", dim.first}, {"dim", dim.second}, {"size", size}});
  return {{"python", guard.python},
          {"automatic", std::move(automatic)},
          {"example", std::move(example)},
          {"caller", guard.caller},
          {"cpp", guard.cpp},
          {"note", guard.note}};
}

ordered_json line_json(const AuditLine& line) {
  ordered_json out = {{"verdict", audit_word_name(line.word)}, {"inside_contract", line.inside}, {"what", line.what}};
  if (!line.because.empty()) out["because"] = line.because;
  if (!has_guard(line.word)) return out;
  if (line.verdict) {
    out["section"] = line.verdict->fault ? "fault" : "gap";
    out["class"] = line.verdict->cls ? verdict_class_name(*line.verdict->cls) : "";
    out["signature"] = line.verdict->signature;
    out["reason"] = line.verdict->reason;
  }
  out["refused_with_checks"] = line.refused_with_checks;
  out["reproduced"] = line.reproduced;
  out["tries"] = line.tries;
  out["one_minimal"] = line.one_minimal;
  out["case"] = print_case(line.input);
  out["folder"] = line.folder;
  out["guard"] = guard_json(line.guard);
  return out;
}

std::string cells(std::initializer_list<std::string> texts) {
  std::string out = "<tr>";
  for (const std::string& text : texts) out += "<td>" + html_text(text) + "</td>";
  return out + "</tr>\n";
}

std::string_view css_class(AuditWord word) {
  return word == AuditWord::kUnsafe ? "bad" : word == AuditWord::kOk ? "good" : "warn";
}

}  // namespace

std::string print_audit(const AuditReport& report) {
  std::string out;
  for (const AuditWord word : kWords) print_lines(report, word, out);
  if (!out.empty()) out += "\n";
  size_t name = 4, declared = 8, off = 10, on = 9, safe = 4;
  const auto widen = [](size_t& width, const std::string& text) {
    width = std::max(width, std::min(text.size(), kWidest));
  };
  for (const AuditItem& item : report.items) {
    widen(name, item.name);
    widen(declared, item.declared);
    widen(off, item.enforced_off);
    widen(on, item.enforced_on);
    widen(safe, item.safe);
  }
  const auto row = [&](std::string_view word, std::string_view a, std::string_view b, std::string_view c,
                       std::string_view d, std::string_view e) {
    out += fmt::format("{:<10}  {:<{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", word, a, name, b, declared, c, off, e, safe, d);
  };
  row("", "item", "declared", "checks off", "checks on", "safe");
  for (const AuditItem& item : report.items)
    row(audit_word_name(item.word()), item.name, item.declared, item.enforced_off, item.enforced_on, item.safe);
  if (!report.untried.empty()) out += fmt::format("\nnot tried: {}\n", report.untried.size());
  for (const AuditUntried& one : report.untried) out += fmt::format("  {}: {}\n", one.what, one.why);
  if (!report.unconfirmed.empty())
    out += fmt::format("\nseen, and not confirmed each time in fresh processes: {}\n", report.unconfirmed.size());
  for (const std::string& line : report.unconfirmed) out += fmt::format("  {}\n", line);
  for (const auto& [reason, runs] : report.not_judged) out += fmt::format("\nnot judged, {} runs: {}", runs, reason);
  if (!report.not_judged.empty()) out += "\n";
  for (const std::string& note : report.trace_notes) out += "\ncompile-time trace: " + note + "\n";
  if (!report.has_reference)
    out += "\nno reference: which inputs are legal and which results are right is not known; memory and deaths are\n";
  if (const std::string text = reductions_text(report); !text.empty()) out += "\n" + text + "\n";
  out += fmt::format("\n{}: {}; {} runs in {:.1f} s{}\n", report.package, counted(report), report.cases, report.seconds,
                     report.out_of_time ? ", which was not enough for all (--time)" : "");
  return out;
}

std::string audit_json(const AuditReport& report, int exit_code) {
  auto items = ordered_json::array(), untried = ordered_json::array();
  for (const AuditItem& item : report.items) {
    auto lines = ordered_json::array();
    for (const AuditLine& line : item.lines) lines.push_back(line_json(line));
    items.push_back({{"subject", audit_subject_name(item.subject)},
                     {"name", item.name},
                     {"verdict", audit_word_name(item.word())},
                     {"declared", item.declared},
                     {"enforced_checks_off", item.enforced_off},
                     {"enforced_checks_on", item.enforced_on},
                     {"safe", item.safe},
                     {"cases", item.cases},
                     {"lines", std::move(lines)}});
  }
  for (const AuditUntried& one : report.untried) untried.push_back({{"what", one.what}, {"why", one.why}});
  ordered_json counts;
  for (const AuditWord word : kWords) counts[std::string(audit_word_name(word))] = report.count(word);
  counts["ok"] = report.count(AuditWord::kOk);
  const ordered_json root = {{"version", 1},
                             {"package", report.package},
                             {"torch", report.torch},
                             {"checks", report.checks == ChecksMode::kOn ? "on" : "off"},
                             {"has_reference", report.has_reference},
                             {"counts", std::move(counts)},
                             {"items", std::move(items)},
                             {"not_tried", std::move(untried)},
                             {"not_judged", report.not_judged},
                             {"unconfirmed", report.unconfirmed},
                             {"reduced", report.reduced},
                             {"reduction_cut_short", report.reduction_cut_short},
                             {"reduction_unconfirmed", report.reduction_unconfirmed},
                             {"reduction_runs", report.reduction_runs},
                             {"cases", report.cases},
                             {"judged", report.judged},
                             {"seconds", report.seconds},
                             {"out_of_time", report.out_of_time},
                             {"trace_notes", report.trace_notes},
                             {"exit_code", exit_code}};
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string audit_html(const AuditReport& report) {
  std::string body =
      "<h1>Audit of " + html_text(report.package) + "</h1>\n<p>" + html_text(counted(report)) +
      html_text(fmt::format("; {} runs in {:.1f} s, torch {}", report.cases, report.seconds, report.torch)) + "</p>\n";
  if (const std::string text = reductions_text(report); !text.empty()) body += "<p>" + html_text(text) + "</p>\n";
  for (const AuditWord word : kWords) {
    if (report.count(word) == 0) continue;
    body += fmt::format("<h2 class=\"{}\">{}</h2>\n", css_class(word), audit_word_name(word));
    for (const AuditItem& item : report.items)
      for (const AuditLine& line : item.lines) {
        if (line.word != word) continue;
        body += "<h3>" + html_text(plain(item.name, line)) + "</h3>\n";
        for (const std::string& text : because_texts(line)) body += "<p>" + html_text(text) + "</p>\n";
        if (!has_guard(word)) continue;
        body +=
            "<p>" + html_text(harm_text(line)) + "<br/>" + html_text(stopped_text(report, line)) + "</p>\n<table>\n";
        for (const auto& [label, text] : guard_lines(line.guard)) body += cells({label, text});
        body += "</table>\n<details><summary>case</summary><pre>" + html_text(print_case(line.input)) + "</pre>";
        if (!line.folder.empty()) body += "<p>" + html_text(replay_command(line.folder)) + "</p>";
        body += "</details>\n";
      }
  }
  body +=
      "<h2>Declared, enforced, safe</h2>\n<table>\n<tr><th></th><th>item</th><th>declared</th><th>checks "
      "off</th><th>checks on</th><th>safe</th></tr>\n";
  for (const AuditItem& item : report.items)
    body += fmt::format("<tr><td class=\"{}\">{}</td>", css_class(item.word()), audit_word_name(item.word())) +
            cells({item.name, item.declared, item.enforced_off, item.enforced_on, item.safe}).substr(4);
  body += "</table>\n<h2>Not tried</h2>\n<table>\n";
  for (const AuditUntried& one : report.untried) body += cells({one.what, one.why});
  for (const std::string& line : report.unconfirmed)
    body += cells({line, "seen, and not each time in fresh processes"});
  for (const auto& [reason, runs] : report.not_judged) body += cells({fmt::format("{} runs not judged", runs), reason});
  return html_page("aotifuzz audit", body + "</table>\n");
}

}  // namespace aotifuzz
