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
};

/// Options that start this test program as a worker. `mode`: "serve", "silent", "fatal", "garbage", "exit", "noready".
WorkerOptions fake_worker(const std::string& mode);

Case sized_case(int64_t n);

}  // namespace aotifuzz::test
