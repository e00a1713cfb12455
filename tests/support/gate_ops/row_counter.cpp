// What dependent_ops.cpp needs. Registers no operator.

#include <cstdint>

extern "C" int64_t aotifuzz_test_row_count(int64_t rows) { return 2 * rows; }
