#include "oracles/catalog.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(OracleCatalog, MakesOneOraclePerRowInOrder) {
  const auto oracles = make_oracles();
  ASSERT_EQ(oracles.size(), oracle_rows().size());
  for (size_t i = 0; i < oracles.size(); ++i) EXPECT_EQ(oracles[i]->name(), oracle_rows()[i].name);
}

}  // namespace
}  // namespace aotifuzz
