#!/usr/bin/env bash
# How long the gate takes: the libraries of planted and right operators, and fbgemm's CPU library, which is downloaded.
#
#   bash bench/gate.sh [BUILD]     prints one row a library: operators, points, seconds, ms per operator
#
# fbgemm-gpu-cpu 1.6.0 is built against torch 2.11.0: AOTIFUZZ_TORCH=2.11.0 bash harness/setup.sh builds that worker.

set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$repo/build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

row() {
  local name=$1 begin end code=0
  shift
  begin=$(date +%s%N)
  "$build/aotifuzz" gate "$@" --json "$folder/$name.json" >/dev/null || code=$?
  end=$(date +%s%N)
  [ "$code" -le 1 ] || return "$code"
  "$repo/.venv/bin/python" - "$folder/$name.json" "$name" $(((end - begin) / 1000000)) <<'PY'
import json, sys
ops = json.load(open(sys.argv[1]))["operators"]
ms = int(sys.argv[3])
by = {s: sum(o["status"] == s for o in ops) for s in ("ok", "faults", "not judged")}
print(f"| {sys.argv[2]} | {len(ops)} | {sum(o['points'] for o in ops)} | {ms / 1000:.1f} | {ms / len(ops):.0f} | "
      f"{by['ok']} / {by['faults']} / {by['not judged']} |")
PY
}

echo "| library | operators | points | seconds | ms an operator | ok / faults / not judged |"
echo "| --- | --- | --- | --- | --- | --- |"
sources=$repo/tests/support/gate_ops
row right --ops "$build/gate_ops/libgate_right_ops.so" --spec "$sources/right_ops.spec"
row planted --ops "$build/gate_ops/libgate_faulty_ops.so" --spec "$sources/faulty_ops.spec" --timeout 1s
"$repo/.venv/bin/python" -m pip download -q --disable-pip-version-check --no-deps fbgemm-gpu-cpu==1.6.0 -d "$folder"
"$repo/.venv/bin/python" -m zipfile -e "$folder"/fbgemm*.whl "$folder/fbgemm"
lib=$folder/fbgemm/fbgemm_gpu
export LD_LIBRARY_PATH=$lib
row fbgemm --torch 2.11.0 --ops "$lib/fbgemm_gpu_py.so" --load "$lib/asmjit.so" --load "$lib/fbgemm.so"
row fbgemm-spec --torch 2.11.0 --ops "$lib/fbgemm_gpu_py.so" --load "$lib/asmjit.so" --load "$lib/fbgemm.so" \
  --spec "$repo/corpus/op_specs/fbgemm_gpu.spec"
