#include "core/shortest_recipe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/element_decode.h"

namespace aotifuzz {
namespace {

/// Longer lists are no easier to read than a file is.
constexpr int64_t kListMax = 8;

}  // namespace

ValueRecipe shortest_recipe(std::string name, Dtype dtype, std::vector<uint8_t> bytes) {
  const int64_t width = dtype_bytes(dtype), count = static_cast<int64_t>(bytes.size()) / width;
  if (count == 0) return {};
  ValueRecipe list{ValueKind::kList, {}, 0, {}};
  for (int64_t i = 0; i < std::min(count, kListMax); ++i) {
    const Number number = decode_element(dtype, bytes.data() + i * width);
    // Text keeps no payload of a NaN.
    const bool is_nan = std::isnan(to_double(number));
    list.numbers.push_back(is_nan ? Number{std::numeric_limits<double>::quiet_NaN()} : number);
  }
  const ValueRecipe constant{ValueKind::kConst, {list.numbers.front()}, 0, {}};
  std::vector<uint8_t> made(bytes.size());
  const auto is_exact = [&](const ValueRecipe& recipe) {
    fill_values(recipe, dtype, count, made.data());
    return made == bytes;
  };
  if (is_exact(constant)) return constant;
  if (count <= kListMax && is_exact(list)) return list;
  FileValues file;
  file.name = std::move(name);
  file.hash = hash_values(dtype, bytes);
  file.dtype = dtype;
  file.loaded = true;
  file.bytes = std::move(bytes);
  ValueRecipe recipe{ValueKind::kFile, {}, 0, {}};
  recipe.file = std::make_shared<const FileValues>(std::move(file));
  return recipe;
}

}  // namespace aotifuzz
