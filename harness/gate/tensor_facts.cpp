#include "gate/tensor_facts.h"

#include "core/dtype.h"
#include "gate/argument_builder.h"
#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

std::string list_text(const std::vector<SizeExprPtr>& sizes, const SymbolValues& values) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? "," : "") + std::to_string(sizes[i]->integer(values));
  return out + "]";
}

std::string list_text(const std::vector<SizeExprPtr>& sizes, const std::vector<std::string>& names) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + sizes[i]->text(names);
  return out + "]";
}

std::string dtype_text(at::ScalarType type) {
  const auto dtype = from_scalar_type(type);
  return dtype ? std::string(dtype_name(*dtype)) : c10::toString(type);
}

std::string alias_text(int alias, const std::vector<std::string>& inputs) {
  return alias < 0 ? "memory of its own" : "the memory of " + inputs[alias];
}

bool strides_differ(const TensorFacts& a, const TensorFacts& b, const SymbolValues& values) {
  for (const SizeExprPtr& size : a.sizes)
    if (size->integer(values) == 0) return false;
  for (size_t d = 0; d < a.sizes.size(); ++d)
    if (a.sizes[d]->integer(values) > 1 && a.strides[d]->integer(values) != b.strides[d]->integer(values)) return true;
  return false;
}

bool is_empty(const TensorFacts& facts, const SymbolValues& values) {
  for (const SizeExprPtr& size : facts.sizes)
    if (size->integer(values) == 0) return true;
  return false;
}

}  // namespace

TensorFacts TensorFacts::of(const at::Tensor& tensor, const std::vector<at::Tensor>& inputs) {
  TensorFacts facts;
  facts.defined = tensor.defined();
  if (!facts.defined) return facts;
  for (const c10::SymInt& size : tensor.sym_sizes()) facts.sizes.push_back(SizeExpr::of(size));
  for (const c10::SymInt& stride : tensor.sym_strides()) facts.strides.push_back(SizeExpr::of(stride));
  facts.offset = SizeExpr::of(tensor.sym_storage_offset());
  facts.dtype = tensor.scalar_type();
  if (!tensor.has_storage()) return facts;
  const auto* storage = tensor.storage().unsafeGetStorageImpl();
  for (size_t i = 0; i < inputs.size() && facts.alias < 0; ++i)
    if (inputs[i].defined() && inputs[i].has_storage() && inputs[i].storage().unsafeGetStorageImpl() == storage)
      facts.alias = static_cast<int>(i);
  return facts;
}

std::string TensorFacts::sizes_text(const SymbolValues& values) const { return list_text(sizes, values); }
std::string TensorFacts::strides_text(const SymbolValues& values) const { return list_text(strides, values); }
std::string TensorFacts::symbolic_sizes(const std::vector<std::string>& names) const { return list_text(sizes, names); }
std::string TensorFacts::symbolic_strides(const std::vector<std::string>& names) const {
  return list_text(strides, names);
}

std::string TensorFacts::text(const SymbolValues& values) const {
  if (!defined) return "undefined";
  std::string out = dtype_text(dtype) + sizes_text(values);
  if (!is_empty(*this, values)) out += " strides " + strides_text(values);
  if (const int64_t at = offset->integer(values); at != 0) out += " offset " + std::to_string(at);
  if (alias >= 0) out += " input " + std::to_string(alias);
  return out;
}

std::vector<FactsDifference> compare_facts(const std::vector<TensorFacts>& meta, const std::vector<TensorFacts>& kernel,
                                           const SymbolValues& values, const std::vector<std::string>& input_names) {
  std::vector<FactsDifference> out;
  if (meta.size() != kernel.size()) {
    out.push_back({"meta-wrong-count", -1, std::to_string(meta.size()) + " outputs",
                   std::to_string(kernel.size()) + " outputs", "the number of outputs differs"});
    return out;
  }
  for (size_t i = 0; i < meta.size(); ++i) {
    const TensorFacts &m = meta[i], &k = kernel[i];
    const int output = static_cast<int>(i);
    const std::string which = "output " + std::to_string(i);
    if (m.defined != k.defined) {
      out.push_back({"meta-wrong-count", output, m.defined ? "a tensor" : "undefined",
                     k.defined ? "a tensor" : "undefined", which + " is undefined on one side"});
      continue;
    }
    if (!m.defined) continue;
    if (m.sizes_text(values) != k.sizes_text(values)) {
      out.push_back(
          {"meta-wrong-size", output, m.sizes_text(values), k.sizes_text(values), "the sizes of " + which + " differ"});
      continue;
    }
    if (m.dtype != k.dtype)
      out.push_back(
          {"meta-wrong-dtype", output, dtype_text(m.dtype), dtype_text(k.dtype), "the dtype of " + which + " differs"});
    if (m.device && k.device && *m.device != *k.device)
      out.push_back(
          {"meta-wrong-device", output, m.device->str(), k.device->str(), "the device of " + which + " differs"});
    if (m.alias != k.alias) {
      out.push_back({"meta-wrong-alias", output, alias_text(m.alias, input_names), alias_text(k.alias, input_names),
                     which + " shares memory on one side only"});
      continue;
    }
    if (strides_differ(m, k, values))
      out.push_back({"meta-wrong-stride", output, m.strides_text(values), k.strides_text(values),
                     "the strides of " + which + " differ"});
    else if (!is_empty(m, values) && m.offset->integer(values) != k.offset->integer(values))
      out.push_back({"meta-wrong-stride", output, "offset " + std::to_string(m.offset->integer(values)),
                     "offset " + std::to_string(k.offset->integer(values)),
                     "the storage offset of " + which + " differs"});
  }
  return out;
}

}  // namespace aotifuzz
