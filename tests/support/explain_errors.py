"""Real errors of torch that reach a log from Python, each under a line `== NAME`: python explain_errors.py PACKAGE, where PACKAGE
is the packed model example.embedding_mlp. For tests/e2e/explain_test.cpp."""
import ctypes
import logging
import os
import subprocess
import sys
import tempfile
import warnings

import torch

warnings.simplefilter("ignore")


def section(name, action):
    print("==", name, flush=True)
    try:
        action()
    except BaseException as error:  # whatever it is, it is what the log would say
        print(f"{type(error).__name__}: {error}", flush=True)


def no_fake():
    library = torch.library.Library("explain_lab", "DEF")
    library.define("nofake(Tensor x) -> Tensor")
    library.impl("nofake", lambda x: x.clone(), "CPU")

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.ops.explain_lab.nofake(x)

    torch.export.export(Model(), (torch.ones(3),))


def halves(library):
    """A model of an operator in Python whose fake promises one row too many."""
    halve = torch.library.custom_op(f"{library}::halve", lambda x: x[: x.shape[0] // 2].clone(), mutates_args=(), schema="(Tensor x) -> Tensor")
    halve.register_fake(lambda x: x.new_empty((x.shape[0] // 2 + 1, *x.shape[1:])))

    class Model(torch.nn.Module):
        def forward(self, x):
            return halve(x * 2) + 1

    return Model()


def wrong_fake():
    torch.compile(halves("explain_fake"))(torch.ones(8, 3))


def python_operator():
    """The package in a process that has not imported the operator, as a program in C++ never has."""
    program = torch.export.export(halves("explain_python"), (torch.ones(8, 3),))
    with tempfile.TemporaryDirectory() as folder:
        package = torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/model.pt2")
        load = f"import torch; torch._inductor.aoti_load_package({package!r})(torch.ones(8, 3))"
        print(subprocess.run([sys.executable, "-W", "ignore", "-c", load], capture_output=True, text=True).stderr)


def data_dependent():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x + 1 if int(x.sum().item()) == 5 else x

    torch.export.export(Model(), (torch.ones(3),))


def constraint():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(4)

    torch.export.export(Model(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim("n", min=1, max=64)},))


def program_refuses():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x + 1

    program = torch.export.export(Model(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim("n", min=3, max=64)},))
    program.module()(torch.ones(65))


def deprecated():
    logging.getLogger("torch").addHandler(logging.StreamHandler(sys.stdout))
    try:
        torch._export.aot_load("/nowhere.so", "cpu")
    except RuntimeError:
        pass  # the warning is what this is about


def too_few():
    torch._inductor.aoti_load_package(sys.argv[1])(torch.ones(4, 7, 16))


def cut_short():
    with open(sys.argv[1], "rb") as whole, tempfile.NamedTemporaryFile(suffix=".pt2") as part:
        part.write(whole.read()[:100_000])
        part.flush()
        torch._inductor.aoti_load_package(part.name)


def checked(x, idx):
    """A call with input checks, in a process of its own: some versions ask the environment once in a process."""
    call = f"import torch; torch._inductor.aoti_load_package({sys.argv[1]!r})({x}, {idx})"
    environment = dict(os.environ, AOTI_RUNTIME_CHECK_INPUTS="1")
    print(subprocess.run([sys.executable, "-W", "ignore", "-c", call], env=environment, capture_output=True, text=True).stderr)


section("custom-op-no-fake", no_fake)
section("custom-op-fake", wrong_fake)
section("size-or-stride", lambda: torch._C._dynamo.guards.assert_size_stride(torch.ones(4, 3), (5, 3), (3, 1)))
section("data-dependent", data_dependent)
section("export-constraint", constraint)
section("program-refuses", program_refuses)
section("wrong-numbers", lambda: torch.testing.assert_close(torch.ones(3), torch.ones(3) + 1e-2))
section("index-out-of-bounds-in-aten", lambda: torch.nn.functional.embedding(torch.tensor([7]), torch.ones(4, 2)))
section("missing-library", lambda: ctypes.CDLL("libnobody_has_this.so"))
section("missing-operator", lambda: torch.ops.explain_lab.nobody(torch.ones(3)))
section("hang", lambda: subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2))
section("out-of-memory", lambda: torch.empty(1 << 50))
section("deprecated-api", deprecated)
section("input-count", too_few)
section("package-not-found", lambda: torch._inductor.aoti_load_package("/nowhere/model.pt2"))
section("package-damaged", cut_short)
section("input-device", lambda: checked('torch.ones(4, 7, 16, device="meta")', "torch.zeros(4, 7, dtype=torch.int64)"))
if torch.__version__ >= "2.13":  # older packages have no such checks, and would read past the end
    section("input-layout", lambda: checked("torch.ones(4, 7, 16)", "torch.zeros(4, 9, dtype=torch.int64)"))
if torch.__version__ >= "2.15":  # older ones say no more than that the operator is missing
    section("python-custom-op", python_operator)
print("== end", flush=True)
