#!/usr/bin/env bash
# Every figure of the README, both sides of each ratio in turn in one run: bash bench/run.sh [SECONDS]
# SECONDS: length of one measurement, default 10. Table on stdout, JSON in build/bench.json.
# AOTIFUZZ_TORCH chooses the torch, as in harness/setup.sh.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../harness/setup.sh"
cd "$repo"
setup --models
build
pack --all corpus/models/example.py -o "$build_folder/models"
pack corpus/models/faults.py:attention_without_tokens -o "$build_folder/models"
AOTIFUZZ_BUILD=$build_folder exec "$python" bench/figures.py --seconds "${1:-10}"
