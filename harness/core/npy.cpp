#include "core/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace aotifuzz {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kRankMax = 64;
constexpr size_t kHeaderMax = 1 << 16;

constexpr std::array<std::pair<std::string_view, Dtype>, 15> kTypes = {{{"b1", Dtype::kBool},
                                                                        {"i1", Dtype::kI8},
                                                                        {"u1", Dtype::kU8},
                                                                        {"i2", Dtype::kI16},
                                                                        {"u2", Dtype::kU16},
                                                                        {"i4", Dtype::kI32},
                                                                        {"u4", Dtype::kU32},
                                                                        {"i8", Dtype::kI64},
                                                                        {"u8", Dtype::kU64},
                                                                        {"f2", Dtype::kF16},
                                                                        {"f4", Dtype::kF32},
                                                                        {"f8", Dtype::kF64},
                                                                        {"c8", Dtype::kC64},
                                                                        {"c16", Dtype::kC128},
                                                                        {"?", Dtype::kBool}}};

/// The dict literal of a header, read from left to right.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip_blanks();
    return text_.empty();
  }
  std::optional<std::string_view> string() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return out;
  }
  std::optional<bool> boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> shape() {
    std::vector<int64_t> out;
    if (!accept('(')) return std::nullopt;
    while (!accept(')')) {
      skip_blanks();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0 || out.size() >= kRankMax) return std::nullopt;
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      accept('L');  // as Python 2 wrote it
      out.push_back(size);
      if (!accept(',') && !(!text_.empty() && text_.front() == ')')) return std::nullopt;
    }
    return out;
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  std::string_view text_;
};

struct Header {
  std::optional<std::string_view> descr;
  std::optional<bool> column_major;
  std::optional<std::vector<int64_t>> sizes;
};

std::optional<std::string> read_header(std::string_view text, Header* out) {
  HeaderReader reader(text);
  if (!reader.accept('{')) return "the header is no dict";
  while (!reader.accept('}')) {
    const auto key = reader.string();
    if (!key || !reader.accept(':')) return "the header cannot be read";
    if (*key == "descr") {
      out->descr = reader.string();
      if (!out->descr) return "it is an array of records, not of numbers";
    } else if (*key == "fortran_order") {
      out->column_major = reader.boolean();
      if (!out->column_major) return "fortran_order is neither True nor False";
    } else if (*key == "shape") {
      out->sizes = reader.shape();
      if (!out->sizes) return "the shape cannot be read";
    } else {
      return "the header has an unknown key";
    }
    if (!reader.accept(',')) {
      if (reader.accept('}')) break;
      return "the header cannot be read";
    }
  }
  if (!reader.at_end()) return "there is text after the header";
  if (!out->descr || !out->column_major || !out->sizes) return "the header lacks descr, fortran_order or shape";
  return std::nullopt;
}

/// What is wrong with `descr`; nullopt: the array's type is set.
std::optional<std::string> read_type(std::string_view descr, NpyArray* out, bool* swapped) {
  const std::string shown(descr.substr(0, 20));
  const char order = descr.empty() ? ' ' : descr.front();
  if (order == '<' || order == '>' || order == '|' || order == '=') descr.remove_prefix(1);
  if (descr.starts_with("O")) return "it holds Python objects, not numbers";
  *swapped = order == '>';
  for (const auto& [name, dtype] : kTypes)
    if (descr == name) out->dtype = dtype;
  out->width = dtype_bytes(out->dtype);
  if (out->dtype != Dtype::kUnknown) return std::nullopt;
  int64_t width = 0;
  if (descr.starts_with("V")) {
    const auto [end, error] = std::from_chars(descr.data() + 1, descr.data() + descr.size(), width);
    if (error != std::errc() || end != descr.data() + descr.size()) width = 0;
  }
  if (width < 1 || width > 4) return "no tensor has elements of the type " + shown;
  out->width = width;
  return std::nullopt;
}

void swap_bytes(NpyArray* array) {
  const int64_t part = dtype_is_complex(array->dtype) ? array->width / 2 : array->width;
  for (size_t at = 0; at + static_cast<size_t>(part) <= array->bytes.size(); at += static_cast<size_t>(part))
    std::reverse(array->bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 array->bytes.begin() + static_cast<std::ptrdiff_t>(at) + part);
}

/// From column-major to row-major.
void transpose(NpyArray* array) {
  const size_t rank = array->sizes.size(), width = static_cast<size_t>(array->width);
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d) strides[d] = strides[d - 1] * array->sizes[d - 1];
  std::vector<uint8_t> out(array->bytes.size());
  int64_t from = 0;
  for (size_t to = 0; to + width <= out.size(); to += width) {
    std::memcpy(out.data() + to, array->bytes.data() + static_cast<size_t>(from) * width, width);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < array->sizes[d]) break;
      from -= strides[d] * array->sizes[d];
      index[d] = 0;
    }
  }
  array->bytes = std::move(out);
}

}  // namespace

std::string numpy_descr(Dtype dtype) {
  for (const auto& [name, known] : kTypes)
    if (known == dtype) return (dtype_bytes(dtype) == 1 ? "|" : "<") + std::string(name);
  return "|V" + std::to_string(dtype_bytes(dtype));
}

Result<NpyArray> parse_npy(std::string_view file) {
  const auto fail = [](std::string what) { return parse_error(std::move(what), "npy"); };
  if (file.size() < 10 || !file.starts_with(kMagic)) return fail("it is no .npy file");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(file[at])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return fail("it is of version " + std::to_string(version) + ", and 1 to 3 are known");
  const size_t prefix = version == 1 ? 10 : 12;
  if (file.size() < prefix) return fail("it is cut off");
  const size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > kHeaderMax) return fail("the header is longer than " + std::to_string(kHeaderMax) + " bytes");
  if (file.size() - prefix < length) return fail("it is cut off");
  Header header;
  if (auto wrong = read_header(file.substr(prefix, length), &header)) return fail(*wrong);
  NpyArray out;
  bool swapped = false;
  if (auto wrong = read_type(*header.descr, &out, &swapped)) return fail(*wrong);
  out.sizes = std::move(*header.sizes);
  out.column_major = *header.column_major;
  const std::string_view data = file.substr(prefix + length);
  uint64_t bytes = static_cast<uint64_t>(out.width);
  const bool empty = std::find(out.sizes.begin(), out.sizes.end(), 0) != out.sizes.end();
  for (const int64_t size : out.sizes)
    if (__builtin_mul_overflow(bytes, empty ? 1 : static_cast<uint64_t>(size), &bytes)) return fail("it is too large");
  if (empty) bytes = 0;
  if (data.size() != bytes)
    return fail("it has " + std::to_string(data.size()) + " bytes of elements, and its shape needs " +
                std::to_string(bytes));
  out.bytes.assign(data.begin(), data.end());
  if (swapped) swap_bytes(&out);
  if (out.column_major && out.sizes.size() > 1 && !out.bytes.empty()) transpose(&out);
  return out;
}

std::string print_npy(Dtype dtype, const std::vector<int64_t>& sizes, const std::vector<uint8_t>& bytes) {
  std::string header = "{'descr': '" + numpy_descr(dtype) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : sizes) header += std::to_string(size) + ",";
  header += "), }";
  // Magic, version and length take 10 bytes; all of it is a multiple of 64 and ends with a newline.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(bytes.begin(), bytes.end());
  return out;
}

}  // namespace aotifuzz
