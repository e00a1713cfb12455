#!/usr/bin/env bash
# `aotifuzz gate --device cuda:0` on operators with CUDA kernels, right ones and planted faults, on a machine that need not be
# able to build aotifuzz:
#
#   bash tests/gpu/gate.sh PROGRAMS [FOLDER]
#
# PROGRAMS: the folder of aotifuzz and aotifuzz-gate-worker-cuda, or a bundle that has them in bin/. FOLDER: for the library
# and the results (default: a new one below /tmp). Needs nvcc, g++ and a python3 with the torch that the programs were built for.
# Prints a line a check; ends with 0 when each operator got the verdict that tests/support/gate_ops/cuda_ops.cpp expects.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 1 ] || { echo "usage: bash tests/gpu/gate.sh PROGRAMS [FOLDER]" >&2; exit 2; }
programs=$(cd "$1" && pwd)
[ -x "$programs/aotifuzz" ] || programs=$programs/bin
[ -x "$programs/aotifuzz-gate-worker-cuda" ] || { echo "no aotifuzz-gate-worker-cuda in $programs" >&2; exit 3; }
folder=${2:-$(mktemp -d /tmp/aotifuzz-gate.XXXXXX)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
sources=$repo/tests/support/gate_ops
failed=()

say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }
check() {  # NAME STATUS-OF-THE-CHECK WORDS
  if [ "$2" = 0 ]; then echo "ok      $1"; else echo "FAILED  $1: ${3:-}"; failed+=("$1"); fi
}

torch=$(python3 -c 'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parent)')
export AOTIFUZZ_TORCH_LIB=$torch/lib LD_LIBRARY_PATH=$torch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
compiler=$([ -x /usr/bin/g++ ] && echo /usr/bin/g++ || command -v g++)
# The runtime that torch itself has loaded: another copy would keep its errors to itself.
cudart=$(find -L "$torch/../nvidia" "$(dirname "$nvcc")/.." -name 'libcudart.so.*' 2>/dev/null | head -n 1 || true)

say "building the operators: $nvcc, $compiler, $cudart"
cuda_flags=(-ccbin "$compiler" -std=c++17 -O1 -lineinfo -Xcompiler -fPIC -Xcompiler -g)
: >"$folder/nvcc.log"
compile() { "$nvcc" "${cuda_flags[@]}" "$@" -c "$sources/cuda_ops.cu" -o "$folder/kernels.o" >>"$folder/nvcc.log" 2>&1; }
# An older nvcc cannot ask the GPU, and one of a package may have no headers of its own.
compile -arch=native || compile || compile "-I$torch/../nvidia/cu13/include" ||
  { cat "$folder/nvcc.log"; check "the kernels compile" 1 "see above"; exit 1; }
"$compiler" -std=c++20 -g -O1 -fPIC -shared -D_GLIBCXX_USE_CXX11_ABI=1 -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  "$sources/cuda_ops.cpp" "$folder/kernels.o" -o "$folder/libcuda_ops.so" -L"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -ltorch_cuda -lc10 -lc10_cuda \
  "${cudart:--lcudart}" -Wl,-rpath,"$torch/lib:$(dirname "${cudart:-$torch}")" >"$folder/link.log" 2>&1 ||
  { tail -n 40 "$folder/link.log"; check "the library links" 1 "see above"; exit 1; }
check "the library of operators is built" 0

gate() {  # NAME OPTION...: leaves NAME.json, NAME.log and NAME.code
  local name=$1 code=0
  shift
  timeout 420 "$programs/aotifuzz" gate --ops "$folder/libcuda_ops.so" --json "$folder/$name.json" --timeout 30s "$@" >"$folder/$name.txt" 2>"$folder/$name.log" || code=$?
  echo "$code" >"$folder/$name.code"
}

