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
exit $status
