#include "campaign/saved_tensors.h"

#include <filesystem>
#include <utility>

#include "campaign/scratch_folder.h"
#include "campaign/worker_link.h"
#include "core/error.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "store/tool_output.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kError = "error: ";
constexpr const char* kFix = "save a tensor, or a list, tuple or dict of tensors, with torch.save";
/// worker/saved_tensors.cpp names what has no name of its own so.
constexpr std::string_view kUnnamed = "unnamed_";

}  // namespace

std::vector<SavedValue> read_saved_tensors(const std::string& path, const std::string& worker_program) {
  const std::string folder = std::filesystem::path(worker_program).parent_path().string();
  const std::string program = find_worker_program("cpu", folder.empty() ? "." : folder);
  const ScratchFolder scratch("aotifuzz-tensors");
  const std::string text = tool_output({program, "--unpickle", path, "--save", scratch.path()});
  if (text.empty())
    throw HarnessError("the process that read the file of an input died", path,
                       "check that the file is whole; " + std::string(kFix));
  if (text.starts_with(kError))
    throw HarnessError(
        "the file of an input cannot be read: " + text.substr(kError.size(), text.find('\n') - kError.size()), path,
        kFix);
  Result<Case> values = parse_case(text);
  if (!values)
    throw HarnessError("the file of an input cannot be read: " + values.error().what,
                       path + ": " + values.error().where, kFix);
  load_case_files(*values, scratch.path());
  std::vector<SavedValue> out;
  for (CaseInput& input : values->inputs) {
    SavedValue value;
    if (input.kind == CaseInput::Kind::kTensor) {
      value.width = dtype_bytes(input.dtype);
      value.bytes.resize(static_cast<size_t>(input.numel() * value.width));
      fill_values(input.values, input.dtype, input.numel(), value.bytes.data());
    }
    if (input.name.starts_with(kUnnamed)) input.name.clear();
    value.input = std::move(input);
    value.input.values = {};
    out.push_back(std::move(value));
  }
  if (out.empty()) throw HarnessError("the file of an input holds no tensor", path, kFix);
  return out;
}

}  // namespace aotifuzz
