#include "store/case_files.h"

#include <filesystem>
#include <utility>

#include "core/content_hash.h"
#include "core/error.h"
#include "core/npy.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

bool has_file(const CaseInput& input) {
  return input.kind == CaseInput::Kind::kTensor && input.values.kind == ValueKind::kFile;
}

std::shared_ptr<const FileValues> load(const FileValues& wanted, const std::string& folder) {
  FileValues out = wanted;
  const fs::path name = wanted.name;
  if (!name.is_absolute() && name.has_parent_path())
    throw HarnessError("a case names a file in another folder", folder + ": " + wanted.name,
                       "put the file beside the case and name it without a folder");
  const fs::path path = name.is_absolute() ? name : fs::absolute(fs::path(folder.empty() ? "." : folder) / name);
  out.name = path.lexically_normal().string();
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    throw HarnessError("the values of a case are missing: no such file", out.name,
                       "copy the case with the .npy files beside it");
  auto array = parse_npy(read_file(out.name));
  if (!array)
    throw HarnessError("the values of a case cannot be read: " + array.error().what, out.name,
                       "copy the case again with the .npy files beside it");
  const bool fits =
      array->dtype == wanted.dtype || (array->dtype == Dtype::kUnknown && array->width == dtype_bytes(wanted.dtype));
  out.bytes = std::move(array->bytes);
  if (!fits || hash_values(wanted.dtype, out.bytes) != wanted.hash)
    throw HarnessError("the file holds other values than the case was written for", out.name,
                       "copy the case again with the .npy files beside it");
  out.loaded = true;
  return std::make_shared<const FileValues>(std::move(out));
}

/// Is that a file with these values?
bool holds(const fs::path& path, const FileValues& file) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  FileValues there = file;
  there.name = fs::absolute(path).string();
  try {
    load(there, "");
    return true;
  } catch (const HarnessError&) {
    return false;
  }
}

std::string keep(const FileValues& file, const std::string& folder) {
  std::string name = fs::path(file.name).filename().string();
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / name, ignored) && !holds(fs::path(folder) / name, file))
    name = fs::path(name).stem().string() + "-" + ContentHash::hash_text(file.hash) + ".npy";
  const fs::path path = fs::path(folder) / name;
  if (!holds(path, file)) {
    const int64_t count = static_cast<int64_t>(file.bytes.size()) / dtype_bytes(file.dtype);
    write_file_whole(path.string(), print_npy(file.dtype, {count}, file.bytes));
  }
  return name;
}

/// Every input that takes its values from a file, those of further calls too.
template <class Use>
void for_each_file(Case& c, Use use) {
  const auto each = [&](std::vector<CaseInput>& inputs) {
    for (CaseInput& input : inputs)
      if (has_file(input)) use(input);
  };
  each(c.inputs);
  for (CaseCall& call : c.then) each(call.inputs);
}

template <class Rename>
Case renamed(Case c, Rename rename) {
  for_each_file(c, [&](CaseInput& input) {
    FileValues file = *input.values.file;
    file.name = rename(file);
    input.values.file = std::make_shared<const FileValues>(std::move(file));
  });
  return c;
}

}  // namespace

void load_case_files(Case& c, const std::string& folder) {
  for_each_file(c, [&](CaseInput& input) {
    if (!input.values.file->loaded) input.values.file = load(*input.values.file, folder);
  });
}

Case keep_case_files(const Case& c, const std::string& folder) {
  Case kept = renamed(c, [&](const FileValues& file) { return keep(file, folder); });
  // A plain name is one of a text in `folder`: whoever runs the case reads it from there, and gets absolute names.
  for_each_file(kept, [](CaseInput& input) {
    FileValues file = *input.values.file;
    file.loaded = false;
    file.bytes.clear();
    input.values.file = std::make_shared<const FileValues>(std::move(file));
  });
  return kept;
}

Case with_names_in(const Case& c, const std::string& folder) {
  const fs::path here = fs::absolute(folder.empty() ? "." : folder).lexically_normal() / "";
  return renamed(c, [&](const FileValues& file) {
    const fs::path path = file.name;
    return path.parent_path() == here.parent_path() ? path.filename().string() : file.name;
  });
}

}  // namespace aotifuzz
