#include "generators/layouts.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace aotifuzz {
namespace {

using Sizes = std::vector<int64_t>;
using Order = std::vector<size_t>;  ///< dimensions from the slowest to the fastest

Order memory_order(const Sizes& sizes, const Sizes& strides) {
  Order order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return strides[x] > strides[y]; });
  return order;
}

/// Dense in `order`, the fastest dimension padded by `gap` elements.
Sizes strides_in(const Order& order, const Sizes& sizes, int64_t gap = 0) {
  Sizes strides(sizes.size(), 1);
  int64_t stride = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = stride;
    stride *= std::max<int64_t>(sizes[order[k]], 1) + (k + 1 == order.size() ? gap : 0);
  }
  return strides;
}

Order shuffled(Choices& choices, Order order) {
  // Never the order itself: rotate, then exchange at random.
  std::rotate(order.begin(), order.begin() + 1 + static_cast<std::ptrdiff_t>(choices.below(order.size() - 1)),
              order.end());
  if (order.size() > 2) std::swap(order[choices.below(order.size())], order[choices.below(order.size())]);
  return order;
}

Sizes expanded(Choices& choices, const Order& order, const Sizes& sizes) {
  std::vector<size_t> wide;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) wide.push_back(d);
  if (wide.empty()) return strides_in(order, sizes);
  const size_t dim = choices.pick(wide);
  Sizes base = sizes;
  base[dim] = 1;
  Sizes strides = strides_in(order, base);
  strides[dim] = 0;
  return strides;
}

/// Bytes of the shared storage that a tensor's elements lie between.
std::pair<int64_t, int64_t> span_of(const CaseInput& input) { return {input.offset, input.storage_elements()}; }

}  // namespace

std::string_view layout_kind_name(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::kTransposed:
      return "transposed";
    case LayoutKind::kPermuted:
      return "permuted";
    case LayoutKind::kRowGap:
      return "row-gap";
    case LayoutKind::kEverySecond:
      return "every-second";
    case LayoutKind::kBatchSlice:
      return "batch-slice";
    case LayoutKind::kExpanded:
      return "expanded";
    case LayoutKind::kChannelsLast:
      return "channels-last";
    case LayoutKind::kRowMajor:
      return "row-major";
  }
  AOTIFUZZ_CHECK(false) << static_cast<int>(kind);
  return "";
}

bool apply_layout(LayoutKind kind, Choices& choices, CaseInput& input) {
  const Sizes& sizes = input.sizes;
  const size_t rank = sizes.size();
  if (rank == 0 || input.numel() == 0 || input.zero_tensor) return false;
  const Sizes before = input.effective_strides();
  Order order = memory_order(sizes, before);
  Sizes strides;
  switch (kind) {
    case LayoutKind::kTransposed:
      if (rank < 2) return false;
      std::swap(order[rank - 1], order[rank - 2]);
      strides = strides_in(order, sizes);
      break;
    case LayoutKind::kPermuted:
      if (rank < 3) return false;
      strides = strides_in(shuffled(choices, order), sizes);
      break;
    case LayoutKind::kRowGap:
      if (rank < 2) return false;
      strides = strides_in(order, sizes, 1 + static_cast<int64_t>(choices.below(8)));
      break;
    case LayoutKind::kEverySecond: {
      strides = strides_in(order, sizes);
      const int64_t every = 2 + static_cast<int64_t>(choices.below(2));
      for (int64_t& stride : strides) stride *= every;
      break;
    }
    case LayoutKind::kBatchSlice:
      if (rank < 2) return false;
      strides = before;
      strides[order[0]] *= 2;
      break;
    case LayoutKind::kExpanded:
      strides = expanded(choices, order, sizes);
      break;
    case LayoutKind::kChannelsLast:
      if (rank == 4)
        order = {0, 2, 3, 1};
      else if (rank == 5)
        order = {0, 2, 3, 4, 1};
      else
        return false;
      strides = strides_in(order, sizes);
      break;
    case LayoutKind::kRowMajor:
      strides = CaseInput::dense_strides(sizes);
      break;
  }
  bool differs = false;
  for (size_t d = 0; d < rank; ++d) differs |= sizes[d] > 1 && strides[d] != before[d];
  if (!differs) return false;
  if (strides == CaseInput::dense_strides(sizes))
    input.strides.reset();
  else
    input.strides = std::move(strides);
  return true;
}

bool apply_overlap(OverlapKind kind, Choices& choices, CaseInput& earlier, CaseInput& later) {
  const auto has_storage = [](const CaseInput& input) {
    return input.kind == CaseInput::Kind::kTensor && !input.zero_tensor && input.storage_of.empty() &&
           input.numel() > 0;
  };
  if (!has_storage(earlier) || !has_storage(later) || earlier.dtype != later.dtype) return false;
  if (kind == OverlapKind::kSameTensor && earlier.sizes != later.sizes) return false;
  later.offset = earlier.offset;
  if (kind == OverlapKind::kShifted) {
    const auto [begin, end] = span_of(earlier);
    if (end - begin < 2) return false;
    later.offset =
        begin + 1 + static_cast<int64_t>(choices.below(static_cast<uint64_t>(std::min<int64_t>(end - begin - 1, 8))));
  }
  later.storage_of = earlier.name;
  later.misalign_bytes = 0;
  later.values = ValueRecipe{};
  return true;
}

void choose_placement(Choices& choices, CaseInput& input) {
  if (input.kind != CaseInput::Kind::kTensor || input.zero_tensor || !input.storage_of.empty()) return;
  switch (choices.below(16)) {
    case 14:
      input.offset = choices.between(1, 17);
      return;
    case 15: {
      // Whole elements past the boundary: what a slice of a larger buffer gives. 64 B: c10's own alignment.
      const int64_t width = dtype_bytes(input.dtype);
      input.misalign_bytes = width < 64 ? width * choices.between(1, 64 / width - 1) : 0;
      return;
    }
    default:
      return;
  }
}

}  // namespace aotifuzz
