#!/usr/bin/env bash
# `aotifuzz explain` on errors of a real GPU, on a machine that need not be able to build:
#
#   bash tests/gpu/explain.sh BUNDLE [FOLDER]
#
# BUNDLE and FOLDER as for tests/gpu/run.sh, which is to be run first: embedding_mlp.pt2 is taken from FOLDER where it is there.
# Each section makes a real error, keeps its text in FOLDER/explain-NAME.log and gives it to `explain`, alone and with package
# and case. Ends with 0 when each was recognised as it must be.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
[ $# -ge 1 ] || { echo "usage: bash tests/gpu/explain.sh BUNDLE [FOLDER]" >&2; exit 2; }
bundle=$(cd "$1" && pwd)
folder=${2:-build/gpu}
mkdir -p "$folder"

export CXX=/usr/bin/g++ CC=/usr/bin/gcc
AOTIFUZZ_TORCH_LIB=$(python3 -c 'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parent / "lib")')
export AOTIFUZZ_TORCH_LIB LD_LIBRARY_PATH=$AOTIFUZZ_TORCH_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failed=()

say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }

say "packing"
pids=()
pack() {  # NAME TARGET OPTION...
  [ -f "$folder/$1.pt2" ] && return
  PYTHONPATH=harness/pack python3 -m aotifuzz_pack "$2" -o "$folder/$1.pt2" "${@:3}" &
  pids+=($!)
}
pack embedding_mlp tests/gpu/models.py:embedding_mlp
for model in computed_index running_index custom_operator; do pack "$model" "tests/support/explain_models.py:$model"; done
pack logarithm tests/support/explain_models.py:logarithm --config nan_asserts=True
for pid in "${pids[@]}"; do wait "$pid" || failed+=("pack"); done

explain() { "$bundle/bin/aotifuzz" explain "$@" 2>&1 || true; }
expect() {  # NAME PATTERN LOG MODEL: the row must be named
  local text
  text=$(explain "$3" --package "$folder/$4.pt2")
  echo "$text" | head -n 14
  [[ $text == *"[$2]"* ]] || failed+=("$1: not recognised as $2: see $3")
}

# Runs Python with PACKAGE, keeps what it and the driver print, and wants it recognised as PATTERN.
error() {  # NAME PATTERN MODEL; the program comes on stdin
  local log=$folder/explain-$1.log
  say "$1"
  python3 - "$folder/$3.pt2" >"$log" 2>&1 || true
  expect "$1" "$2" "$log" "$3"
}

error index index-out-of-bounds embedding_mlp <<'EOF'
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(4, 7, 16, device="cuda"), torch.full((4, 7), 100, device="cuda"))
torch.cuda.synchronize()
EOF
error computed-index index-out-of-bounds computed_index <<'EOF'
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(3, 4, device="cuda"), torch.ones(4, 5, device="cuda"))
torch.cuda.synchronize()
EOF
AOTI_RUNTIME_CHECK_INPUTS=1 error input-device input-device embedding_mlp <<'EOF'
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(4, 7, 16), torch.ones(4, 7, dtype=torch.int64, device="cuda"))
EOF
AOTI_RUNTIME_CHECK_INPUTS=1 error input-size input-size embedding_mlp <<'EOF'
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(4, 7, 15, device="cuda"), torch.ones(4, 7, dtype=torch.int64, device="cuda"))
EOF
error wrong-device device-mismatch embedding_mlp <<'EOF'
import torch
torch.sum(torch.ones(20, device="cuda"), dim=[0], out=torch.ones(1))
EOF
error mixed-devices device-mismatch embedding_mlp <<'EOF'
import torch
torch.ones(4, device="cuda") @ torch.ones(4, 4)
EOF
error illegal-access illegal-memory-access embedding_mlp <<'EOF'
import pathlib, sys, tempfile, torch
# Triton reads a kernel's source from its file.
source = pathlib.Path(tempfile.mkdtemp()) / "stray.py"
source.write_text("""
import triton, triton.language as tl
@triton.jit
def stray(p):
    tl.store(p + (1 << 42) + tl.arange(0, 16), 1.0)
""")
sys.path.insert(0, str(source.parent))
from stray import stray
stray[(1,)](torch.ones(16, device="cuda"))
torch.cuda.synchronize()
EOF
error out-of-memory out-of-memory embedding_mlp <<'EOF'
import torch
torch.empty(1 << 50, device="cuda")
EOF
error nan nan logarithm <<'EOF'
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.full((3, 3), float("nan"), device="cuda"))
torch.cuda.synchronize()
EOF
error no-operator missing-operator custom_operator <<'EOF'
import sys, torch
torch._inductor.aoti_load_package(sys.argv[1])(torch.ones(5, 3, device="cuda"))
EOF

say "with package and case"
case=$folder/explain-case.txt
steps() {  # NAME MODEL TEXT CASE-LINE...: the conclusion must say TEXT
  local text
  printf 'aotifuzz-case 1\n' >"$case"
  printf '%s\n' "${@:4}" >>"$case"
  text=$(explain --case "$case" --package "$folder/$2.pt2" --timeout 60s --reduce-runs 40)
  echo "$text" | sed -n '/^steps/,$p'
  [[ $text == *"$3"* ]] || failed+=("$1: does not say '$3'")
  [[ $text == *"not done: the package runs on the CPU"* ]] && failed+=("$1: the other allocators were not tried")
  return 0
}
steps overrun embedding_mlp "triton_poi_fused_add_embedding_0" 'input x f32[4,500,16] const(1.0)' 'input idx i64[4,3] const(1)'
steps index embedding_mlp "idx" 'input x f32[4,7,16] const(1.0)' 'input idx i64[4,7] const(100)'
steps right embedding_mlp "nothing goes wrong" 'input x f32[4,7,16] const(1.0)' 'input idx i64[4,7] const(1)'
steps nan logarithm "NaN" 'input x f32[3,3] const(-1.0)'

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
say "all passed"
