#include "gate_report/gate_comparison.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <tuple>

namespace aotifuzz {
namespace {

/// Both sides are asked about sizes near at most so many constants.
constexpr size_t kConstantsMax = 40;

using ByName = std::map<std::string, GateOperator>;

ByName by_name(std::vector<GateOperator> operators) {
  ByName out;
  for (GateOperator& op : operators) out.emplace(op.name, std::move(op));
  return out;
}

bool is_meta_value(const std::string& kind) { return kind.starts_with("meta-wrong-"); }

/// Order of points: few and small numbers first, as the keys list them.
std::pair<int64_t, std::string> point_order(const std::string& key) {
  int64_t sum = 0;
  for (size_t at = 0; (at = key.find('=', at)) != std::string::npos; ++at) sum += std::atoll(key.c_str() + at + 1);
  return {sum, key};
}

/// "0 contiguous B=1, D=11" -> "B=1, D=11".
std::string sizes_of_key(const std::string& key) {
  const size_t first = key.find(' '), second = key.find(' ', first + 1);
  const std::string layout = key.substr(first + 1, second - first - 1);
  return key.substr(second + 1) + (layout == "contiguous" ? "" : " (" + layout + ")");
}

void compare_values(const GateOperator& before, const GateOperator& after, OperatorChange* change, bool* narrowed,
                    bool* widened) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : before.values)
    if (after.values.count(key)) keys.push_back(key);
  std::sort(keys.begin(), keys.end(),
            [](const std::string& a, const std::string& b) { return point_order(a) < point_order(b); });
  change->points = static_cast<long>(keys.size());
  for (const std::string& key : keys) {
    const GateValue &a = before.values.at(key), &b = after.values.at(key);
    if (a.meta == b.meta && a.kernel == b.kernel) continue;
    *narrowed |= a.meta != "raises" && b.meta == "raises";
    *widened |= a.meta == "raises" && b.meta != "raises";
    if (change->differing++ > 0) continue;
    change->first_sizes = sizes_of_key(key);
    change->first_before = a;
    change->first_after = b;
  }
}

void compare_expressions(const GateOperator& before, const GateOperator& after, OperatorChange* change) {
  for (const auto& [key, text] : before.expressions) {
    const auto other = after.expressions.find(key);
    if (other == after.expressions.end() || other->second == text || !change->expression_before.empty()) continue;
    change->expression_before = text;
    change->expression_after = other->second;
  }
  const std::set<std::string> old_guards(before.guards.begin(), before.guards.end()),
      new_guards(after.guards.begin(), after.guards.end());
  std::set_difference(old_guards.begin(), old_guards.end(), new_guards.begin(), new_guards.end(),
                      std::back_inserter(change->guards_gone));
  std::set_difference(new_guards.begin(), new_guards.end(), old_guards.begin(), old_guards.end(),
                      std::back_inserter(change->guards_new));
}

void compare_faults(const OperatorVerdict& before, const OperatorVerdict& after, OperatorChange* change) {
  const auto has = [](const OperatorVerdict& verdict, const std::string& kind) {
    return std::any_of(verdict.faults.begin(), verdict.faults.end(),
                       [&](const GateFault& f) { return f.kind == kind; });
  };
  for (const GateFault& fault : after.faults)
    if (!has(before, fault.kind)) change->broken.push_back(fault);
  for (const GateFault& fault : before.faults)
    if (!has(after, fault.kind) &&
        std::find(change->fixed.begin(), change->fixed.end(), fault.kind) == change->fixed.end())
      change->fixed.push_back(fault.kind);
}

/// False: nothing about the operator changed.
bool classify(OperatorChange* change, bool narrowed, bool widened) {
  const auto broken = [&](auto wanted) {
    return std::any_of(change->broken.begin(), change->broken.end(),
                       [&](const GateFault& f) { return wanted(f.kind); });
  };
  if (broken(is_meta_value))
    change->kind = ChangeKind::kUnsound;
  else if (broken([](const std::string& kind) { return kind == "meta-specialises" || kind == "int-for-size"; }))
    change->kind = ChangeKind::kSpecialised;
  else if (!change->broken.empty())
    change->kind = ChangeKind::kBroken;
  else if (narrowed)
    change->kind = ChangeKind::kNarrowed;
  else if (change->schema_before != change->schema_after)
    change->kind = ChangeKind::kSchema;
  else if (!change->fixed.empty())
    change->kind = ChangeKind::kFixed;
  else if (widened)
    change->kind = ChangeKind::kWidened;
  else if (change->differing > 0)
    change->kind = ChangeKind::kChanged;
  else if (!change->expression_before.empty() || !change->guards_gone.empty() || !change->guards_new.empty())
    change->kind = ChangeKind::kEqual;
  else
    return false;
  return true;
}

}  // namespace

const char* change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kUnsound:
      return "unsound";
    case ChangeKind::kSpecialised:
      return "specialised";
    case ChangeKind::kBroken:
      return "broken";
    case ChangeKind::kRemoved:
      return "removed";
    case ChangeKind::kNarrowed:
      return "narrowed";
    case ChangeKind::kSchema:
      return "schema";
    case ChangeKind::kChanged:
      return "changed";
    case ChangeKind::kWidened:
      return "widened";
    case ChangeKind::kFixed:
      return "fixed";
    case ChangeKind::kEqual:
      return "equal";
    case ChangeKind::kAdded:
      return "added";
  }
  return "";
}

