#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "package/json_view.h"
#include "package/tensor_file.h"

namespace aotifuzz {
namespace {

/// As the format's own readers have it.
constexpr uint64_t kHeaderMax = 100'000'000;
constexpr size_t kRankMax = 64;
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, Dtype>, 20> kTypes = {{{"BOOL", Dtype::kBool},
                                                                        {"U8", Dtype::kU8},
                                                                        {"I8", Dtype::kI8},
                                                                        {"F8_E5M2", Dtype::kF8E5M2},
                                                                        {"F8_E4M3", Dtype::kF8E4M3FN},
                                                                        {"F8_E8M0", Dtype::kF8E8M0FNU},
                                                                        {"F8_E5M2FNUZ", Dtype::kF8E5M2FNUZ},
                                                                        {"F8_E4M3FNUZ", Dtype::kF8E4M3FNUZ},
                                                                        {"I16", Dtype::kI16},
                                                                        {"U16", Dtype::kU16},
                                                                        {"F16", Dtype::kF16},
                                                                        {"BF16", Dtype::kBF16},
                                                                        {"I32", Dtype::kI32},
                                                                        {"U32", Dtype::kU32},
                                                                        {"F32", Dtype::kF32},
                                                                        {"F64", Dtype::kF64},
                                                                        {"I64", Dtype::kI64},
                                                                        {"U64", Dtype::kU64},
                                                                        {"C64", Dtype::kC64},
                                                                        {"C128", Dtype::kC128}}};

struct Entry {
  SavedValue value;
  uint64_t begin = 0, end = 0;
};

uint64_t count(const JsonView& view) {
  const int64_t value = view.integer();
  if (value < 0) view.fail("expected an integer that is not negative");
  return static_cast<uint64_t>(value);
}

Entry read_entry(const std::string& name, const JsonView& object, uint64_t data_bytes) {
  Entry entry;
  entry.value.input.name = name;
  const JsonView dtype = object.at("dtype"), shape = object.at("shape"), offsets = object.at("data_offsets");
  for (const auto& [text, known] : kTypes)
    if (dtype.string() == text) entry.value.input.dtype = known;
  if (std::none_of(kTypes.begin(), kTypes.end(), [&](const auto& row) { return dtype.string() == row.first; }))
    dtype.fail("no tensor has elements of this type");
  entry.value.width = dtype_bytes(entry.value.input.dtype);
  uint64_t bytes = static_cast<uint64_t>(entry.value.width);
  if (shape.size() > kRankMax) shape.fail("more than " + std::to_string(kRankMax) + " dimensions");
  for (size_t d = 0; d < shape.size(); ++d) {
    if (__builtin_mul_overflow(bytes, count(shape[d]), &bytes)) shape.fail("the shape is too large");
    entry.value.input.sizes.push_back(shape[d].integer());
  }
  if (offsets.size() != 2) offsets.fail("expected two offsets");
  entry.begin = count(offsets[0]), entry.end = count(offsets[1]);
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    offsets.fail("the shape needs " + std::to_string(bytes) + " bytes, and that is not what they span");
  if (entry.end > data_bytes) offsets.fail("past the end of the file, which is cut off");
  return entry;
}

}  // namespace

Result<std::vector<SavedValue>> parse_safetensors(std::string_view file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) return parse_error("it is cut off", "safetensors");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kHeaderMax || length > file.size() - sizeof(length))
    return parse_error("it is cut off, or no safetensors file", "safetensors");
  const std::string_view header = file.substr(sizeof(length), length), data = file.substr(sizeof(length) + length);
  const auto read = [&](const JsonView& root) {
    std::vector<Entry> entries;
    root.for_each_member([&](const std::string& name, const JsonView& object) {
      if (name != kMetadata) entries.push_back(read_entry(name, object, data.size()));
    });
    return entries;
  };
  Result<std::vector<Entry>> entries = read_json(header, "safetensors", read);
  if (!entries) return tl::unexpected(entries.error());
  // JSON objects have no order; the data have.
  std::stable_sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  std::vector<SavedValue> out;
  uint64_t taken = 0;
  const auto* from = reinterpret_cast<const uint8_t*>(data.data());
  for (Entry& entry : *entries) {
    // The format has no shared data, and a file must not grow in memory.
    if (entry.begin < taken)
      return parse_error("two tensors share their data", "safetensors: " + entry.value.input.name);
    taken = entry.end;
    entry.value.bytes.assign(from + entry.begin, from + entry.end);
    out.push_back(std::move(entry.value));
  }
  return out;
}

}  // namespace aotifuzz
