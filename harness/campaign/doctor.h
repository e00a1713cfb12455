#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// One line of `aotifuzz doctor`.
struct DoctorRow {
  enum class Status { kOk, kNotHere, kBroken };
  Status status = Status::kOk;
  std::string what;    ///< "one-byte overrun, read"
  std::string detail;  ///< what was seen, or why it is not here, or what to do
};
std::string_view doctor_status_name(DoctorRow::Status status);  ///< "ok", "not here", "BROKEN"

struct DoctorRequest {
  std::string device;  ///< "cpu", "cuda:0"; "" = the CPU, and cuda:0 where there is one
  std::string torch;   ///< which worker; "" = the one beside this program
};

/// Says of this installation what it is, and proves by planted faults what it would notice: each is committed in a
/// worker and must come back as the verdict class that it stands for, through the same parts that `fuzz` uses. Takes
/// seconds. Throws as choose_torch() does for a torch that is not here, never for what it finds.
std::vector<DoctorRow> examine(const DoctorRequest& request);

}  // namespace aotifuzz
