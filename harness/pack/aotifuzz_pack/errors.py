"""The one error that the command line reports: what happened, where, what to do about it."""

import os
import sys


class PackError(Exception):
    def __init__(self, what, where, hint):
        super().__init__(what)
        self.is_of_compiler = False  # torch refused or failed to compile the model: no fault of file or installation
        self.what, self.where, self.hint = what, where, hint

    def __str__(self):
        return f"{self.what}\n  where: {self.where}\n  what to do: {self.hint}"


def described(value):
    kind = type(value).__name__
    return f"{kind} of {len(value)} elements" if isinstance(value, (tuple, list)) else kind


def short(error):
    # torch explains itself in the lines after the first, and drifts into advice after a few.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:500]}" if lines else type(error).__name__


def hint_for(error):
    if isinstance(error, ModuleNotFoundError):
        return f"install {error.name} into this Python environment ({os.path.basename(sys.executable)} -m pip install {error.name})"
    return "run the function by itself in Python until it returns; --verbose shows the traceback"
