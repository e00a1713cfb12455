#include "campaign/coverage.h"

#include <algorithm>

namespace aotifuzz {
namespace {

std::string stride_kind(const CaseInput& input) {
  if (!input.strides) return "dense";
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size; sizes of 1 have no stride
  bool ordered = true;
  for (size_t d = 0; d < input.sizes.size(); ++d) {
    if (input.sizes[d] == 1) continue;
    if ((*input.strides)[d] == 0) return "expanded";
    if (!dims.empty() && dims.back().first < (*input.strides)[d]) ordered = false;
    dims.emplace_back((*input.strides)[d], input.sizes[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t packed = 1;
  bool gap = false;
  for (const auto& [stride, size] : dims) {
    if (stride < packed) return "overlapping";
    if (stride > packed) gap = true;
    packed = stride * std::max<int64_t>(size, 1);
  }
  if (!gap) return ordered ? "dense" : "permuted";
  return ordered ? "gaps" : "permuted with gaps";
}

}  // namespace

std::string layout_name(const CaseInput& input) {
  if (input.zero_tensor) return "zero tensor";
  std::string name = stride_kind(input);
  if (input.offset) name += "+offset";
  if (input.misalign_bytes) name += "+misaligned";
  if (!input.storage_of.empty()) name += "+shared storage";
  return name;
}

void Coverage::expect(const std::string& dimension, const std::vector<int64_t>& landmarks) {
  dimensions_[dimension].landmarks.insert(landmarks.begin(), landmarks.end());
}

void Coverage::add(const Case& c, const std::vector<Violation>& broken) {
  if (broken.empty()) ++allowed_;
  for (const Violation& violation : broken) ++broken_[violation.text];
  for (const CaseInput& input : c.inputs) {
    if (input.kind != CaseInput::Kind::kTensor) continue;
    ++layouts_[layout_name(input)];
    ++dtypes_[std::string(dtype_name(input.dtype))];
    if (input.storage_of.empty() && !input.zero_tensor) ++values_[std::string(value_kind_name(input.values.kind))];
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      Dimension& dimension = dimensions_[input.name + ".size(" + std::to_string(d) + ")"];
      const int64_t size = input.sizes[d];
      dimension.least = dimension.cases == 0 ? size : std::min(dimension.least, size);
      dimension.greatest = dimension.cases == 0 ? size : std::max(dimension.greatest, size);
      ++dimension.cases;
      if (dimension.landmarks.count(size)) dimension.hit.insert(size);
    }
  }
}

}  // namespace aotifuzz
