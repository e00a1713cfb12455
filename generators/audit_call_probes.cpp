#include "generators/audit_call_probes.h"

#include <utility>

namespace aotifuzz {
namespace {

constexpr int64_t kFar = int64_t{1} << 31;

bool is_tensor(const InputSpec& spec) { return spec.kind == CaseInput::Kind::kTensor; }
bool on_gpu(const InputSpec& spec) { return spec.device.starts_with("cuda"); }

class Maker {
 public:
  Maker(const Contract& contract, const Case& base) : contract_(contract), base_(base) {}

  void add_counts() {
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      if (!is_tensor(contract_.inputs[i])) continue;
      Case c = base_;
      CaseInput none;
      none.name = c.inputs[i].name;
      none.kind = CaseInput::Kind::kNone;
      c.inputs[i] = std::move(none);
      add_broken(AuditSubject::kCount, "None, which is one input fewer", std::move(c));
    }
    for (size_t i = contract_.inputs.size(); i-- > 0;) {
      if (!is_tensor(contract_.inputs[i])) continue;
      Case c = base_;
      CaseInput more = c.inputs[i];
      more.name = free_name();
      more.surplus = true;
      c.inputs.push_back(std::move(more));
      add_broken(AuditSubject::kCount, "one more, like the last", std::move(c));
      break;
    }
  }

  void add_devices(bool gpu_here) {
    bool cuda = false;
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      if (!is_tensor(contract_.inputs[i])) continue;
      if (!on_gpu(contract_.inputs[i])) continue;
      cuda = true;
      Case c = base_;
      c.inputs[i].place = CasePlace::kHost;
      add_broken(AuditSubject::kDevice, "on the CPU", std::move(c));
    }
    if (cuda)
      out_.untried.push_back({"inputs on another GPU than the package's", "a worker's memory lies on one GPU"});
    else
      out_.untried.push_back({"inputs on a GPU", gpu_here ? "the worker of a CPU package has no CUDA" : "no GPU here"});
  }

  void add_far() {
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      const InputSpec& spec = contract_.inputs[i];
      if (!is_tensor(spec) || base_.inputs[i].numel() == 0) continue;
      const std::string item = spec.name + ": elements beyond 2^31";
      if (on_gpu(spec)) {
        out_.untried.push_back({item, "memory of a device cannot be reserved and left unused: it takes gigabytes"});
        continue;
      }
      Case offset = base_;
      offset.inputs[i].offset = kFar;
      add_legal(item, "offset of 2^31 elements", std::move(offset));
      for (size_t d = 0; d < spec.strides.size(); ++d) {
        if (base_.inputs[i].sizes[d] < 2 || !is_free(spec, d)) continue;
        Case strided = base_;
        std::vector<int64_t> strides = base_.inputs[i].effective_strides();
        strides[d] = kFar;
        strided.inputs[i].strides = std::move(strides);
        add_legal(item, "stride(" + std::to_string(d) + ") of 2^31 elements", std::move(strided));
      }
    }
  }

  AuditCallProbes take() { return std::move(out_); }

 private:
  /// A stride that no size states: callers may pass what they like.
  bool is_free(const InputSpec& spec, size_t dim) const {
    const Expr& stride = spec.strides[dim];
    if (stride.op() != ExprOp::kSymbol) return false;
    for (const SymbolSpec& symbol : contract_.symbols)
      if (symbol.name == stride.name()) return symbol.dim == spec.name + ".stride(" + std::to_string(dim) + ")";
    return false;
  }

  std::string free_name() const {
    std::string name = "surplus";
    while (contract_.find_input(name) >= 0) name += "_";
    return name;
  }

  void add_broken(AuditSubject subject, std::string label, Case c) {
    const std::vector<Violation> broken = violations(contract_, c);
    if (broken.size() == 1) out_.probes.push_back({subject, broken[0].text, std::move(label), 0, std::move(c)});
  }

  void add_legal(const std::string& item, std::string label, Case c) {
    if (violations(contract_, c).empty())
      out_.probes.push_back({AuditSubject::kIndexing, item, std::move(label), 0, std::move(c)});
  }

  const Contract& contract_;
  const Case& base_;
  AuditCallProbes out_;
};

}  // namespace

AuditCallProbes audit_call_probes(const Contract& contract, const Case& base, bool gpu_here) {
  Maker maker(contract, base);
  maker.add_counts();
  maker.add_devices(gpu_here);
  maker.add_far();
  return maker.take();
}

}  // namespace aotifuzz
