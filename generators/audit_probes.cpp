#include "generators/audit_probes.h"

#include <algorithm>
#include <string>

#include "generators/rapidcheck_choices.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"
#include "package/input_guard.h"

namespace aotifuzz {
namespace {

// Layouts and overlaps come out differently at other sizes; sizes have assignments of their own at each limit.
constexpr uint64_t kRounds = 4;

AuditSubject subject_of(const Gap& gap) {
  switch (gap.kind) {
    case Gap::Kind::kSize:
      return AuditSubject::kRelation;
    case Gap::Kind::kLayout:
      return AuditSubject::kLayout;
    case Gap::Kind::kOverlap:
      return AuditSubject::kOverlap;
    case Gap::Kind::kDtype:
      return AuditSubject::kDtype;
    case Gap::Kind::kZeroTensor:
      return AuditSubject::kStorage;
    case Gap::Kind::kRank:
      return AuditSubject::kRank;
    case Gap::Kind::kScalar:
      return AuditSubject::kScalar;
  }
  return AuditSubject::kRelation;
}

std::string label_of(const Gap& gap, const Violation& violation) {
  switch (gap.kind) {
    case Gap::Kind::kLayout:
      return std::string(layout_kind_name(gap.layout));
    case Gap::Kind::kOverlap:
      return gap.overlap == OverlapKind::kSameTensor ? "the same tensor" : "shifted views of one storage";
    case Gap::Kind::kDtype:
      return std::string(dtype_name(gap.dtype));
    default:
      return violation.detail;
  }
}

int64_t elements(const Case& c) {
  int64_t sum = 0;
  for (const CaseInput& input : c.inputs)
    if (input.kind == CaseInput::Kind::kTensor) sum += input.numel();
  return sum;
}

/// A symbol's size is 0 or 1.
bool has_tiny(const CaseModel& model, const Case& c) {
  const auto& symbols = model.shapes.contract().symbols;
  return std::any_of(symbols.begin(), symbols.end(), [&](const SymbolSpec& symbol) {
    const auto value = symbol.dim.empty() ? std::nullopt : dimension_value(c, symbol.dim);
    return value && *value < 2;
  });
}

/// The case of `gap` to try in this round: small cases as they come, of large ones (images) the smallest of several.
Case probe_of(const CaseModel& model, const Gap& gap, uint64_t number, uint64_t round) {
  constexpr int64_t kSmall = 1 << 12;
  constexpr int kDraws = 8;
  RapidCheckChoices choices(number, round);
  Case best = round == 0 ? gap.example : model.gaps.draw(choices, gap, model.shapes);
  for (int i = 0; i < kDraws && elements(best) > kSmall; ++i) {
    Case c = model.gaps.draw(choices, gap, model.shapes);
    if (elements(c) < elements(best)) best = std::move(c);
  }
  return best;
}

class Collector {
 public:
  explicit Collector(const CaseModel& model) : model_(model) {}

  void add(const Gap& gap, Case c, int round) {
    const std::vector<Violation> broken = violations(model_.shapes.contract(), c);
    if (broken.size() != 1) return;
    add({subject_of(gap), broken.front().text, label_of(gap, broken.front()), round, std::move(c)});
  }
  void add(AuditProbe probe) {
    const bool known =
        std::any_of(probes_.begin(), probes_.end(), [&](const auto& p) { return p.input == probe.input; });
    if (!known) probes_.push_back(std::move(probe));
  }
  std::vector<AuditProbe> take() {
    std::stable_sort(probes_.begin(), probes_.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
    return std::move(probes_);
  }

 private:
  const CaseModel& model_;
  std::vector<AuditProbe> probes_;
};

void add_placement(const CaseModel& model, const Case& base, int round, Collector& out) {
  const Contract& contract = model.shapes.contract();
  for (size_t i = 0; i < contract.inputs.size(); ++i) {
    if (contract.inputs[i].kind != CaseInput::Kind::kTensor) continue;
    const std::string name = contract.inputs[i].name + ": storage offset and alignment";
    Case offset = base, misaligned = base;
    offset.inputs[i].offset = 1;
    out.add({AuditSubject::kPlacement, name, "offset of 1 element", round, std::move(offset)});
    const int64_t bytes = dtype_bytes(contract.inputs[i].dtype);
    if (bytes % 16 == 0) continue;
    misaligned.inputs[i].misalign_bytes = bytes;
    out.add({AuditSubject::kPlacement, name, std::to_string(bytes) + " bytes past a 16-byte boundary", round,
             std::move(misaligned)});
  }
}

/// Indices that the contract says nothing of, past each end of what is indexed.
void add_indices(const CaseModel& model, const Case& base, Collector& out) {
  const Contract& contract = model.shapes.contract();
  for (size_t i = 0; i < contract.inputs.size(); ++i) {
    const InputSpec& spec = contract.inputs[i];
    const std::string item = index_condition(spec);
    if (spec.kind != CaseInput::Kind::kTensor || item.empty() || base.inputs[i].numel() == 0) continue;
    for (const ValueStyle& style : value_styles(spec.dtype, spec.role.kind)) {
      if (!style.special) continue;
      RapidCheckChoices choices(i, 0);
      Case c = base;
      c.inputs[i].values = style.make(choices, value_context(contract, c, i));
      out.add({AuditSubject::kValues, item, std::string(style.name), 0, std::move(c)});
    }
  }
}

}  // namespace

std::vector<Case> audit_bases(const CaseModel& model) {
  std::vector<Case> out;
  if (model.shapes.pool().empty()) return out;
  constexpr uint64_t kDraws = 12;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    RapidCheckChoices choices(seed, 1);
    Case c = model.shapes.make_case(choose_plain_sizes(choices, model.shapes));
    set_plain_values(model.shapes.contract(), c);
    if (std::find(out.begin(), out.end(), c) == out.end()) out.push_back(std::move(c));
  }
  // Sizes below 2 are edges of their own, which the generated checks refuse: tried later, and not varied from.
  std::stable_sort(out.begin(), out.end(), [&](const Case& a, const Case& b) {
    const bool left = has_tiny(model, a), right = has_tiny(model, b);
    return left != right ? right : elements(a) < elements(b);
  });
  if (!out.empty() && !has_tiny(model, out.front()))
    std::erase_if(out, [&](const Case& c) { return has_tiny(model, c); });
  // The second larger than half of them.
  if (out.size() > 2) out = {out.front(), out[out.size() / 2]};
  return out;
}

std::vector<AuditProbe> audit_probes(const CaseModel& model) {
  Collector out(model);
  uint64_t number = 0;
  for (const Gap& gap : model.gaps.gaps()) out.add(gap, probe_of(model, gap, ++number, 0), 0);
  const std::vector<Case> bases = audit_bases(model);
  if (!bases.empty()) add_indices(model, bases.front(), out);
  for (size_t b = 0; b < bases.size(); ++b) add_placement(model, bases[b], static_cast<int>(b), out);
  for (uint64_t round = 1; round < kRounds; ++round) {
    number = 0;
    for (const Gap& gap : model.gaps.gaps())
      out.add(gap, probe_of(model, gap, ++number, round), static_cast<int>(round));
  }
  return out.take();
}

}  // namespace aotifuzz
