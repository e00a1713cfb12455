#include "gate/size_family.h"

#include <algorithm>

namespace aotifuzz {
namespace {

constexpr int64_t kBase[] = {7, 11, 13, 17, 19, 23, 29, 31};
constexpr int64_t kFamily[] = {0,  1,   2,   3,   5,   8,   15,  16,   17,   63,  64,
                               65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025};
constexpr int64_t kFew[] = {0, 1, 2, 129};
constexpr int64_t kTogether[] = {0, 1, 2};

bool legal(const SpecSymbol& symbol, int64_t value) {
  return value >= symbol.min && value <= symbol.max && value % symbol.multiple == 0;
}

/// The legal value at or above `value`, else the smallest one.
int64_t nearest_legal(const SpecSymbol& symbol, int64_t value) {
  const int64_t from = std::max(value, symbol.min);
  const int64_t up = (from + symbol.multiple - 1) / symbol.multiple * symbol.multiple;
  if (up <= symbol.max) return up;
  return (symbol.min + symbol.multiple - 1) / symbol.multiple * symbol.multiple;
}

class Collector {
 public:
  Collector(const std::vector<SpecSymbol>& symbols, const std::vector<Expr>& conditions, std::vector<SymbolValues>* out)
      : symbols_(symbols), conditions_(conditions), out_(out) {}
  void add(const SymbolValues& values) {
    for (size_t i = 0; i < values.size(); ++i)
      if (!legal(symbols_[i], values[i])) return;
    if (!conditions_hold(conditions_, symbols_, values)) return;
    if (seen_.insert(values).second) out_->push_back(values);
  }
  void add_each(const SymbolValues& base, int64_t value) {
    for (size_t i = 0; i < base.size(); ++i) {
      SymbolValues values = base;
      values[i] = value;
      if (legal(symbols_[i], value)) add(conditions_.empty() ? values : with_others(std::move(values), i));
    }
  }

 private:
  /// With the other symbols at values of the family where the base's break a condition.
  SymbolValues with_others(SymbolValues values, size_t kept) const {
    if (conditions_hold(conditions_, symbols_, values)) return values;
    SymbolValues tried = values;
    for (const int64_t value : kFamily) {
      for (size_t i = 0; i < tried.size(); ++i)
        if (i != kept) tried[i] = nearest_legal(symbols_[i], value);
      if (conditions_hold(conditions_, symbols_, tried)) return tried;
    }
    return values;
  }

  const std::vector<SpecSymbol>& symbols_;
  const std::vector<Expr>& conditions_;
  std::vector<SymbolValues>* out_;
  std::set<SymbolValues> seen_;
};

/// Values that meet the conditions, most of them different where that can be; empty: none were found.
SymbolValues base_of(const std::vector<SpecSymbol>& symbols, const std::vector<Expr>& conditions) {
  constexpr size_t kTries = 4000;
  std::vector<int64_t> candidates(std::begin(kBase), std::end(kBase));
  candidates.insert(candidates.end(), std::begin(kFamily), std::end(kFamily));
  SymbolValues values(symbols.size());
  uint64_t state = 1;
  for (size_t attempt = 0; attempt < kTries; ++attempt) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Generic ones in order, the same from the other end, then all equal, then by chance.
      const size_t at = attempt == 0                      ? i % std::size(kBase)
                        : attempt == 1                    ? std::size(kBase) - 1 - i % std::size(kBase)
                        : attempt < 2 + candidates.size() ? attempt - 2
                                                          : (state >> 33) % candidates.size();
      values[i] = nearest_legal(symbols[i], candidates[at]);
    }
    if (conditions_hold(conditions, symbols, values)) return values;
  }
  return {};
}

}  // namespace

SizeFamily::SizeFamily(const std::vector<SpecSymbol>& symbols, const std::set<int64_t>& mined,
                       const std::vector<Expr>& conditions) {
  SymbolValues base = base_of(symbols, conditions);
  possible_ = base.size() == symbols.size();
  if (!possible_) {
    all_ = few_ = {SymbolValues(symbols.size())};
    return;
  }
  Collector all(symbols, conditions, &all_), few(symbols, conditions, &few_);
  all.add(base);
  few.add(base);
  if (all_.empty()) all_ = few_ = {base};  // no legal value near: the bounds are the user's
  for (const int64_t value : kFamily) all.add_each(base, value);
  for (const int64_t constant : mined)
    for (const int64_t value : {constant - 1, constant, constant + 1}) all.add_each(base, value);
  // What a symbol's bound and multiple skip in the family.
  for (size_t i = 0; i < symbols.size(); ++i)
    for (int64_t k = 0; k < 4 && (symbols[i].multiple > 1 || (symbols[i].min > 0 && k < 3)); ++k) {
      SymbolValues values = base;
      values[i] = nearest_legal(symbols[i], 0) + k * symbols[i].multiple;
      all.add(values);
      if (k == 0) few.add(values);
    }
  for (const int64_t value : kTogether) all.add(SymbolValues(symbols.size(), value));
  for (const int64_t value : kFew) few.add_each(base, value);
}

std::set<int64_t> SizeFamily::worth_trying(const std::set<int64_t>& constants) {
  std::set<int64_t> out;
  for (const int64_t constant : constants)
    if (constant > 1 && constant <= kMinedLargest && out.size() < kMinedMax) out.insert(constant);
  return out;
}

}  // namespace aotifuzz
