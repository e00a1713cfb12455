#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace aotifuzz::test {

/// How a program ended and what it printed.
struct Ended {
  int exit_code = -1;  ///< -1: by a signal
  int signal = 0;
  std::string out, err;
  double seconds = 0;
};

/// A program that was started and has not been waited for.
class Running {
 public:
  /// Throws std::runtime_error when it cannot be started. `folder` is where it runs; "" = here.
  Running(const std::vector<std::string>& command, const std::string& folder = "");
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  pid_t pid() const { return pid_; }
  std::string err_so_far() const;
  void send(int signal) const;
  Ended wait();

 private:
  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  double begin_ = 0;
};

Ended run_program(const std::vector<std::string>& command, const std::string& folder = "");

/// Processes with this text in their command line.
std::vector<pid_t> processes_named(const std::string& part_of_command_line);

/// A folder that is removed when it goes out of scope.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// AOTIFUZZ_MODELS/NAME.pt2, or "" when the variable is not set or the package is not there.
std::string packed_model(const std::string& name);

}  // namespace aotifuzz::test
