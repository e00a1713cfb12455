#pragma once

#include <string>

#include "core/case.h"

namespace aotifuzz {

/// Python text that rebuilds a case's inputs with torch and the standard library alone: one assignment per input, named
/// as the input, then `inputs = [x, i, ...]`. Paste it after `import torch`. Small dense tensors are written out;
/// larger ones come from the recipe, whose generator is a few lines of Python integers. The bits of every element, the
/// layout, the alignment and what lies between the elements are those that the worker gives the package.
std::string python_inputs(const Case& c);

/// The Python variable that holds an input: its name, unless that would hide something that the text needs.
std::string python_variable(const CaseInput& input);

}  // namespace aotifuzz
