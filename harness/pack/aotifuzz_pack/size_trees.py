"""Symbolic sizes as nested lists, which the gate's worker reads (harness/gate/size_tree.h).

    7                      a number
    ["sym", 1]             a symbol by its index
    ["add", a, b, ...]     an operation
"""


class NotFollowed(Exception):
    """An expression that has no form as a list; the text says which."""


# Names of sympy's and torch's classes.
SAME = {
    "Add": "add",
    "Mul": "mul",
    "FloorDiv": "floordiv",
    "CleanDiv": "floordiv",
    "Mod": "mod",
    "PythonMod": "mod",
    "Max": "max",
    "Min": "min",
    "Pow": "pow",
    "PowByNatural": "pow",
    "Equality": "eq",
    "Unequality": "ne",
    "StrictLessThan": "lt",
    "LessThan": "le",
    "StrictGreaterThan": "gt",
    "GreaterThan": "ge",
    "And": "and",
    "Or": "or",
    "Not": "not",
    "Where": "ite",
    "IntTrueDiv": "truediv",
    "FloatTrueDiv": "truediv",
    "ToFloat": "float",
    "FloorToInt": "floor",
    "CeilToInt": "ceil",
}


def tree_of(expr, index_of):
    """`index_of` gives the index of a sympy symbol, and makes one for a symbol that it does not know."""
    if isinstance(expr, (bool, int)):
        return int(expr)
    name = type(expr).__name__
    if expr.is_Symbol:
        return ["sym", index_of(expr)]
    if name in ("BooleanTrue", "BooleanFalse"):
        return int(name == "BooleanTrue")
    if expr.is_Integer:
        return int(expr)
    if name == "Identity":
        return tree_of(expr.args[0], index_of)
    if name == "ModularIndexing":
        base, divisor, modulus = (tree_of(part, index_of) for part in expr.args)
        return ["mod", ["floordiv", base, divisor], modulus]
    if name not in SAME or (name == "Pow" and not (expr.args[1].is_Integer and expr.args[1] >= 0)):
        raise NotFollowed(str(expr))
    return [SAME[name], *(tree_of(part, index_of) for part in expr.args)]