bool GateComparison::made_worse() const {
  return std::any_of(changes.begin(), changes.end(), [](const OperatorChange& c) { return !c.broken.empty(); });
}

std::vector<OperatorVerdict> GateComparison::worse_only() const {
  std::vector<OperatorVerdict> out = verdicts;
  for (OperatorVerdict& verdict : out) {
    const auto change =
        std::find_if(changes.begin(), changes.end(), [&](const OperatorChange& c) { return c.name == verdict.name; });
    verdict.faults = change == changes.end() ? std::vector<GateFault>() : change->broken;
    if (verdict.status == GateStatus::kFaults && verdict.faults.empty()) verdict.status = GateStatus::kOk;
  }
  return out;
}

GateComparison compare_runs(GateRun before, GateRun after) {
  GateComparison out;
  const ByName old_ops = by_name(before.operators), new_ops = by_name(after.operators);
  const auto old_verdicts = judge_operators(std::move(before.operators), before.library.path);
  out.verdicts = judge_operators(std::move(after.operators), after.library.path);
  std::map<std::string, const OperatorVerdict*> old_by_name;
  for (const OperatorVerdict& verdict : old_verdicts) old_by_name[verdict.name] = &verdict;
  for (const OperatorVerdict& verdict : out.verdicts) {
    OperatorChange change;
    change.name = verdict.name;
    const auto old_op = old_ops.find(verdict.name);
    const GateOperator& new_op = new_ops.at(verdict.name);
    if (old_op == old_ops.end()) {
      change.kind = ChangeKind::kAdded;
      change.schema_after = new_op.schema;
      change.broken = verdict.faults;
      out.changes.push_back(std::move(change));
      continue;
    }
    ++out.operators;
    if (old_op->second.schema != new_op.schema) {
      change.schema_before = old_op->second.schema;
      change.schema_after = new_op.schema;
    }
    bool narrowed = false, widened = false;
    compare_values(old_op->second, new_op, &change, &narrowed, &widened);
    compare_expressions(old_op->second, new_op, &change);
    compare_faults(*old_by_name.at(verdict.name), verdict, &change);
    out.points += change.points;
    if (classify(&change, narrowed, widened)) out.changes.push_back(std::move(change));
  }
  for (const auto& [name, op] : old_ops) {
    if (new_ops.count(name)) continue;
    OperatorChange change;
    change.name = name;
    change.kind = ChangeKind::kRemoved;
    change.schema_before = op.schema;
    out.changes.push_back(std::move(change));
  }
  std::stable_sort(out.changes.begin(), out.changes.end(), [](const OperatorChange& a, const OperatorChange& b) {
    return std::make_tuple(a.broken.empty(), a.kind) < std::make_tuple(b.broken.empty(), b.kind);
  });
  return out;
}

namespace {

std::pair<GateRun, GateRun> run_both(const GateRequest& before, const GateRequest& after) {
  auto first = std::async(std::launch::async, [&] { return run_gate_worker(before); });
  GateRun second = run_gate_worker(after);
  return {first.get(), std::move(second)};
}

/// Operators whose conditions on the two sides have other constants, and all of these constants.
std::pair<std::vector<std::string>, std::vector<int64_t>> asked_again(const GateRun& before, const GateRun& after) {
  std::vector<std::string> names;
  std::set<int64_t> constants;
  for (const GateOperator& op : before.operators)
    for (const GateOperator& other : after.operators) {
      if (op.name != other.name) continue;
      const std::set<int64_t> a(op.mined.begin(), op.mined.end()), b(other.mined.begin(), other.mined.end());
      if (a == b) continue;
      names.push_back(op.name);
      constants.insert(a.begin(), a.end());
      constants.insert(b.begin(), b.end());
    }
  std::vector<int64_t> some(constants.begin(), constants.end());
  some.resize(std::min(some.size(), kConstantsMax));
  return {names, some};
}

void replace(GateRun* run, GateRun&& again) {
  for (GateOperator& op : again.operators)
    for (GateOperator& old : run->operators)
      if (old.name == op.name) old = std::move(op);
}

}  // namespace

GateComparison compare_libraries(GateRequest before, GateRequest after) {
  before.values = after.values = true;
  // A spec or a list of operators is about the new library; the old one may lack some of them, which is for the
  // comparison to say.
  before.lenient = true;
  before.jobs = after.jobs = std::max(1, after.jobs / 2);
  auto [old_run, new_run] = run_both(before, after);
  const auto [names, constants] = asked_again(old_run, new_run);
  if (!names.empty()) {
    before.only = after.only = names;
    before.constants = after.constants = constants;
    auto [old_again, new_again] = run_both(before, after);
    replace(&old_run, std::move(old_again));
    replace(&new_run, std::move(new_again));
  }
  return compare_runs(std::move(old_run), std::move(new_run));
}

}  // namespace aotifuzz
