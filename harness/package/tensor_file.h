#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/error.h"

namespace aotifuzz {

/// One value of a file that somebody saved: an input as case text has it, but for its values.
struct SavedValue {
  /// Name ("" where the file gives none), kind, dtype, sizes, strides where they are not dense. kUnknown as dtype:
  /// bytes without a type, `width` each.
  CaseInput input;
  int64_t width = 0;
  std::vector<uint8_t> bytes;  ///< of a tensor: elements, dense, in logical order
};

/// Reads .npy, .npz (an archive of those) and .safetensors, told apart by their content, in the order of the file.
/// Throws HarnessError that says what is wrong with the file; for what torch.save wrote, see is_torch_save().
std::vector<SavedValue> read_tensor_file(const std::string& path);

/// Did torch.save write that file? Only libtorch reads it: campaign/saved_tensors.h.
bool is_torch_save(const std::string& path);

/// The parsers, for bytes from anyone. Never throw.
Result<std::vector<SavedValue>> parse_npy_value(std::string_view file);
Result<std::vector<SavedValue>> parse_npz(std::string_view file);
/// Eight bytes of length, a JSON object of that length, the tensors' bytes.
Result<std::vector<SavedValue>> parse_safetensors(std::string_view file);

}  // namespace aotifuzz
