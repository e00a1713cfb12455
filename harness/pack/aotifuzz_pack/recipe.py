"""From `module.py:function` to an ExportedProgram, and to the text that builds it again elsewhere."""

import ast
import importlib.util
import sys
from pathlib import Path

from .errors import PackError, described, hint_for, short

SEED = 0


class SourceFile:
    """A Python file, read as text first: its functions can be listed and hashed without importing it."""

    def __init__(self, path):
        self.path = Path(path)
        try:
            self.text = self.path.read_text()
            self.tree = ast.parse(self.text)
        except OSError as error:
            raise PackError(f"cannot read the file: {error.strerror}", self.path, "give an existing Python file, as in model.py:function")
        except (SyntaxError, ValueError) as error:
            raise PackError(f"not a Python file: {error}", self.path, "correct the file; Python itself cannot parse it")

    def functions(self):
        """Public functions that can be called without arguments, in the file's order."""
        return [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not _required_arguments(node)]

    def slice(self, function):
        """The part of the file that `function` needs: itself, what it refers to, and statements that only act.

        Short enough for a bug report, and the cache key: editing one model repacks that model alone.
        """
        uses, binds = {}, {}
        for node in self.tree.body:
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            uses[node] = names
            for name in _bound_names(node):
                binds.setdefault(name, []).append(node)
        wanted, todo = set(), [function]
        for node in self.tree.body:
            if not _bound_names(node) and not _is_docstring_or_main(node):
                wanted.add(node)
                todo.extend(uses[node])
        while todo:
            for node in binds.get(todo.pop(), []):
                if node not in wanted:
                    wanted.add(node)
                    todo.extend(uses[node])
        lines = self.text.splitlines()
        parts = []
        for node in self.tree.body:
            if node in wanted:
                first = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])
                gap = "\n\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "\n"
                parts.append((gap if parts else "") + "\n".join(lines[first - 1 : node.end_lineno]))
        return "".join(parts) + "\n"

    def imported(self, text):
        """Top-level names of the modules that `text`, a slice of this file, imports."""
        names = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
        return sorted(names)

    def load(self, function):
        where = f"{self.path}:{function}"
        if function not in [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)]:
            known = ", ".join(self.functions()) or "none"
            raise PackError("the file has no such function", where, f"name one of its functions: {known}")
        name = self.path.stem
        folder = str(self.path.resolve().parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        spec = importlib.util.spec_from_file_location(name, self.path)
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(name)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            if before is not None:
                sys.modules[name] = before
            raise PackError(f"importing the file failed: {short(error)}", self.path, hint_for(error)) from error
        return getattr(module, function)


def build(source, function):
    """Calls the function and exports what it returns. Gives (ExportedProgram, recipe)."""
    import torch

    where = f"{source.path}:{function}"
    call = source.load(function)
    torch.manual_seed(SEED)
    try:
        made = call()
    except Exception as error:
        raise PackError(f"the function raised {short(error)}", where, hint_for(error)) from error

    if isinstance(made, torch.export.ExportedProgram):
        program, expression = made, f"{function}()"
    else:
        arguments = _export_arguments(made, where)
        try:
            program = torch.export.export(**arguments)
        except Exception as error:
            raise PackError(
                f"torch.export.export failed: {short(error)}",
                where,
                "correct the model, its example inputs or dynamic_shapes; --verbose shows torch's whole message",
            ) from error
        if isinstance(made, dict):
            expression = f"torch.export.export(**{function}())"
        else:
            expression = f'torch.export.export(**dict(zip(("mod", "args", "dynamic_shapes"), {function}())))'
    recipe = {
        "source": source.slice(function),
        "function": function,
        "file": source.path.name,
        "seed": SEED,
        # A Python expression that gives the ExportedProgram, once `source` was executed and torch was seeded.
        "program": expression,
    }
    return program, recipe


def _export_arguments(made, where):
    import torch

    forms = (
        "return an ExportedProgram, the arguments of torch.export.export as a dict(mod=..., args=(...), dynamic_shapes=...), "
        "or a tuple (module, args) or (module, args, dynamic_shapes)"
    )
    if isinstance(made, tuple) and 2 <= len(made) <= 3:
        made = dict(zip(("mod", "args", "dynamic_shapes"), made))
    if not isinstance(made, dict):
        raise PackError(f"the function returned {described(made)}", where, forms)
    if not isinstance(made.get("mod"), torch.nn.Module):
        raise PackError(f"the returned module is {described(made.get('mod'))}, not a torch.nn.Module", where, forms)
    if not isinstance(made.get("args"), tuple):
        raise PackError(f"the returned example inputs are {described(made.get('args'))}, not a tuple", where, forms)
    return made


def _bound_names(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        if any(alias.name == "*" for alias in node.names):
            return []
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        # os.environ["X"] = ... binds nothing: it acts, and is always kept.
        if all(isinstance(t, (ast.Name, ast.Tuple, ast.List)) for t in targets):
            return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


def _is_docstring_or_main(node):
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def _required_arguments(node):
    a = node.args
    return len(a.posonlyargs) + len(a.args) > len(a.defaults) or any(default is None for default in a.kw_defaults)
