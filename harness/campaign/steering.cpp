#include "campaign/steering.h"

#include "campaign/coverage.h"
#include "core/value_recipe.h"

namespace aotifuzz {
namespace {

std::vector<std::string> properties_of(const Case& c) {
  std::vector<std::string> properties;
  for (const CaseInput& input : c.inputs) {
    if (input.kind != CaseInput::Kind::kTensor) continue;
    for (size_t d = 0; d < input.sizes.size(); ++d)
      properties.push_back(input.name + ".size(" + std::to_string(d) + ") of class " + size_class(input.sizes[d]));
    if (input.storage_of.empty() && !input.zero_tensor)
      properties.push_back(input.name + " filled by " + std::string(value_kind_name(input.values.kind)));
  }
  return properties;
}

}  // namespace

bool Steering::is_worth_running(const Case& c) {
  if (static_cast<double>(failed_) >= kMostlyFailing * static_cast<double>(cases_)) return true;
  bool fails = false, due = false;
  for (const std::string& name : properties_of(c)) {
    const auto property = properties_.find(name);
    if (property == properties_.end() || !property->second.always_fails()) continue;
    fails = true;
    due |= ++property->second.skipped >= kOneIn;
  }
  if (!fails || due) return true;
  ++passed_over_;
  return false;
}

void Steering::ran(const Case& c, bool known) {
  ++cases_;
  failed_ += known ? 1 : 0;
  for (const std::string& name : properties_of(c)) {
    Property& property = properties_[name];
    ++property.cases;
    property.failed += known ? 1 : 0;
    property.skipped = 0;
  }
}

std::vector<std::string> Steering::learned() const {
  std::vector<std::string> out;
  for (const auto& [name, property] : properties_)
    if (property.always_fails()) out.push_back(name);
  return out;
}

}  // namespace aotifuzz
