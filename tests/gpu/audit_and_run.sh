#!/usr/bin/env bash
# `aotifuzz audit`, `run` and `fuzz --engine libfuzzer` on a real GPU, on a machine that need not be able to build:
#
#   bash tests/gpu/audit_and_run.sh BUNDLE [FOLDER]
#
# BUNDLE and FOLDER as for tests/gpu/run.sh, which is to be run first: embedding_mlp.pt2 is taken from FOLDER where it is there.
# Ends with 0 when each said what it must.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
[ $# -ge 1 ] || { echo "usage: bash tests/gpu/audit_and_run.sh BUNDLE [FOLDER]" >&2; exit 2; }
bundle=$(cd "$1" && pwd)
folder=${2:-build/gpu}
mkdir -p "$folder"
rm -rf "$folder"/audit "$folder"/real "$folder"/guided

export CXX=/usr/bin/g++ CC=/usr/bin/gcc
AOTIFUZZ_TORCH_LIB=$(python3 -c 'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parent / "lib")')
export AOTIFUZZ_TORCH_LIB LD_LIBRARY_PATH=$AOTIFUZZ_TORCH_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failed=()
say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }

model=$folder/embedding_mlp.pt2
[ -f "$model" ] || PYTHONPATH=harness/pack python3 -m aotifuzz_pack tests/gpu/models.py:embedding_mlp -o "$model"

say "audit"
"$bundle/bin/aotifuzz" audit "$model" --time 90s --out "$folder/audit" >"$folder/audit.txt" || failed+=("audit ended with $?")
cat "$folder/audit.txt"
grep -q "idx.size(1) == x.size(1)" "$folder/audit.txt" || failed+=("audit: the sizes that nothing ties are not named")
# An input in the host's memory: refused, or seen to harm; never silently fine for a kernel that reads it on the device.
grep -E "x.device.type == cuda +required" "$folder/audit.txt" || failed+=("audit: no row for inputs on the CPU")
grep -E "number of inputs as exported +required +refused" "$folder/audit.txt" || failed+=("audit: one input more is not refused")
grep -E "indices of .*(32|64) bits" "$folder/audit.txt" || failed+=("audit: the width of the kernels' indices is not known")
grep -q "inputs on another GPU than the package's: " "$folder/audit.txt" || failed+=("audit: other GPUs are not listed as not tried")
grep -q "reduced until 1-minimal" "$folder/audit.txt" || failed+=("audit: no case was reduced")

say "run on inputs from files, on tensors that were saved on the GPU, and on wrong ones"
python3 - "$folder" <<'PY'
import sys
import numpy as np
import torch
folder = sys.argv[1]
np.save(f"{folder}/x.npy", np.ones((4, 7, 16), np.float32))
torch.save({"x": torch.ones(4, 7, 16, device="cuda"), "idx": torch.ones(4, 7, dtype=torch.int64, device="cuda")}, f"{folder}/saved.pt")
np.save(f"{folder}/long.npy", np.ones((4, 9, 16), np.float32))
np.save(f"{folder}/idx.npy", np.ones((4, 7), np.int64))
PY
run() {  # EXIT-CODE TEXT INPUTS...
  local status=0 text
  text=$("$bundle/bin/aotifuzz" run "$model" "${@:3}" 2>&1) || status=$?
  echo "$text"
  [ "$status" = "$1" ] || failed+=("run ${*:3} ended with $status, not $1")
  [[ $text == *"$2"* ]] || failed+=("run ${*:3} does not say '$2'")
}
run 0 "close: pass" x="$folder/x.npy" idx="$folder/idx.npy"
run 0 "close: pass" "$folder/saved.pt"
run 3 "x.size(1)" "$folder/long.npy" "$folder/idx.npy"
run 1 "memory-fault" "$folder/long.npy" "$folder/idx.npy" --anyway --save-case "$folder/real"
"$bundle/bin/aotifuzz" replay "$folder/real" --times 2 || [ $? = 1 ] || failed+=("replay of the saved case")

say "libFuzzer"
"$bundle/bin/aotifuzz" fuzz "$model" --engine libfuzzer --generator shapes --cases 2000 --out "$folder/guided" --quiet ||
  failed+=("a guided campaign within the contract ended with $?")

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
say "all passed"
