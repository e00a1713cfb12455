#!/usr/bin/env bash
# Sets up, builds, packs the test models and runs every test: bash tests/run.sh
# Safe to run again; a second run on the same machine spends its time in the tests alone.
#
# Without AOTIFUZZ_TORCH everything runs with the newest supported torch, and then build, conformance, demo and the corpus with
# the oldest. With AOTIFUZZ_TORCH (a version, or active) everything runs with that one.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../harness/setup.sh"
[ $# -eq 0 ] || fail "tests/run.sh takes no arguments" "$*" "for one test: ctest --test-dir build -R NAME --output-on-failure"

began=$SECONDS
failed=()

all_tests() {
  setup --models
  build

  export AOTIFUZZ_MODELS=$build_folder/models
  say "packing the test models (15 minutes with an empty cache, a second otherwise)"
  bash "$repo/tests/support/pack_models.sh" "$AOTIFUZZ_MODELS"

  say "C++ tests"
  ctest --test-dir "$build_folder" --output-on-failure --no-tests=error -j2 || failed+=("ctest")

  say "tests of pack"
  PYTHONPATH=$repo/harness/pack "$python" -m unittest discover -s "$repo/tests/pack" -p '*_test.py' || failed+=("tests/pack")

  say "the demo, as README has it"
  bash "$repo/harness/demo.sh" 20s || failed+=("harness/demo.sh")
}

# What depends on the version, with another one beside the newest.
oldest_torch() {
  local newest=${supported_torch[0]} oldest=${supported_torch[-1]}
  say "and with torch $oldest"
  choose_torch "$oldest"
  setup
  build aotifuzz aotifuzz-worker test_oracles_conformance test_generators_conformance
  ctest --test-dir "$build_folder" --output-on-failure --no-tests=error -j2 -L conformance || failed+=("conformance with torch $oldest")

  say "the corpus with both"
  "$repo/build/aotifuzz" replay "$repo/corpus/regressions" --torch "$oldest,$newest" --expect-failing --times 3 ||
    failed+=("corpus with torch $oldest and $newest")

  say "the demo with torch $oldest"
  AOTIFUZZ_TORCH=$oldest bash "$repo/harness/demo.sh" 20s || failed+=("harness/demo.sh with torch $oldest")
}

all_tests
[ -n "${AOTIFUZZ_TORCH:-}" ] || oldest_torch

minutes=$(((SECONDS - began) / 60)) seconds=$(((SECONDS - began) % 60))
if [ ${#failed[@]} -gt 0 ]; then
  say "FAILED: ${failed[*]} ($minutes min $seconds s)"
  exit 1
fi
say "all tests passed ($minutes min $seconds s)"
