#include <array>

#include "generators/style_recipes.h"
#include "generators/value_styles.h"

namespace aotifuzz {
namespace {

ValueRecipe mask_random(Choices& c, const ValueContext&) { return ints(c, 0, 1); }
ValueRecipe mask_all_false(Choices&, const ValueContext&) { return constant(int64_t{0}); }
ValueRecipe mask_one_true(Choices& c, const ValueContext& x) { return one_hot(c, x, int64_t{1}, int64_t{0}); }
ValueRecipe mask_all_true(Choices&, const ValueContext&) { return constant(int64_t{1}); }
ValueRecipe mask_sparse(Choices& c, const ValueContext&) {
  return choice(c, {int64_t{0}, int64_t{0}, int64_t{0}, int64_t{0}, int64_t{1}});
}
ValueRecipe mask_one_false(Choices& c, const ValueContext& x) { return one_hot(c, x, int64_t{0}, int64_t{1}); }

constexpr std::array<ValueStyle, 6> kMask = {{
    {"ties", 10, false, mask_random},
    {"all-true", 3, false, mask_all_true},
    {"zero", 4, false, mask_all_false},
    {"one-hot", 3, false, mask_one_true},
    {"sparse", 3, false, mask_sparse},
    {"one-false", 2, false, mask_one_false},
}};

}  // namespace

std::span<const ValueStyle> mask_styles() { return kMask; }

}  // namespace aotifuzz
