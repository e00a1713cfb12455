#include "core/case.h"

#include <algorithm>
#include <array>
#include <limits>

namespace aotifuzz {
namespace {

// Sizes come from text that anyone may write, so products saturate instead of overflowing: whoever asks whether a case
// fits into memory then gets "no".
int64_t saturating_mul(int64_t x, int64_t y) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(x, y, &product)) return product;
  return (x < 0) == (y < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

int64_t saturating_add(int64_t x, int64_t y) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(x, y, &sum)) return sum;
  return x < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

constexpr std::array<std::string_view, 3> kConstantsNames = {"exported", "updated", "swapped"};
constexpr std::array<std::string_view, 3> kPlaceNames = {"declared", "cpu", "cuda"};

}  // namespace

std::string_view case_constants_name(CaseConstants constants) {
  return kConstantsNames[static_cast<size_t>(constants)];
}

std::optional<CaseConstants> case_constants_from_name(std::string_view name) {
  for (size_t i = 0; i < kConstantsNames.size(); ++i)
    if (kConstantsNames[i] == name) return static_cast<CaseConstants>(i);
  return std::nullopt;
}

std::string_view case_place_name(CasePlace place) { return kPlaceNames[static_cast<size_t>(place)]; }

std::optional<CasePlace> case_place_from_name(std::string_view name) {
  for (size_t i = 0; i < kPlaceNames.size(); ++i)
    if (kPlaceNames[i] == name) return static_cast<CasePlace>(i);
  return std::nullopt;
}

int64_t CaseInput::numel() const {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    count = saturating_mul(count, size);
  }
  return count;
}

std::vector<int64_t> CaseInput::dense_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = saturating_mul(strides[d], std::max<int64_t>(sizes[d], 1));
  return strides;
}

int64_t CaseInput::storage_elements() const {
  if (numel() == 0) return 0;
  const std::vector<int64_t> steps = effective_strides();
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size() && d < steps.size(); ++d)
    last = saturating_add(last, saturating_mul(sizes[d] - 1, steps[d]));
  return saturating_add(last, 1);
}

bool operator==(const CaseInput& a, const CaseInput& b) {
  return a.name == b.name && a.kind == b.kind && a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
         a.offset == b.offset && a.misalign_bytes == b.misalign_bytes && a.storage_of == b.storage_of &&
         a.zero_tensor == b.zero_tensor && a.place == b.place && a.surplus == b.surplus && a.values == b.values &&
         same_number(a.scalar, b.scalar);
}

bool operator==(const Case& a, const Case& b) {
  return a.inputs == b.inputs && a.then == b.then && a.input_checks == b.input_checks && a.runs == b.runs &&
         a.threads == b.threads && a.callers == b.callers && a.constants == b.constants;
}

size_t Case::surplus_inputs() const {
  return static_cast<size_t>(
      std::count_if(inputs.begin(), inputs.end(), [](const CaseInput& input) { return input.surplus; }));
}

Case Case::call(size_t index) const {
  Case out = *this;
  out.inputs = then[index].inputs;
  out.then.clear();
  return out;
}

}  // namespace aotifuzz
