#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/sanitizer_log.h"
#include "core/device_buffers.h"
#include "core/verdict.h"

namespace aotifuzz {

/// The stray access of `log`, put beside what lay where when it happened: which buffer, how far outside, read or
/// written. None when the log names no stray address, or none near a buffer.
std::optional<MemoryFault> locate(const SanitizerLog& log, const std::vector<DeviceBuffer>& buffers);

/// What the tool adds to a finding's measures: access, buffer, distance, thread, address, line.
std::vector<std::pair<std::string, std::string>> sanitizer_measures(const SanitizerLog& log,
                                                                    const std::optional<MemoryFault>& fault);

/// Puts `news` into `measures`; one of the same name is replaced.
void merge_measures(std::vector<std::pair<std::string, std::string>>* measures,
                    const std::vector<std::pair<std::string, std::string>>& news);

/// The reason of a device's memory fault with the buffer named in it, where it did not name one.
std::string located_reason(const std::string& reason, const MemoryFault& fault);

}  // namespace aotifuzz
