"""What a user would write in Python, timed: the other side of the figures in bench/run.sh.

  python_side.py bare PACKAGE SECONDS   -> us per package run and per eager run, fixed inputs, one thread
  python_side.py loop PACKAGE SECONDS   -> cases/s of Hypothesis + aoti_load_package + eager + assert_close

Prints one JSON object. The package must hold its ExportedProgram (aotifuzz_pack). Inputs are x f32[B,T,16] and i64[B,T],
those of corpus/models/example.py:embedding_mlp.
"""
import json
import sys
import time

import torch


def inputs(batch, length, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, length, 16, generator=g)
    index = torch.randint(0, 100, (batch, length), generator=g)
    return x, index


def bare(package, program, seconds):
    args = inputs(4, 7)
    result = {}
    for name, call in (("package_us", package), ("eager_us", program)):
        for _ in range(20):
            call(*args)
        best = float("inf")
        end = time.perf_counter() + seconds / 2
        while time.perf_counter() < end:
            start = time.perf_counter()
            for _ in range(50):
                call(*args)
            best = min(best, (time.perf_counter() - start) / 50)
        result[name] = best * 1e6
    return result


def loop(package, program, seconds):
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    done = 0
    end = None

    class Over(Exception):
        pass

    @settings(max_examples=10**6, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(batch=st.integers(2, 16), length=st.integers(2, 64), seed=st.integers(0, 2**31))
    def one_case(batch, length, seed):
        nonlocal done, end
        args = inputs(batch, length, seed)
        if end is None:
            end = time.perf_counter() + seconds
        torch.testing.assert_close(package(*args), program(*args))
        done += 1
        if time.perf_counter() > end:
            raise Over

    start = time.perf_counter()
    try:
        one_case()
    except Over:
        pass
    return {"cases": done, "cases_per_s": done / (time.perf_counter() - start)}


def main():
    mode, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch.set_num_threads(1)
    package = torch._inductor.aoti_load_package(path)
    program = torch.export.load(path).module()
    with torch.no_grad():
        print(json.dumps({"bare": bare, "loop": loop}[mode](package, program, seconds)))


main()
