#include "campaign/saved_case.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string expectation(const Verdict& verdict, const SavedCaseContext& context) {
  const nlohmann::ordered_json root = {{"section", verdict.fault ? "fault" : "gap"},
                                       {"class", verdict.cls ? verdict_class_name(*verdict.cls) : ""},
                                       {"signature", verdict.signature},
                                       {"package", context.package},
                                       {"model", context.model},
                                       {"reference", context.reference},
                                       {"ops", context.ops}};
  return root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write_saved_case(const std::string& path, const Case& c, const Verdict* leading,
                             const SavedCaseContext& context) {
  const bool is_file = path.ends_with(".txt");
  const fs::path file = is_file ? fs::path(path) : fs::path(path) / "case.txt";
  const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  make_folder(folder);
  const Case kept = keep_case_files(c, folder);
  const std::string text = print_case(kept);
  const size_t first_line = text.find('\n') + 1;
  std::string head = "# real inputs of " + one_line(fs::path(context.package).filename().string()) + "\n";
  if (leading) head += "# " + std::string(leading->fault ? "fault: " : "gap: ") + one_line(leading->signature) + "\n";
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    const auto there = parse_case(read_file(file.string()));
    if (!there || !(*there == kept))
      throw HarnessError("another file is there already", file.string(), "give --save-case another name");
  }
  write_file_whole(file.string(), text.substr(0, first_line) + head + text.substr(first_line));
  const bool expects = leading && !is_file;
  // What was expected of a case that was here before says nothing of this one.
  if (expects)
    write_file_whole((file.parent_path() / "expect.json").string(), expectation(*leading, context));
  else if (!is_file)
    fs::remove(file.parent_path() / "expect.json", ignored);
  return replay_command(path) + (expects ? "" : " --package " + context.package);
}

}  // namespace aotifuzz
