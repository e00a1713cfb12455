#pragma once

#include <array>
#include <string_view>

#include "core/case.h"
#include "core/choices.h"

namespace aotifuzz {

/// Ways to lay out a tensor other than as exported. They keep the sizes.
enum class LayoutKind : uint8_t {
  kTransposed,    ///< the last two dimensions exchanged in memory
  kPermuted,      ///< some other order of dimensions
  kRowGap,        ///< a slice of wider rows
  kEverySecond,   ///< x[..., ::2] of a longer tensor
  kBatchSlice,    ///< x[::2] of a taller tensor
  kExpanded,      ///< one dimension with stride 0
  kChannelsLast,  ///< 4 and 5 dimensions
  kRowMajor,      ///< dense, where the exported strides are not
};
inline constexpr std::array<LayoutKind, 8> kLayoutKinds = {
    LayoutKind::kTransposed, LayoutKind::kRowGap,   LayoutKind::kEverySecond,  LayoutKind::kExpanded,
    LayoutKind::kBatchSlice, LayoutKind::kPermuted, LayoutKind::kChannelsLast, LayoutKind::kRowMajor};
std::string_view layout_kind_name(LayoutKind kind);

/// Gives `input` strides of this kind, starting from those it has. False, and nothing changed, when the kind does not
/// suit its rank or changes no stride that counts (sizes of 0 and 1 have none).
bool apply_layout(LayoutKind kind, Choices& choices, CaseInput& input);

/// Makes `later` share the storage of `earlier`: the same tensor where the sizes agree, or shifted by some elements so
/// that both still overlap. False when dtypes differ, one is empty, or one has no storage of its own.
enum class OverlapKind : uint8_t { kSameTensor, kShifted };
bool apply_overlap(OverlapKind kind, Choices& choices, CaseInput& earlier, CaseInput& later);

/// What a contract leaves free: storage offset and alignment, now and then other than 0.
void choose_placement(Choices& choices, CaseInput& input);

}  // namespace aotifuzz
