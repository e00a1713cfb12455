#pragma once

#include "campaign/worker_process.h"

namespace aotifuzz::test {

/// What the fake worker does with a case: chosen by x.size(0).
enum FakeCase : int64_t {
  kPass = 1,
  kSegfault,
  kHang,
  kGarbage,
  kServerDies,
  kKilled,
  kReportThenDie,
  kFail,
  kAbort,
  kDieInReference,
  kRecycle,
  kSlow,
  kDeviceFault,
  kTellCare,
};

/// Options that start this test program as a worker. `mode`: "serve", "silent", "fatal", "garbage", "exit", "noready";
/// "direct" serves cases itself, with two spares; "lonely" does and has no room for a second of its kind.
WorkerOptions fake_worker(const std::string& mode);

Case sized_case(int64_t n);

}  // namespace aotifuzz::test
