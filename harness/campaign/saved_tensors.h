#pragma once

#include <string>
#include <vector>

#include "package/tensor_file.h"

namespace aotifuzz {

/// What torch.save wrote: a tensor, or a list, tuple or dict of tensors, numbers and None, in that order; names are the
/// dict's keys. Tensors keep sizes and strides; those of a device are brought to the host. Read by libtorch in a
/// process of the CPU worker that lies beside `worker_program`: nothing in the file is executed, and a hostile one ends
/// that process. Throws HarnessError that says what is wrong with the file.
std::vector<SavedValue> read_saved_tensors(const std::string& path, const std::string& worker_program);

}  // namespace aotifuzz