say "judging them on cuda:0"
gate spec --spec "$sources/cuda_ops.spec" --device cuda:0
[ -s "$folder/spec.json" ] || { tail -n 20 "$folder/spec.log"; check "the gate says something" 1 "exit code $(cat "$folder/spec.code"), see $folder/spec.log"; exit 1; }
cat "$folder/spec.txt"
code=$(cat "$folder/spec.code")
check "exit code 1 for faults" "$([ "$code" = 1 ] && echo 0 || echo 1)" "it is $code"

# Each operator's verdict, a line each as "ok" or "FAILED".
python3 - "$folder/spec.json" "$sources/cuda_ops.cpp" >"$folder/verdicts.txt" <<'EOF'
import json, re, sys

result = json.load(open(sys.argv[1]))
by_name = {op["name"]: op for op in result["operators"]}
expected = re.findall(r"EXPECT (\S+) (\S+)(?: (\S+))?$", open(sys.argv[2]).read(), re.M)


def say(good, name, words):
    print(f"{'ok     ' if good else 'FAILED '} {name}: {words}")


for short, status, kind in expected:
    op = by_name.get("gpu::" + short)
    if op is None:
        say(False, short, "was not looked at")
        continue
    kinds = [fault["kind"] for fault in op["faults"]]
    words = f"{op['status']} {' '.join(kinds)} ({op['points']} points, {op['seconds']:.1f} s)"
    for fault in op["faults"]:
        words += f"\n          {fault['kind']}: {fault['message']}"
    if op["reason"]:
        words += "\n          " + op["reason"]
    for one in op["notes"]:
        words += "\n          note: " + one
    say(op["status"].replace(" ", "-").replace("_", "-") == status and kinds == ([kind] if kind else []), short, words)

missing = sorted(set(by_name) - {"gpu::" + short for short, _, _ in expected})
say(not missing, "nothing else", ", ".join(missing) or f"{len(expected)} operators")
host = by_name.get("gpu::on_the_host", {}).get("reason", "")
say("no CUDA kernel" in host, "the reason of on_the_host", host)
right = by_name.get("gpu::scale", {})
say(right.get("points", 0) > 30, "points of scale", right.get("points"))
past = [fault["message"] + str(fault.get("also", "")) for fault in by_name.get("gpu::writes_past", {}).get("faults", [])]
say(any("past the end of" in text or "illegal memory access" in text for text in past), "words of writes_past", past)
wild = [fault["message"] for fault in by_name.get("gpu::writes_wildly", {}).get("faults", [])]
say(any("illegal memory access" in text for text in wild), "words of writes_wildly", wild)
EOF
cat "$folder/verdicts.txt"
while read -r line; do failed+=("$line"); done < <(sed -n 's/^FAILED *//p' "$folder/verdicts.txt")

say "without a spec"
gate alone --device cuda:0 --only gpu::scale --only gpu::row_sums --only gpu::leaves_tail
check "right operators alone are ok, an unwritten tail is a fault" \
  "$(python3 -c 'import json, sys; by = {o["name"]: o for o in json.load(open(sys.argv[1]))["operators"]}; print(int(not (by["gpu::scale"]["status"] == by["gpu::row_sums"]["status"] == "ok" and [f["kind"] for f in by["gpu::leaves_tail"]["faults"]] == ["kernel-unwritten"])))' "$folder/alone.json" || echo 1)" "see $folder/alone.json"

say "on the CPU, and on a GPU that is not there"
gate cpu --spec "$sources/cuda_ops.spec" --only gpu::scale --only gpu::on_the_host
check "on the CPU kernels of CUDA are not judged" "$(grep -q 'no CPU kernel' "$folder/cpu.json" && echo 0 || echo 1)" "see $folder/cpu.json"
gate absent --device cuda:99
check "cuda:99 ends with exit code 3 and says why" \
  "$([ "$(cat "$folder/absent.code")" = 3 ] && grep -q 'no such device' "$folder/absent.log" && echo 0 || echo 1)" "exit code $(cat "$folder/absent.code"): $(head -n 3 "$folder/absent.log")"

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  echo "the results are in $folder"
  exit 1
fi
say "all passed"
