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

std::string size_class(int64_t size) {
  if (size <= 2) return std::to_string(size);
  int log = 1;
  while (log < 62 && int64_t{2} << log <= size) ++log;
  const auto power = [](int exponent) { return "2^" + std::to_string(exponent); };
  const int64_t floor = int64_t{1} << log;
  if (size == floor) return power(log);
  if (size == floor + 1) return power(log) + "+1";
  if (size == 2 * floor - 1) return power(log + 1) + "-1";
  return power(log) + ".." + power(log + 1) + (size % 16 == 0 ? ", of 16" : "");
}

bool Coverage::add(const Case& c, const std::vector<Violation>& broken) {
  const size_t cells_before = cells_.size();
  if (broken.empty()) ++allowed_;
  for (const Violation& violation : broken) {
    ++broken_[violation.text];
    cells_.insert("breaks " + violation.text);
  }
  for (const CaseInput& input : c.inputs) {
    if (input.kind != CaseInput::Kind::kTensor) continue;
    const std::string layout = layout_name(input);
    ++layouts_[layout];
    cells_.insert(input.name + " layout " + layout);
    ++dtypes_[std::string(dtype_name(input.dtype))];
    if (input.storage_of.empty() && !input.zero_tensor) {
      const std::string kind(value_kind_name(input.values.kind));
      ++values_[kind];
      cells_.insert(input.name + " values " + kind);
    }
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      const std::string name = input.name + ".size(" + std::to_string(d) + ")";
      Dimension& dimension = dimensions_[name];
      const int64_t size = input.sizes[d];
      cells_.insert(name + " " + size_class(size));
      dimension.least = dimension.cases == 0 ? size : std::min(dimension.least, size);
      dimension.greatest = dimension.cases == 0 ? size : std::max(dimension.greatest, size);
      ++dimension.cases;
      if (dimension.landmarks.count(size)) dimension.hit.insert(size);
    }
  }
  for (const CaseCall& call : c.then) cells_.insert(call.inputs == c.inputs ? "then the same" : "then another call");
  if (c.callers > 1) cells_.insert(std::to_string(c.callers) + " callers");
  if (c.runs > 2) cells_.insert("more than two runs");
  if (c.constants != CaseConstants::kExported)
    cells_.insert("constants " + std::string(case_constants_name(c.constants)));
  return cells_.size() > cells_before;
}

}  // namespace aotifuzz
