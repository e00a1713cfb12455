#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/command.h"

namespace aotifuzz::test {

inline std::string library(const std::string& name) { return AOTIFUZZ_GATE_OPS "/lib" + name + ".so"; }
inline std::string source(const std::string& name) { return AOTIFUZZ_GATE_SOURCES "/" + name; }

inline Ended gate(std::vector<std::string> arguments, const std::string& folder = "") {
  arguments.insert(arguments.begin(), {AOTIFUZZ_PROGRAM, "gate"});
  return run_program(arguments, folder);
}

inline nlohmann::json gate_json(std::vector<std::string> arguments, int expected_code) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const Ended ended = gate(arguments);
  EXPECT_EQ(ended.exit_code, expected_code) << ended.err;
  return nlohmann::json::parse(ended.out, nullptr, false);
}

}  // namespace aotifuzz::test
