#include "oracles/exact_ops.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(ExactOps, HoldsWhatMovesAndCompares) {
  for (const char* op :
       {"aten.view", "aten.eq", "aten.floor", "aten.embedding", "aten.__lshift__", "aten.zeros", "aten._conj"})
    EXPECT_TRUE(is_exact_op(op)) << op;
  for (const char* op : {"aten.add", "aten.sum", "aten.index_put", "mylib.view", ""})
    EXPECT_FALSE(is_exact_op(op)) << op;
}

}  // namespace
}  // namespace aotifuzz
