"""The operators of change: each finds the places of a kernel where it can be applied, one line of source each.

A new operator is a function that takes a Line and yields the text that may stand in its place, and a row in OPERATORS.
"""

import re
from dataclasses import dataclass

from . import source

_FOR = re.compile(r"^( *)for\(int64_t (x\d+)=static_cast<int64_t>\(0L\); x\d+<(static_cast<int64_t>\(.*\)); x\d+\+=(.*)\)$")
_TMP = r"tmp\d+"
_INDEX = re.compile(r"(?:(in_ptr|out_ptr|in_out_ptr)\d+(?:\[| \+ ))static_cast<int64_t>\(")


@dataclass
class Line:
    """A line of a kernel, with the loops around it from the outside in: (variable, bound, step)."""

    text: str
    kernel: source.Kernel
    loops: list
    defined: dict  # tmp -> right-hand side, of the lines before it in its block


def _replaced(line, pattern, replacement):
    """Once for each match: the line with this match replaced."""
    for match in re.finditer(pattern, line.text):
        new = replacement(match) if callable(replacement) else match.expand(replacement)
        if new is not None:
            yield line.text[: match.start()] + new + line.text[match.end() :]


def _bound(change):
    def apply(line):
        match = _FOR.match(line.text)
        if match and "static_cast<int64_t>(1L)" in match[4]:
            yield line.text.replace(f"<{match[3]};", f"<{match[3]} {change} 1L;", 1)

    return apply


def _index_spans(text):
    """(begin, end) of the expression inside each index of the line."""
    for match in _INDEX.finditer(text):
        depth, at = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield match.end(), at - 1


def _in_index(pattern, replacement):
    def apply(line):
        for begin, end in _index_spans(line.text):
            inner = line.text[begin:end]
            for match in re.finditer(pattern, inner):
                new = replacement(match, line)
                if new is not None:
                    changed = inner[: match.start()] + new + inner[match.end() :]
                    yield line.text[:begin] + changed + line.text[end:]

    return apply


def _other_symbol(match, line):
    others = [p.name for p in line.kernel.parameters if p.name.startswith("ks") and p.name != match[1]]
    return match[0].replace(match[1], others[0]) if others else None


def wrong_stride(line):
    yield from _in_index(r"(?<![\w])(ks\d+)\*x\d+", _other_symbol)(line)
    yield from _in_index(r"(?<![\w.])(\d+)L\*(x\d+|tmp\d+)", lambda m, _: f"{int(m[1]) - 1}L*{m[2]}" if int(m[1]) > 1 else None)(line)


def tile_index(line):
    yield from _in_index(r"(?<![\w.])(?:\d+L|ks\d+)\*(x\d+)(?![\w])", lambda m, _: m[1])(line)


def neighbour_read(line):
    if re.match(rf" *auto {_TMP} = ", line.text) and "in_" in line.text:
        for begin, end in _index_spans(line.text):
            inner = line.text[begin:end]
            yield f"{line.text[:begin]}({inner}) == 0 ? 0 : ({inner}) - 1{line.text[end:]}"


def dropped_tail(line):
    return _replaced(line, r"if\(C10_UNLIKELY\(", "if(false && C10_UNLIKELY(")


def dropped_mask(line):
    yield from _replaced(line, rf"blendv\(({_TMP}), ({_TMP}), ", r"blendv(\2, \2, ")
    yield from _replaced(line, rf"= {_TMP} \? ({_TMP}) : ({_TMP});", r"= true ? \1 : \2;")
    yield from _replaced(line, rf"= {_TMP} \? ({_TMP}\(\)) :", r"= true ? \1 :")


def swapped_operands(line):
    yield from _replaced(line, rf"\b({_TMP}) (-|/|<|>|<=|>=) ({_TMP})\b", r"\3 \2 \1")


def wrong_constant(line):
    def change(match):
        value = float(match[2])
        if match[1] in ("float", "double"):
            return f"{match[0][: match.start(2) - match.start()]}{value * 1.5 if value else 1.0!r})"
        return f"static_cast<{match[1]}>({int(value) + 1})"

    if re.match(rf" *auto {_TMP} = static_cast<", line.text):
        return _replaced(line, r"static_cast<(float|double|int64_t|int32_t|uint8_t|int8_t)>\((-?[\d.e-]+)\)", change)
    return ()


def missing_cast(line):
    """A value that went through a narrower type and back goes straight; a cast to a whole number is left out."""
    match = re.match(rf"( *auto {_TMP} = )(?:at::vec::|c10::)convert<[^(]*>\(({_TMP})\);$", line.text)
    if match:
        before = re.match(rf"(?:at::vec::|c10::)convert<[^(]*>\(({_TMP})\)$", line.defined.get(match[2], ""))
        yield f"{match[1]}{before[1] if before else match[2]};"


def wrong_start(line):
    yield from _replaced(line, r"(_acc\d+(?:_vec)? = .*?)-std::numeric_limits<\w+>::infinity\(\)", r"\g<1>0")
    yield from _replaced(line, r"(_acc\d+ = )(0|1);", lambda m: f"{m[1]}{1 - int(m[2])};")
    yield from _replaced(line, r"(_acc\d+_vec = at::vec::\w+<[^(]*>\()(0|1)\);", lambda m: f"{m[1]}{1 - int(m[2])});")


