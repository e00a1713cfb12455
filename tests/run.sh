#!/usr/bin/env bash
# Sets up, builds, packs the test models and runs every test: bash tests/run.sh
# Safe to run again; a second run on the same machine spends its time in the tests alone.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../harness/setup.sh"
[ $# -eq 0 ] || fail "tests/run.sh takes no arguments" "$*" "for one test: ctest --test-dir build -R NAME --output-on-failure"

began=$SECONDS
setup --models
build

export AOTIFUZZ_MODELS=$repo/build/models
say "packing the test models (10 minutes with an empty cache, a second otherwise)"
bash "$repo/tests/support/pack_models.sh" "$AOTIFUZZ_MODELS"

failed=()
say "C++ tests"
ctest --test-dir "$repo/build" --output-on-failure --no-tests=error -j2 || failed+=("ctest")

say "tests of pack"
PYTHONPATH=$repo/harness/pack "$repo/.venv/bin/python" -m unittest discover -s "$repo/tests/pack" -p '*_test.py' || failed+=("tests/pack")

say "the demo, as README has it"
bash "$repo/harness/demo.sh" 20s || failed+=("harness/demo.sh")

minutes=$(((SECONDS - began) / 60)) seconds=$(((SECONDS - began) % 60))
if [ ${#failed[@]} -gt 0 ]; then
  say "FAILED: ${failed[*]} ($minutes min $seconds s)"
  exit 1
fi
say "all tests passed ($minutes min $seconds s)"
