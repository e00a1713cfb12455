#pragma once

#include "core/error.h"
#include "core/flight_recorder.h"
#include "store/worker_protocol.h"

namespace aotifuzz {

/// What both kinds of worker program do before they serve (fork_server.h, cuda/cuda_server.h).

struct WorkerPipes {
  int request_fd = 0;
  int message_fd = 1;
  int recorder_fd = -1;  ///< -1: no flight recorder
};
/// The parent's descriptors; by hand, stdin and stdout instead. Stdout then moves away: what a package prints to it
/// must not end up among the messages.
WorkerPipes choose_pipes();

/// Null without a recorder. Throws HarnessError for a descriptor that is none.
FlightRecorder* map_recorder(int fd);

/// A recorder in memory of this process alone, for one that only gets ready; publish_recorder() puts what it holds
/// where the parent reads, at the same address here.
FlightRecorder* private_recorder();
void publish_recorder(FlightRecorder* recorder, int fd);

/// Core files off, SIGPIPE off, errors of torch without backtraces, one ATen thread.
void prepare_process();

/// What libraries set up at their first use, so that each process that serves finds it done: MKL counts the cores one
/// by one (milliseconds), oneDNN asks the processor what it can do.
void warm_up_host();

/// The message that tells the parent why this worker cannot go on.
WorkerMessage fatal_message(const HarnessError& error);
WorkerMessage fatal_message(const std::string& text);  ///< of such an error

/// Usage text for a command line that parse_worker_arguments refused; returns the exit code.
int refuse_arguments(const char* program, const ParseError& error);

}  // namespace aotifuzz
