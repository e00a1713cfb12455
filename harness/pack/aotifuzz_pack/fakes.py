"""python -m aotifuzz_pack.fakes: runs operators' Python fakes for the gate, which starts it (harness/gate/fake_server.h).

Loads libraries, imports modules, says what operators they define, and forks a process for each operator that is to be
judged: one that a fake ends, or hangs in, takes nobody with it. A fork so late that torch is loaded costs milliseconds.

On the control socket, a JSON object a line:
    ->  {"torch": version}, once torch is imported and warm; waits for a line before it goes on
    ->  {"modules": {name: error or ""}, "libraries": ..., "operators": {name: ...}}
    <-  a byte with a socket (SCM_RIGHTS): a process of its own serves it
On such a socket requests and answers as in fake_calls.py; a last line {"died": how} where the process did not end by itself.
"""

import argparse
import ctypes
import importlib
import importlib.util
import inspect
import json
import os
import re
import select
import signal
import socket
import sys
import traceback

PR_SET_PDEATHSIG = 1
LOOK_MS = 50


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def send(sock, message):
    sock.sendall(json.dumps(message).encode() + b"\n")


def error_text(error):
    """With the line of the user's that raised it: the last one that is not importlib's."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename and os.path.basename(f.filename) != "fakes.py"]
    words = " ".join(traceback.format_exception_only(type(error), error)[-1].split())[:400]
    return words + (f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else "")


def load_library(path):
    """Once by name: the library that is judged takes the place of the copy that the module would load."""
    import torch

    ask = torch.ops.load_library
    loaded = {os.path.basename(path)}
    ask(path)

    def unless_loaded(other):
        if os.path.basename(str(other)) not in loaded:
            ask(other)

    torch.ops.load_library = unless_loaded


def import_module(name):
    if not name.endswith(".py"):
        importlib.import_module(name)
        return
    path = os.path.abspath(name)
    sys.path.insert(0, os.path.dirname(path))
    stem = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    spec.loader.exec_module(module)


def unwrapped(function):
    """What the user wrote, under the wrappers that torch's register_fake puts around it."""
    import torch

    function = inspect.unwrap(function)
    torchs = os.path.join(os.path.dirname(torch.__file__), "")
    while getattr(function, "__closure__", None) and function.__code__.co_filename.startswith(torchs):
        inner = dict(zip(function.__code__.co_freevars, function.__closure__))
        cell = inner.get("func") or inner.get("fn")
        if cell is None or not callable(cell.cell_contents):
            break
        function = inspect.unwrap(cell.cell_contents)
    return function


