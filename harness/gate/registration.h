#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace aotifuzz {

/// Source position of a TORCH_LIBRARY block, which libraries carry with or without debug information.
struct Registration {
  std::string file;  ///< as the compiler was given it; "" = not known
  int line = 0;
};
/// Of the kernel for a dispatch key ("CPU", "Meta"), or of the schema for "". A key without a kernel of its own: the
/// composite one, else the schema.
Registration registration_of(const c10::OperatorHandle& op, const std::string& key);

}  // namespace aotifuzz
