#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/contract.h"
#include "core/verdict.h"

namespace aotifuzz {

/// Faults on purpose: a worker started with `--planted yes` serves, in place of a package, a subject that commits the
/// one that the case asks for. They prove that this installation would notice (`aotifuzz doctor`).
enum class PlantedFault : int {
  kNone,           ///< doubles its input, as it should
  kOverrunRead,    ///< reads the byte past the end of x
  kOverrunWrite,   ///< writes it
  kUnderrunRead,   ///< reads the byte before the start of x
  kUseAfterFree,   ///< reads a block that was freed in the same run
  kUnwrittenRead,  ///< returns memory that was never written
  kDivision,       ///< divides an integer by zero
  kHang,           ///< never ends
  kRemembers,      ///< gives something else once it was called with a longer x
  kLeak,           ///< loses memory with each call
  kSharedMemory,   ///< two calls at the same time use the same memory
};

struct Planted {
  PlantedFault fault;
  std::string_view name;                 ///< "one-byte overrun, read"
  std::optional<VerdictClass> expected;  ///< none: must pass
  bool on_device;                        ///< a GPU can commit it too
};

/// In the order in which `doctor` tries them.
std::span<const Planted> planted_faults();

/// Inputs of the subject: fault i64[1] (a PlantedFault), x f32[n].
Contract planted_contract(const std::string& device);
/// The case that asks for `fault`: a dozen bytes of x, so that its end is no multiple of more than 4.
std::string planted_case(PlantedFault fault);
/// The same with x a multiple of 16 bytes long: allocators of devices align to that.
std::string planted_aligned_case(PlantedFault fault);

}  // namespace aotifuzz
