#!/usr/bin/env bash
# Everything that needs a GPU, in one command, on a machine that need not be able to build:
#
#   bash tests/gpu/run.sh BUNDLE [FOLDER] [SECONDS]
#
# BUNDLE: what `cmake --install build --prefix BUNDLE --strip` made; its CPU must run what was built. FOLDER: for packed models
# and findings (default: build/gpu). SECONDS: to fuzz beyond the contract (default 60). Needs a python3 with torch and CUDA, and g++.
# Tables on stdout; ends with 0 when all tests passed and each model gave what it must.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
[ $# -ge 1 ] || { echo "usage: bash tests/gpu/run.sh BUNDLE [FOLDER] [SECONDS]" >&2; exit 2; }
bundle=$(cd "$1" && pwd)
folder=${2:-build/gpu}
seconds=${3:-60}
mkdir -p "$folder"
rm -rf "$folder"/out-*

# The system's compiler: packages of another may not load.
export CXX=/usr/bin/g++ CC=/usr/bin/gcc
AOTIFUZZ_TORCH_LIB=$(python3 -c 'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parent / "lib")')
export AOTIFUZZ_TORCH_LIB LD_LIBRARY_PATH=$AOTIFUZZ_TORCH_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failed=()

say() { printf '[%s] %s\n' "$(date +%H:%M:%S)" "$*"; }

models=(embedding_mlp thin_matrix_product pooling_of_small_batches)
say "packing ${models[*]}"
pids=()
for model in "${models[@]}"; do
  [ -f "$folder/$model.pt2" ] && continue
  PYTHONPATH=harness/pack python3 -m aotifuzz_pack "tests/gpu/models.py:$model" -o "$folder/$model.pt2" &
  pids+=($!)
done

# Each with one fault in one kernel: more of them than fit are packed one after the other.
plants=(constant operands reduction_length wrong_function tail index_of_the_tile)
for plant in "${plants[@]}"; do
  PYTHONPATH=harness/pack python3 -m aotifuzz_pack "tests/gpu/planted.py:$plant" -o "$folder/planted-$plant.pt2" >"$folder/planted-$plant.log" 2>&1 &
  pids+=($!)
done

say "tests of allocator, launches and runs"
"$bundle/bin/test_worker_cuda" --gtest_brief=1 || failed+=("test_worker_cuda")
for pid in "${pids[@]}"; do wait "$pid" || failed+=("pack"); done

say "planted faults"
"$bundle/bin/aotifuzz" doctor || failed+=("doctor")

say "what the packages are"
"$bundle/bin/aotifuzz" inspect "$folder/embedding_mlp.pt2" | head -n 20 || failed+=("inspect")

fuzz() {  # MODEL NAME OPTION...: must end without faults; a campaign of that name that is there goes on
  local model=$1 out=$folder/out-$1-$2 status=0
  shift 2
  say "fuzzing $model: $*"
  "$bundle/bin/aotifuzz" fuzz "$folder/$model.pt2" --out "$out" "$@" 2>"$out.log" || status=$?
  [ "$status" = 0 ] || failed+=("fuzz $model $* ended with $status: see $out.log")
}
# What lies inside the contract must raise no alarm.
for model in "${models[@]}"; do fuzz "$model" legal --generator shapes --cases 10000 --reduce-runs 0 --no-sanitize; done
say "several calls of a loaded package, many runs, other weights"
for model in "${models[@]}"; do fuzz "$model" sequences --generator sequences --cases 1000 --reduce-runs 0 --no-sanitize; done
say "every kernel of legal cases judged"
for model in "${models[@]}"; do
  "$bundle/bin/aotifuzz" inspect "$folder/$model.pt2" --kernels
  fuzz "$model" legal --generator shapes --cases 2000 --per-kernel 1 --seed 2 --reduce-runs 0 --no-sanitize
done

say "faults planted into Triton kernels"
for plant in "${plants[@]}"; do
  planted=$(sed -n 's/^planted: //p' "$folder/planted-$plant.log" | sort -u)
  [ -n "$planted" ] || failed+=("$plant found no place in the kernels of embedding_mlp")
  out=$folder/out-planted-$plant
  rm -rf "$out"
  "$bundle/bin/aotifuzz" fuzz "$folder/planted-$plant.pt2" --out "$out" --generator shapes --cases 200 --per-kernel 1 --reduce-runs 0 --no-sanitize >"$out.txt" 2>&1 || true
  named=$(sed -n 's/^| kernel | \(.*\) |$/\1/p' "$out"/findings/[!g]*/report.md | sort | uniq -c | sort -rn || true)
  echo "$plant: planted in $planted; named: $(tr -s ' \n' ' ' <<<"$named")"
  [[ $named == *"$planted"* ]] || failed+=("the fault $plant in $planted was not found or named: see $out.txt")
done

say "a trace"
"$bundle/bin/aotifuzz" trace "$folder/embedding_mlp.pt2" --level stats || failed+=("trace")

fuzz embedding_mlp all --for "${seconds}s"
# Each of them: its kernel, and the buffer that the sanitizer's address lies beside.
kernels=$(grep -h '"launch' "$folder"/out-embedding_mlp-all/findings/gap-memory-fault-*/finding.json | sort | uniq -c || true)
say "kernels that the memory faults of embedding_mlp are pinned to:"
echo "$kernels"
[[ $kernels == *"launch 1: triton_poi_fused_add_embedding_0"* ]] || failed+=("no memory-fault was pinned to the embedding kernel")
first=$(ls -d "$folder"/out-embedding_mlp-all/findings/gap-memory-fault-* | head -n 1 || true)
replayed=$("$bundle/bin/aotifuzz" replay "$first" 2>&1 || true)
echo "$replayed" | head -n 5
[[ $replayed == *"still fails"* ]] || failed+=("$first does not replay")

if command -v compute-sanitizer >/dev/null || [ -x /usr/local/cuda/bin/compute-sanitizer ]; then
  say "buffers that they name"
  reasons=$(grep -h '"reason"' "$folder"/out-embedding_mlp-all/findings/gap-memory-fault-*/finding.json || true)
  echo "$reasons"
  [[ $reasons == *"past the end of input"* ]] || failed+=("no memory-fault names the input that it overran")
  say "the first of them under compute-sanitizer"
  status=0
  "$bundle/bin/aotifuzz" sanitize "$first" || status=$?
  [ "$status" = 1 ] || failed+=("sanitize $first ended with $status: it must see the stray access")
fi

say "figures"
plain=$folder/plain-case.txt bad=$folder/bad-case.txt
printf 'aotifuzz-case 1\ninput x f32[4,7,16] normal(0.0,1.0,seed=1)\ninput idx i64[4,7] ints(0,99,seed=2)\n' >"$plain"
printf 'aotifuzz-case 1\ninput x f32[4,500,16] normal(0.0,1.0,seed=1)\ninput idx i64[4,3] ints(0,99,seed=2)\n' >"$bad"
bench() { timeout 300 "$bundle/bin/worker_bench" "$@" || failed+=("worker_bench $1"); }
echo "guard allocator: $(bench cost "$folder/embedding_mlp.pt2" "$plain" 5 guard)"
echo "kernels judged:  $(bench kernels "$folder/embedding_mlp.pt2" "$plain" 9)"
bench modes "$folder/embedding_mlp.pt2" "$plain" 6
echo "recovery:        $(bench recovery "$folder/embedding_mlp.pt2" "$plain" "$bad" 20)"

say "two campaigns on one GPU"
pids=()
for k in 1 2; do
  rm -rf "$folder/out-pair-$k"
  "$bundle/bin/aotifuzz" fuzz "$folder/embedding_mlp.pt2" --generator shapes --for 15s --out "$folder/out-pair-$k" \
    >"$folder/pair-$k.txt" 2>"$folder/pair-$k.log" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || failed+=("one of two campaigns on one GPU"); done
grep -h 'cases in' "$folder"/pair-?.txt || true

say "a device whose memory is taken"
python3 - <<'EOF' &
import time, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(free - (4 << 30), 0), dtype=torch.uint8, device="cuda")
time.sleep(600)
EOF
hog=$!
sleep 15
big=$folder/big-case.txt
printf 'aotifuzz-case 1\ninput x f32[4,4000000,16] const(0.0)\ninput idx i64[4,4000000] const(1)\n' >"$big"
taken=$("$bundle/bin/aotifuzz" replay "$big" --package "$folder/embedding_mlp.pt2" --times 1 --timeout 120s 2>&1 || true)
echo "$taken" | head -n 8
[[ $taken == *"out-of-memory"* && $taken == *"not judged"* ]] || failed+=("no memory: the case does not end as out of memory")
[[ $taken != *": fail:"* ]] || failed+=("no memory: a fault was reported")
fuzz embedding_mlp taken --generator shapes --cases 300 --reduce-runs 0
kill "$hog"
wait "$hog" || true

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
say "all passed"
