#include "core/value_recipe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/check.h"
#include "core/content_hash.h"
#include "core/element_convert.h"
#include "core/element_decode.h"
#include "core/element_source.h"

namespace aotifuzz {
namespace {

struct KindRow {
  ValueKind kind;
  std::string_view name;
  int least, most;
  bool seed;
};

constexpr std::array<KindRow, 12> kKinds = {{
    {ValueKind::kConst, "const", 1, 1, false},
    {ValueKind::kRamp, "ramp", 2, 2, false},
    {ValueKind::kUniform, "uniform", 2, 2, true},
    {ValueKind::kNormal, "normal", 2, 2, true},
    {ValueKind::kInts, "ints", 2, 2, true},
    {ValueKind::kSteps, "steps", 3, 3, true},
    {ValueKind::kChoice, "choice", 1, -1, true},
    {ValueKind::kList, "list", 1, -1, false},
    {ValueKind::kSorted, "sorted", 2, 2, true},
    {ValueKind::kPermutation, "permutation", 0, 0, true},
    {ValueKind::kOneHot, "onehot", 3, 3, false},
    {ValueKind::kFile, "file", 0, 0, false},
}};

const KindRow& row_of(ValueKind kind) {
  const size_t index = static_cast<size_t>(kind);
  AOTIFUZZ_CHECK(index < kKinds.size() && kKinds[index].kind == kind) << index;
  return kKinds[index];
}

// 4 KiB of doubles: stays in the first-level cache, long enough for the loops to pay.
constexpr int64_t kBlock = 512;

/// Copies of a constant width: one move each.
template <size_t kWidth>
void copy_from_table(const ElementSource& source, const uint8_t* table, int64_t numel, uint8_t* out) {
  for (int64_t i = 0; i < numel; ++i)
    std::memcpy(out + static_cast<size_t>(i) * kWidth, table + static_cast<size_t>(source.table_index(i)) * kWidth,
                kWidth);
}

void fill_from_table(const ElementSource& source, const ValueRecipe& recipe, Dtype dtype, int64_t numel, uint8_t* out) {
  const size_t width = static_cast<size_t>(dtype_bytes(dtype));
  std::vector<uint8_t> table(recipe.numbers.size() * width);
  for (size_t i = 0; i < recipe.numbers.size(); ++i) convert_number(recipe.numbers[i], dtype, &table[i * width]);
  if (recipe.kind == ValueKind::kConst || recipe.kind == ValueKind::kOneHot) {
    // Doubling copies: one pattern, no branch per element.
    const size_t total = static_cast<size_t>(numel) * width;
    const size_t rest = recipe.kind == ValueKind::kConst ? 0 : 2;
    std::memcpy(out, &table[rest * width], width);
    for (size_t done = width; done < total; done *= 2) std::memcpy(out + done, out, std::min(done, total - done));
    if (recipe.kind == ValueKind::kOneHot)
      std::memcpy(out + static_cast<size_t>(wrap_index(to_int64(recipe.numbers[0]), numel)) * width, &table[width],
                  width);
    return;
  }
  switch (width) {
    case 1:
      return copy_from_table<1>(source, table.data(), numel, out);
    case 2:
      return copy_from_table<2>(source, table.data(), numel, out);
    case 4:
      return copy_from_table<4>(source, table.data(), numel, out);
    case 8:
      return copy_from_table<8>(source, table.data(), numel, out);
    case 16:
      return copy_from_table<16>(source, table.data(), numel, out);
    default:
      AOTIFUZZ_CHECK(false) << width;
  }
}

const FileValues& loaded_file(const ValueRecipe& recipe) {
  AOTIFUZZ_CHECK(recipe.file && recipe.file->loaded) << (recipe.file ? recipe.file->name : "no file");
  return *recipe.file;
}

Number file_value(const FileValues& file, int64_t i) {
  const int64_t width = dtype_bytes(file.dtype), count = static_cast<int64_t>(file.bytes.size()) / width;
  return count == 0 ? Number{int64_t{0}} : decode_element(file.dtype, file.bytes.data() + i % count * width);
}

void fill_from_file(const FileValues& file, Dtype dtype, int64_t numel, uint8_t* out) {
  const size_t width = static_cast<size_t>(dtype_bytes(dtype)), total = static_cast<size_t>(numel) * width;
  if (file.bytes.empty()) {
    std::memset(out, 0, total);
  } else if (file.dtype == dtype) {
    for (size_t done = 0; done < total; done += file.bytes.size())
      std::memcpy(out + done, file.bytes.data(), std::min(file.bytes.size(), total - done));
  } else {
    for (int64_t i = 0; i < numel; ++i) convert_number(file_value(file, i), dtype, out + static_cast<size_t>(i) * width);
  }
}

/// Real parts are there already: odd elements get the next element as imaginary part.
void fill_imaginary(const ElementSource& source, Dtype dtype, int64_t numel, uint8_t* out) {
  const size_t width = static_cast<size_t>(dtype_bytes(dtype));
  std::array<uint8_t, 16> element{};
  for (int64_t i = 1; i < numel; i += 2) {
    convert_number(source.at(i + 1), dtype, element.data());
    std::memcpy(out + static_cast<size_t>(i) * width + width / 2, element.data(), width / 2);
  }
}

}  // namespace

double to_double(Number number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return static_cast<double>(*integer);
  return std::get<double>(number);
}

int64_t to_int64(Number number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return *integer;
  const double value = std::get<double>(number);
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (value != value) return 0;
  if (value >= kTwoTo63) return std::numeric_limits<int64_t>::max();
  if (value < -kTwoTo63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

bool same_number(Number a, Number b) {
  if (a.index() != b.index()) return false;
  if (const int64_t* integer = std::get_if<int64_t>(&a)) return *integer == std::get<int64_t>(b);
  const double x = std::get<double>(a), y = std::get<double>(b);
  if (x != x || y != y) return x != x && y != y;
  return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
}

bool operator==(const ValueRecipe& a, const ValueRecipe& b) {
  if (a.kind != b.kind || a.numbers.size() != b.numbers.size() || a.patches.size() != b.patches.size()) return false;
  if (value_kind_has_seed(a.kind) && a.seed != b.seed) return false;
  if ((a.file ? a.file->hash : 0) != (b.file ? b.file->hash : 0)) return false;
  for (size_t i = 0; i < a.numbers.size(); ++i)
    if (!same_number(a.numbers[i], b.numbers[i])) return false;
  for (size_t i = 0; i < a.patches.size(); ++i)
    if (a.patches[i].first != b.patches[i].first || !same_number(a.patches[i].second, b.patches[i].second))
      return false;
  return true;
}

uint64_t hash_values(Dtype dtype, const std::vector<uint8_t>& bytes) {
  ContentHash hash;
  hash.add(bytes.data(), bytes.size());
  const auto code = static_cast<uint64_t>(dtype);
  hash.add(&code, sizeof(code));
  return hash.value();
}

std::string_view value_kind_name(ValueKind kind) { return row_of(kind).name; }

bool value_kind_has_seed(ValueKind kind) { return row_of(kind).seed; }

bool value_kind_from_name(std::string_view name, ValueKind* kind) {
  for (const KindRow& row : kKinds) {
    if (row.name != name) continue;
    *kind = row.kind;
    return true;
  }
  return false;
}

std::pair<int, int> value_kind_arity(ValueKind kind) { return {row_of(kind).least, row_of(kind).most}; }

Number value_at(const ValueRecipe& recipe, int64_t i, int64_t numel) {
  if (numel > 0) {
    for (auto patch = recipe.patches.rbegin(); patch != recipe.patches.rend(); ++patch)
      if (wrap_index(patch->first, numel) == i) return patch->second;
  }
  if (recipe.kind == ValueKind::kFile) return file_value(loaded_file(recipe), i);
  return ElementSource(recipe, numel).at(i);
}

void fill_values(const ValueRecipe& recipe, Dtype dtype, int64_t numel, void* out) {
  if (numel <= 0) return;
  uint8_t* bytes = static_cast<uint8_t*>(out);
  const size_t width = static_cast<size_t>(dtype_bytes(dtype));
  if (reinterpret_cast<uintptr_t>(out) % std::min<size_t>(width, alignof(double)) != 0) {
    // A storage that is misaligned on purpose: the loops below would be undefined behaviour there.
    std::vector<double> aligned((static_cast<size_t>(numel) * width + sizeof(double) - 1) / sizeof(double));
    fill_values(recipe, dtype, numel, aligned.data());
    std::memcpy(out, aligned.data(), static_cast<size_t>(numel) * width);
    return;
  }
  const auto patch = [&] {
    for (const auto& [index, value] : recipe.patches)
      convert_number(value, dtype, bytes + static_cast<size_t>(wrap_index(index, numel)) * width);
  };
  if (recipe.kind == ValueKind::kFile) {
    fill_from_file(loaded_file(recipe), dtype, numel, bytes);
    return patch();
  }
  const ElementSource source(recipe, numel);
  if (source.has_table()) {
    fill_from_table(source, recipe, dtype, numel, bytes);
  } else if (source.is_real() && dtype == Dtype::kF64) {
    source.reals(0, numel, static_cast<double*>(out));
  } else if (!source.is_real() && dtype == Dtype::kI64) {
    source.integers(0, numel, static_cast<int64_t*>(out));
  } else if (source.is_real()) {
    std::array<double, kBlock> block;
    for (int64_t begin = 0; begin < numel; begin += kBlock) {
      const int64_t count = std::min(kBlock, numel - begin);
      source.reals(begin, count, block.data());
      convert_reals(block.data(), count, dtype, bytes + static_cast<size_t>(begin) * width);
    }
  } else {
    std::array<int64_t, kBlock> block;
    for (int64_t begin = 0; begin < numel; begin += kBlock) {
      const int64_t count = std::min(kBlock, numel - begin);
      source.integers(begin, count, block.data());
      convert_integers(block.data(), count, dtype, bytes + static_cast<size_t>(begin) * width);
    }
  }
  if (dtype_is_complex(dtype)) fill_imaginary(source, dtype, numel, bytes);
  patch();
}

}  // namespace aotifuzz
