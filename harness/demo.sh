#!/usr/bin/env bash
# From a bare machine to a real compiler fault: sets up, builds, packs the example models, fuzzes one for a minute.
#
#   bash harness/demo.sh [FOR]        FOR: how long to fuzz, default 60s
#
# The model is an exposure meter that reads the darkest pixel of a frame wrongly (corpus/models/example.py): so compiled by
# every torch from 2.11 to 2.15. AOTIFUZZ_TORCH chooses which, as in setup.sh.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$repo"
time_to_fuzz=${1:-60s}
[[ $# -le 1 && $time_to_fuzz =~ ^[0-9]+(ms|s|m|h)$ ]] ||
  fail "not a duration" "bash harness/demo.sh $*" "give how long to fuzz, as in: bash harness/demo.sh 60s"

setup
build aotifuzz aotifuzz-worker

say "packing the example models (a minute the first time)"
pack --all corpus/models/example.py -o "$build_folder/models"

build=${build_folder#"$repo"/}
package=$build/models/example.exposure_meter.pt2
say "fuzzing $package for $time_to_fuzz"
rm -rf demo-out  # a second run with the same folder would rightly report nothing that it knows
status=0
"$build/aotifuzz" fuzz "$package" --for "$time_to_fuzz" --out demo-out || status=$?
case $status in
  1) ;;
  0) fail "no fault was found, though every torch from 2.11 to 2.15 has one here (this is $torch)" "$package" \
    "delete demo-out and give it more time: bash harness/demo.sh 5m" ;;
  *) fail "aotifuzz ended with exit code $status" "the output above" "read the error above; 'rm -rf $build demo-out' and a second run start afresh" ;;
esac

fault=$(find demo-out/findings -mindepth 1 -maxdepth 1 -type d ! -name 'gap-*' | sort | head -n 1)
say "that is a real fault of torch $torch: ${fault##*/}, reduced to the smallest case that shows it"
printf '\nTo see it fail again:\n\n  %s/aotifuzz replay %s\n\n' "$build" "$fault"
