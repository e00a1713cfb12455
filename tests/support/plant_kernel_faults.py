"""Plants one fault in the C++ kernels of a CPU package and builds it again, with the package's own commands.

    plant_kernel_faults.py PACKAGE --list                       what can be changed, as JSON lines
    plant_kernel_faults.py PACKAGE OUT --operator NAME --seed N one of that operator's places, picked by the seed;
      [--kernel TEXT] [--line TEXT]     only of kernels with this text in their name, on lines that hold this text
    plant_kernel_faults.py PACKAGE OUT --index N                that entry of the list
    plant_kernel_faults.py PACKAGE OUT --none                   built again unchanged: what shows that building changes nothing

Prints what was planted as one line of JSON. Exit codes: 0 planted, 2 no such place, 3 it does not build.
"""

import argparse
import json
import random
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kernel_faults import operators, rebuild, source  # noqa: E402


def pick(plants, operator, kernel, line, seed):
    """One place of this operator: first the kernel, then the place, so that long kernels do not take all."""
    plants = [p for p in plants if operator in (None, p.operator) and kernel in p.kernel and line in p.old]
    if not plants:
        return None
    random_ = random.Random(seed)
    kernel = random_.choice(sorted({plant.kernel for plant in plants}))
    return random_.choice([plant for plant in plants if plant.kernel == kernel])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--none", action="store_true")
    parser.add_argument("--operator", choices=list(operators.OPERATORS))
    parser.add_argument("--kernel", default="")
    parser.add_argument("--line", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=int)
    parser.add_argument("--cache", default=str(Path(tempfile.gettempdir()) / "aotifuzz-planted"))
    given = parser.parse_args()

    package = source.read_package(given.package)
    plants = operators.plants_of(package.kernel_text)
    if given.list:
        for index, plant in enumerate(plants):
            print(json.dumps({"index": index, **asdict(plant)}))
        return 0
    if given.out is None:
        parser.error("OUT is needed, or --list")
    plant = None
    if not given.none:
        plant = plants[given.index] if given.index is not None else pick(plants, given.operator, given.kernel, given.line, given.seed)
        if plant is None:
            print(f"error: {given.operator} finds no place\n  where: {given.package}\n  what to do: see --list", file=sys.stderr)
            return 2
    text = plant.apply(package.kernel_text) if plant else package.kernel_text
    try:
        rebuild.rebuild(package, text, given.out, given.cache)
    except rebuild.BuildError as error:
        print(f"error: {error}\n  where: {given.package}\n  what to do: take another place", file=sys.stderr)
        return 3
    print(json.dumps(asdict(plant) if plant else None))
    return 0


if __name__ == "__main__":
    sys.exit(main())