def neighbour_store(line):
    for match in re.finditer(r"(?:\.store\((out_ptr\d+) \+)|(?:^ *(out_ptr\d+)\[)", line.text):
        name = match[1] or match[2]
        own = line.kernel.parameter(name)
        for other in line.kernel.parameters:
            if own and other.pointer and not other.const and other.name != name and other.type == own.type:
                at = match.start(1 if match[1] else 2)
                yield line.text[:at] + other.name + line.text[at + len(name) :]
                break


_SWAPS = {"maximum": "minimum", "max_propagate_nan": "min_propagate_nan", "max_masked_reduce": "min_masked_reduce",
          "clamp_min": "clamp_max"}
_OTHER_WAY = {**_SWAPS, **{new: old for old, new in _SWAPS.items()}}


def max_for_min(line):
    if "vec_reduce_all" in line.text:
        return _replaced(line, r"\b(max|min)_propagate_nan(?=\()", lambda m: _OTHER_WAY[m[0]])
    return _replaced(line, rf"\b({'|'.join(_OTHER_WAY)})(?=\()", lambda m: _OTHER_WAY[m[1]])


def dropped_term(line):
    yield from _replaced(line, rf"\b({_TMP}) \+ {_TMP}\b", r"\1")
    yield from _replaced(line, rf"\btmp_acc\d+_vec \+ ({_TMP});", r"\1;")


def last_row_not_stored(line):
    match = re.match(r"^( *)((?:tmp\w+\.store\((?:in_)?out_ptr\d+|(?:in_)?out_ptr\d+\[).*;)$", line.text)
    if match and line.loops:
        variable, bound, step = line.loops[0]
        yield f"{match[1]}if({variable} + {step} < {bound}) {match[2]}"


def dropped_function(line):
    yield from _replaced(line, rf"= ({_TMP})\.(?:exp|erf|tanh|sigmoid|log|sqrt|rsqrt|sin|cos|abs|reciprocal|neg)\(\);", r"= \1;")
    yield from _replaced(line, rf"= at::vec::clamp_min\(({_TMP}), decltype\({_TMP}\)\(0\)\);", r"= \1;")
    yield from _replaced(line, rf"std::(?:sqrt|exp|log|tanh)\(({_TMP})\)", r"(\1)")
    yield from _replaced(line, r"std::max\((tmp\d+), [^()]*\(0\)\)", r"\1")


OPERATORS = {
    "loop-bound-1": (_bound("-"), "a loop ends one early"),
    "loop-bound+1": (_bound("+"), "a loop ends one late"),
    "dropped-tail": (dropped_tail, "the rest of the vector loop is skipped"),
    "dropped-mask": (dropped_mask, "a condition is always true"),
    "wrong-stride": (wrong_stride, "another size symbol, or a constant less one, as stride"),
    "swapped-operands": (swapped_operands, "a - b, a / b or a < b the other way round"),
    "wrong-constant": (wrong_constant, "a literal is changed"),
    "missing-cast": (missing_cast, "rounding or conversion left out"),
    "wrong-start": (wrong_start, "a reduction starts at another value"),
    "tile-index": (tile_index, "an index without its multiple"),
    "neighbour-store": (neighbour_store, "a result goes to another output"),
    "max-for-min": (max_for_min, "max for min or min for max"),
    "dropped-term": (dropped_term, "one term of a sum is left out"),
    "last-row-not-stored": (last_row_not_stored, "the last step of the outermost loop stores nothing"),
    "neighbour-read": (neighbour_read, "the element before is read"),
    "dropped-function": (dropped_function, "exp, relu and the like left out"),
}


@dataclass
class Plant:
    """One change of one line; `line` counts from 1."""

    operator: str
    kernel: str
    line: int
    old: str
    new: str

    def apply(self, text):
        lines = text.split("\n")
        assert lines[self.line - 1] == self.old
        lines[self.line - 1] = self.new
        return "\n".join(lines)


def _lines_of(kernel, lines):
    """Every line of the body with what surrounds it. Generated code is indented by four, one level for each brace."""
    loops, defined = [], {}
    for at in range(kernel.body, kernel.end):
        text = lines[at]
        indent = len(text) - len(text.lstrip())
        if text.strip():
            loops = [loop for loop in loops if loop[0] < indent or (loop[0] == indent and text.strip() == "{")]
        yield at + 1, Line(text, kernel, [loop[1:] for loop in loops], defined)
        match = _FOR.match(text)
        if match:
            loops.append((len(match[1]), match[2], match[3], match[4]))
        assigned = re.match(rf" *auto ({_TMP}) = (.*);$", text)
        if assigned:
            defined = {**defined, assigned[1]: assigned[2]}


def plants_of(text):
    """Every possible plant of a kernel file, in order of operator, kernel and line."""
    lines, kernels, found = text.split("\n"), source.kernels_of(text), []
    for name, (apply, _) in OPERATORS.items():
        for kernel in kernels:
            for number, line in _lines_of(kernel, lines):
                found += [Plant(name, kernel.name, number, line.text, new) for new in apply(line) if new != line.text]
    return found
