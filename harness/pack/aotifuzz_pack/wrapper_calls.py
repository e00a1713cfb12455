"""Which functions the generated C++ wrapper calls, in order, and which buffers it hands to them.

Inductor's own names of library functions differ from the symbols that are called, and say nothing of positions: the
text of the wrapper is what the package does.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROXY = "aoti_torch_proxy_executor_call_function"

# Functions of the C interface that manage handles and compute no value of the graph.
_BOOKKEEPING = re.compile(
    r"aoti_torch_(get_|empty_strided|_?reinterpret_tensor|new_|delete_|assign_tensors|alloc_from_pool|_alloc_from_pool|"
    r"create_tensor|item_|scalar_to_tensor|dtype_|device_type_|layout_|memory_format_|check|warn|print_|save_|"
    r"grad_mode|zero_|as_strided|clone_preserve|is_|storage|tensor_copy|cpu_wrapped_fbgemm|update_)"
)


@dataclass
class Handed:
    """A tensor among the arguments of a call."""

    at: int
    buffer: str
    is_result: bool = False  # the address of a handle that the function fills in
    element: int | None = None  # position in an array of tensors
    is_view: bool = False


@dataclass
class WrapperCall:
    symbol: str
    kind: str  # cpp, shim, proxy, triton
    handed: list
    node_index: int | None = None


def read_calls(wrapper, kernels, buffers, triton=()):
    """Calls of the model's run function. `kernels` and `triton`: names of generated kernels; `buffers`: names of tensors."""
    kernels, triton, buffers = set(kernels), set(triton), set(buffers)
    local_variables, calls = {}, []
    for statement in _statements(_run_function(wrapper)):
        made = _call_in(statement, kernels, triton, buffers, local_variables)
        if made is not None:
            calls.append(made)
            continue
        assigned = re.match(r"(?:static |constexpr |const )*[\w:<>\*& ]+?[\s\*&](\w+)(?:\[\])? ?= ?(.+)", statement, re.S)
        if assigned:
            local_variables[assigned[1]] = assigned[2]
    return calls


def declared_kernels(wrapper):
    """Names of the generated C++ kernels that the wrapper declares."""
    return set(re.findall(r'extern "C"\s+void\s+(\w+)\s*\(', wrapper))


def _run_function(text):
    begin = text.rfind("AOTInductorModel::run_impl(")
    return _without_comments(text[begin:]) if begin >= 0 else ""


def _without_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', lambda m: m[0] if m[0].startswith('"') else " ", text, flags=re.S)


def _statements(text):
    depth, begin = 0, 0
    for index, letter in enumerate(text):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif depth == 0 and letter in ";{}":
            # Braces of an initialiser stay inside the statement: they follow a '=' or a '>'.
            statement = text[begin:index].strip()
            if letter == "{" and (statement.endswith("=") or statement.endswith(">")):
                continue
            if letter == "}" and "{" in text[begin:index]:
                continue
            if statement:
                yield statement
            begin = index + 1


def _call_in(statement, kernels, triton, buffers, local_variables):
    for found in re.finditer(r"\b(\w+)\s*\(", statement):
        name = found[1]
        plain = name.removeprefix("call_")
        if name in kernels:
            kind = "cpp"
        elif plain in triton:
            name, kind = plain, "triton"
        elif name == _PROXY:
            kind = "proxy"
        elif name.startswith("aoti_torch_") and not _BOOKKEEPING.match(name):
            kind = "shim"
        else:
            continue
        arguments = split_arguments(statement[found.end() :])
        if kind == "proxy":
            return WrapperCall(name, kind, _in_array(arguments[5], buffers, local_variables), int(arguments[1]))
        handed = []
        for at, argument in enumerate(arguments):
            handed += _handed(at, argument, buffers, local_variables)
        return WrapperCall(name, kind, handed)
    return None


def split_arguments(text):
    """The arguments of a call, from just after its opening parenthesis."""
    arguments, depth, begin = [], 0, 0
    for index, letter in enumerate(text):
        opens_template = letter == "<" and index and (text[index - 1].isalnum() or text[index - 1] == "_")
        closes_template = letter == ">" and index and text[index - 1] not in "-= "
        if letter in "([{" or opens_template:
            depth += 1
        elif letter in ")]}" or closes_template:
            if depth == 0:
                arguments.append(text[begin:index].strip())
                break
            depth -= 1
        elif letter == "," and depth == 0:
            arguments.append(text[begin:index].strip())
            begin = index + 1
    return [argument for argument in arguments if argument]


def _elements(argument):
    """The parts of an array written in place, or None."""
    array = re.match(r"(?:std::array|std::vector)<.*?>\s*\{", argument)
    return split_arguments(_closed(argument, array.end())) if array else None


def _closed(text, begin):
    """`text` from `begin`, with the brace that ends the array turned into the end of an argument list."""
    depth = 0
    for index in range(begin, len(text)):
        if text[index] in "{(":
            depth += 1
        elif text[index] in "})":
            if depth == 0:
                return text[begin:index] + ")"
            depth -= 1
    return text[begin:] + ")"


def _in_array(argument, buffers, local_variables):
    elements = _elements(_resolved(argument, local_variables)) or []
    handed = []
    for at, element in enumerate(elements):
        handed += _handed(at, element, buffers, local_variables)
    return handed


def _resolved(argument, local_variables):
    name = re.match(r"&?(\w+)(?:\.data\(\)|\.cbegin\(\))?$", argument)
    return local_variables.get(name[1], argument) if name else argument


def _handed(at, argument, buffers, local_variables, depth=0):
    elements = _elements(argument)
    if elements is not None:
        found = [_handed(at, element, buffers, local_variables) for element in elements]
        return [Handed(at, part.buffer, False, index, part.is_view) for index, parts in enumerate(found) for part in parts]
    is_view = "reinterpret_tensor" in argument
    for name in re.findall(r"\w+", argument):
        if name in buffers:
            return [Handed(at, name, is_view=is_view)]
        if name.removesuffix("_handle") in buffers:
            return [Handed(at, name.removesuffix("_handle"), is_result="&" in argument, is_view=is_view)]
        if name in local_variables and depth < 3:
            return _handed(at, local_variables[name], buffers, local_variables, depth + 1)
    return []


@cache
def shim_signatures():
    """C parameter types of each function of the C interface, from the headers that torch ships: name -> list."""
    import torch

    folder = Path(torch.__file__).parent / "include/torch/csrc/inductor/aoti_torch"
    signatures = {}
    for header in sorted([*folder.glob("c/*.h"), *folder.glob("generated/*.h")]):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", header.read_text(), flags=re.S)
        for name, parameters in re.findall(r"AOTITorchError\s+(aoti_torch_\w+)\s*\(([^;]*?)\)\s*;", text):
            signatures[name] = [_parameter_type(part) for part in parameters.split(",") if part.strip() not in ("", "void")]
        for name, parameters in re.findall(r"\bvoid\s+(aoti_torch_\w+)\s*\(([^;]*?)\)\s*;", text):
            signatures.setdefault(name, [_parameter_type(part) for part in parameters.split(",") if part.strip() not in ("", "void")])
    return signatures


def _parameter_type(text):
    text = " ".join(text.split())
    named = re.match(r"(.*[\s\*&])\w+$", text)
    return re.sub(r"\s*\*", "*", named[1] if named else text).strip()