def definition_of(function):
    """File and line of its `def`."""
    function = unwrapped(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    line = code.co_firstlineno
    try:
        for number, text in enumerate(inspect.getsourcelines(function)[0]):
            if re.match(r"\s*(async\s+)?def\b", text):
                line += number
                break
    except (OSError, TypeError):
        pass
    return {"file": os.path.abspath(code.co_filename), "line": line, "function": code.co_name}


def registered_at(name, key):
    """Where the dispatcher says that the kernel for `key`, or for None the schema, is registered."""
    import torch

    for line in torch._C._dispatch_dump(name).splitlines():
        if line.startswith("debug:" if key is None else f"{key}:"):
            found = re.search(r"registered at (\S+?):(\d+)", line)
            if found:
                return found.group(1), int(found.group(2))
    return "", 0


def describe(name):
    import torch
    from torch._library import custom_ops, simple_registry

    has = lambda key: torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    op = getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
    entry = simple_registry.singleton.find(name).fake_impl
    composite = has("CompositeImplicitAutograd") or has("CompositeExplicitAutograd")
    out = {"schema": str(op._schema), "python": registered_at(name, None)[0].endswith(".py"), "place": {}}
    defined = custom_ops.OPDEFS.get(name)
    out["fake"] = entry.kernel is not None or has("Meta") or has("CompositeImplicitAutograd")
    out["kernel"] = has("CPU") or composite
    if defined is not None:
        trivial = not op._schema.returns and torch._library.utils.can_generate_trivial_fake_impl(op)
        out["fake"] = defined._abstract_fn is not None or trivial
        out["place"] = definition_of(defined._abstract_fn or defined._init_fn)
        out["kernel_place"] = definition_of(defined._init_fn)
    elif entry.kernel is not None:
        out["place"] = definition_of(entry.kernel.func)
    if not out["place"]:
        file, line = registered_at(name, "Meta")
        out["place"] = {"file": file, "line": line, "function": ""} if line else {}
    return out


def get_ready(args):
    """Libraries and modules, and what they define."""
    import torch

    modules, libraries = {}, {}
    for path in args.library:
        try:
            load_library(path)
        except BaseException as error:
            libraries[path] = error_text(error)
    before = set(torch._C._dispatch_get_all_op_names())
    for name in args.module:
        try:
            import_module(name)
            modules[name] = ""
        except BaseException as error:
            modules[name] = error_text(error)
    new = set(torch._C._dispatch_get_all_op_names()) - before
    operators = {}
    for name in sorted(new | set(args.operator)):
        try:
            operators[name] = describe(name)
        except Exception as error:
            operators[name] = {"error": error_text(error)}
    return {"modules": modules, "libraries": libraries, "operators": operators}


def warm_up():
    """What torch imports at its first calls, once and not in each fork."""
    import torch

    from .fake_calls import Call

    tensor = {"dtype": "Float", "sizes": [[0, 1, 0], [1, 1, 0]], "values": "any", "limit": [-1, 1, 0], "constant": 0}
    arguments = [{"kind": "tensor", "tensors": [tensor]}]
    for kind in ("symbolic", "meta", "kernel"):
        request = {"kind": kind, "values": [7, 11], "names": ["a", "b"], "least": [0, 0], "layout": "gaps", "seed": 0}
        Call(torch.ops.aten.relu.default, request | {"arguments": arguments}).run()


def serve_operator(sock):
    import torch

    from .fake_calls import Call

    for line in sock.makefile("rb"):
        request = json.loads(line)
        namespace, _, rest = request["op"].partition("::")
        packet, _, overload = rest.partition(".")
        op = getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
        try:
            answer = Call(op, request).run()
        except Exception as error:  # ours, and no fault of the operator's
            answer = {"not_followed": error_text(error)}
        send(sock, answer | {"id": request.get("id")})


def how_it_ended(status):
    if os.WIFSIGNALED(status):
        return signal.strsignal(os.WTERMSIG(status))
    return f"exit code {os.WEXITSTATUS(status)}"


def serve(control):
    serving = {}  # socket by process
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        events = poll.poll(LOOK_MS)
        for fd, event in events:
            if fd == control.fileno():
                data, fds, _, _ = socket.recv_fds(control, 1, 1)
                if not data:
                    return
                start(control, socket.socket(fileno=fds[0]), serving, poll)
            else:  # whoever asked is gone, and its process may hang
                for pid, sock in serving.items():
                    if sock.fileno() == fd:
                        os.kill(pid, signal.SIGKILL)
        for pid in list(serving):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done == 0:
                continue
            sock = serving.pop(pid)
            poll.unregister(sock)
            try:
                if status != 0:
                    send(sock, {"died": how_it_ended(status)})
            except OSError:
                pass  # nobody listens any more
            sock.close()


def start(control, sock, serving, poll):
    parent = os.getpid()
    pid = os.fork()
    if pid:
        serving[pid] = sock
        poll.register(sock, 0)
        return
    die_with_parent()
    code = 70
    try:
        if os.getppid() == parent:
            control.close()
            for other in serving.values():
                other.close()
            serve_operator(sock)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main():
    parser = argparse.ArgumentParser(description="Runs Python fakes; started by `aotifuzz gate --fakes`.")
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--operator", action="append", default=[])
    args = parser.parse_args()
    die_with_parent()
    control = socket.socket(fileno=args.control)
    os.dup2(2, 1)
    try:
        import torch
    except Exception as error:
        send(control, {"error": f"torch cannot be imported: {error_text(error)}"})
        return
    torch.set_num_threads(1)
    # Before the modules, whose time is limited, and which this is none of.
    try:
        warm_up()
    except Exception:
        traceback.print_exc()
    send(control, {"torch": torch.__version__})
    if not control.recv(1):
        return
    hello = get_ready(args)
    send(control, hello)
    try:
        serve(control)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
