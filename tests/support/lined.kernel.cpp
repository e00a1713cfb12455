// A library with a line table and a generated kernel's name: see tests/worker/package_lines_test.cpp.
extern "C" int aotifuzz_lined_kernel() { return __LINE__; }
