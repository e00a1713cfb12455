#!/usr/bin/env bash
# Packs every test model into a folder: pack_models.sh FOLDER. What the cache holds already takes a second.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../harness/setup.sh"
out=$1
models=$repo/corpus/models

# The first package of a machine compiles torch's headers once; two at a time from then on.
pack "$models/example.py:embedding_mlp" -o "$out"
pack --all "$models/example.py" "$models/faults.py" -o "$out" &
first=$!
status=0
pack --all "$models/clean.py" "$models/real.py" -o "$out" || status=$?
wait $first || status=$?

# As users without pack have them: a stock package, and the program in a file of its own.
pack "$models/example.py:embedding_mlp" "$models/example.py:argmax_transposed" -o "$out" --no-reference --save-reference || status=$?

# What `aotifuzz explain` is tried on; two of them need a setting.
failing=$repo/tests/support/explain_models.py
pack "$failing:computed_index" "$failing:running_index" "$failing:custom_operator" "$failing:kept_rows" -o "$out" || status=$?
pack "$failing:logarithm" -o "$out" --config nan_asserts=True || status=$?
pack "$failing:one_layer" -o "$out" --config aot_inductor.package_constants_in_so=False || status=$?
exit $status
