#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/worker_report.h"
#include "store/worker_arguments.h"

namespace aotifuzz {

/// What passes between parent and worker. Parent to worker: "case ID NBYTES\n" and the case text, with " careful" at
/// the line's end when a fault must be pinned down at any price; "renew\n": the next case gets a process in which none
/// ran, where processes are kept loaded for that; "quit\n". Worker to parent: one JSON object a line, the forms below.
/// The worker program is a fork server: it loads libtorch, package and reference once, then forks a child that serves
/// cases on the same two pipes; when a child dies it says so and forks the next one, which takes milliseconds. The
/// worker of CUDA packages forks before it initialises CUDA, and keeps children that have loaded everything; a child
/// says itself that it dies when the device's context is lost. Without spares it serves cases itself, and ends then.
///   {"hello": {...}}                              once, after loading
///   {"ready": PID}                                a child serves cases
///   {"report": {...}}                             one case
///   {"died": {"pid": N, "signal": N, "status": N, "case": N}}  the child ended, and the last case that it took up,
///   read
///                                                 from the recorder before the next child; signal 0 with status 0 =
///                                                 recycled. "device_error" and "memory_fault": what a device's run
///                                                 time said, from the process itself before it ends
///   {"fatal": {"what":..., "where":..., "to_do":...}}  cannot go on: the world is wrong
struct WorkerMessage {
  enum class Kind { kHello, kReady, kReport, kDied, kFatal } kind = Kind::kReady;
  WorkerHello hello;
  CaseReport report;
  int pid = 0;
  int signal = 0;
  int status = 0;
  uint64_t case_id = 0;       ///< kDied
  std::string device_error;   ///< kDied: "an illegal memory access was encountered"; "" = no fault of a device
  bool memory_fault = false;  ///< kDied: the device error is about memory
  std::string what, where, to_do;
};

std::string print_message(const WorkerMessage& message);     ///< one line, newline included
Result<WorkerMessage> parse_message(std::string_view line);  ///< hostile input is an error, never a crash

std::string print_case_request(uint64_t id, std::string_view case_text, bool careful = false);

/// What a worker reads from its parent.
struct WorkerRequest {
  enum class Kind { kCase, kRenew, kQuit } kind = Kind::kQuit;
  uint64_t id = 0;
  size_t bytes = 0;      ///< of case text that follow the line
  bool careful = false;  ///< wait for each kernel, and probe more than a case needs
};
Result<WorkerRequest> parse_request_line(std::string_view line);  ///< newline optional

}  // namespace aotifuzz
