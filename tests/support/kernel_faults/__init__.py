"""Faults that are planted in the generated C++ kernels of a package: what can be changed, and how it is built again."""
