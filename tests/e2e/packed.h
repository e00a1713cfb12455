#pragma once

#include <gtest/gtest.h>

#include "tests/e2e/program.h"

/// A path to the packed model `name`, or the test is skipped with what to do.
#define PACKED(variable, name)                                       \
  const std::string variable = ::aotifuzz::test::packed_model(name); \
  if (variable.empty()) GTEST_SKIP() << "AOTIFUZZ_MODELS is not set or has no " << name << ".pt2: tests/run.sh packs it"
