#include "package/tensor_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/npy.h"
#include "package/archive.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kNpy = ".npy";
constexpr std::string_view kFix =
    "give a .npy, .npz, .safetensors, or what torch.save wrote of a tensor, or of a list or dict of tensors";
/// What one file may hold; larger inputs are no test.
constexpr uintmax_t kBytesMax = uintmax_t{1} << 30;
/// And one input: what the file of a case may have.
constexpr uintmax_t kInputBytesMax = uintmax_t{256} << 20;

std::string read_whole(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw HarnessError("the file of an input cannot be read: " + error.message(), path, "check the path");
  if (bytes > kBytesMax)
    throw HarnessError("the file of an input has more than " + std::to_string(kBytesMax >> 20) + " MiB", path,
                       "save the inputs that fail alone");
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (in.bad() || !in.is_open())
    throw HarnessError("the file of an input cannot be read", path, "check that you may read it");
  return text;
}

std::string first_bytes(const std::string& path) {
  std::string bytes(16, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

/// A .npy is one input: one that is too large is not read.
void require_small(const std::string& path) {
  constexpr uintmax_t kHeaderMax = uintmax_t{1} << 16;
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!error && bytes > kInputBytesMax + kHeaderMax)
    throw HarnessError("the input has more than " + std::to_string(kInputBytesMax >> 20) + " MiB", path,
                       "run on a smaller one that fails as well");
}

bool is_zip(std::string_view bytes) { return bytes.starts_with("PK"); }

std::vector<int64_t> column_major_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = 1; d < sizes.size(); ++d) strides[d] = strides[d - 1] * std::max<int64_t>(sizes[d - 1], 1);
  return strides;
}

}  // namespace

Result<std::vector<SavedValue>> parse_npy_value(std::string_view file) {
  Result<NpyArray> array = parse_npy(file);
  if (!array) return tl::unexpected(array.error());
  SavedValue value;
  value.input.dtype = array->dtype;
  value.input.sizes = std::move(array->sizes);
  // torch.from_numpy keeps the layout.
  if (array->column_major && !array->bytes.empty()) {
    std::vector<int64_t> strides = column_major_strides(value.input.sizes);
    if (strides != CaseInput::dense_strides(value.input.sizes)) value.input.strides = std::move(strides);
  }
  value.width = array->width;
  value.bytes = std::move(array->bytes);
  std::vector<SavedValue> out;
  out.push_back(std::move(value));
  return out;
}

Result<std::vector<SavedValue>> parse_npz(std::string_view file) {
  Result<Archive> archive = Archive::from_bytes(file);
  if (!archive) return tl::unexpected(archive.error());
  std::vector<SavedValue> out;
  for (const Archive::Member& member : archive->members()) {
    if (!member.name.ends_with(kNpy)) return parse_error("it is no .npz: it has a member that is no .npy", member.name);
    const Result<std::string> text = archive->read(member.name.substr(archive->root().size()));
    if (!text) return tl::unexpected(text.error());
    Result<std::vector<SavedValue>> value = parse_npy_value(*text);
    if (!value) return parse_error(value.error().what, member.name);
    value->front().input.name = member.name.substr(0, member.name.size() - kNpy.size());
    out.push_back(std::move(value->front()));
  }
  return out;
}

bool is_torch_save(const std::string& path) {
  if (!is_zip(first_bytes(path))) return false;
  const Result<Archive> archive = Archive::open(path);
  return archive && archive->find("data.pkl") != nullptr;
}

std::vector<SavedValue> read_tensor_file(const std::string& path) {
  const std::string start = first_bytes(path);
  const bool safetensors = path.ends_with(".safetensors") || (start.size() > 8 && start[8] == '{');
  if (start.starts_with("\x80") && !safetensors)
    throw HarnessError("the file of an input is a pickle, not a zip of torch.save", path,
                       "save it with torch.save of torch 1.6 or later, without _use_new_zipfile_serialization=False");
  if (start.starts_with("\x93NUMPY")) require_small(path);
  const std::string file = read_whole(path);
  Result<std::vector<SavedValue>> values = start.starts_with("\x93NUMPY") ? parse_npy_value(file)
                                           : is_zip(start)                ? parse_npz(file)
                                           : safetensors
                                               ? parse_safetensors(file)
                                               : parse_error("it is none of the formats that are known", "its start");
  if (!values)
    throw HarnessError("the file of an input cannot be read: " + values.error().what,
                       path + ": " + values.error().where, std::string(kFix));
  if (values->empty()) throw HarnessError("the file of an input holds no tensor", path, std::string(kFix));
  return std::move(*values);
}

}  // namespace aotifuzz
