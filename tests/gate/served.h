#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gate/gate_server.h"

namespace aotifuzz::test {

struct Said {
  std::map<std::string, GateOperator> operators;
  GateMessage last;
  int libraries = 0;
  int exit_code = -1;
};

inline std::string library(const std::string& name) { return AOTIFUZZ_GATE_OPS "/lib" + name + ".so"; }

/// A server in a process of its own, as the worker program runs it, and what it says.
inline Said serve(GateServerOptions options) {
  Said out;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    _exit(GateServer(std::move(options), ends[1]).run());
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto message = parse_gate_message(line);
    EXPECT_TRUE(message) << line;
    if (!message) continue;
    out.last = *message;
    out.libraries += message->kind == GateMessage::Kind::kLibrary;
    if (message->kind != GateMessage::Kind::kOperator) continue;
    GateOperator& op = out.operators[message->op.name];
    op.merge(std::move(message->op));
  }
  return out;
}

inline std::vector<std::string> kinds(const GateOperator& op) {
  std::vector<std::string> out;
  for (const GateFinding& finding : op.findings) out.push_back(finding.kind);
  return out;
}

inline std::string written(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + std::to_string(getpid()) + "-" + name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace aotifuzz::test
