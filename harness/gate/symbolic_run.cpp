#include "gate/symbolic_run.h"

#include <execinfo.h>

#include <exception>
#include <utility>

namespace aotifuzz {
namespace {

/// Deeper than any meta below the dispatcher's own frames.
constexpr int kFramesMax = 64;

thread_local SymbolicRun* current = nullptr;
const SymbolValues no_values;
const std::vector<std::string> no_names;

std::vector<void*> frames_here() {
  void* frames[kFramesMax];
  const int count = backtrace(frames, kFramesMax);
  return std::vector<void*>(frames, frames + count);
}

}  // namespace

SymbolicRun::SymbolicRun(const SymbolValues& values, const SymbolValues& least, const std::vector<std::string>& names)
    : values_(values), least_(least), names_(names) {
  current = this;
  observer_before_ = observe_throws(&SymbolicRun::note_throw);
}

SymbolicRun::~SymbolicRun() {
  observe_throws(observer_before_);
  current = nullptr;
}

SymbolicRun::Pause::Pause() : was_(current && current->listening_) {
  if (current) current->listening_ = false;
}
SymbolicRun::Pause::~Pause() {
  if (current) current->listening_ = was_;
}

SymbolicRun::InsideAten::InsideAten(std::string name) : exceptions_(std::uncaught_exceptions()) {
  if (current) outer_ = std::exchange(current->inside_aten_, std::move(name));
}
SymbolicRun::InsideAten::~InsideAten() {
  if (!current) return;
  // The innermost one is the one that lacks a rule.
  if (std::uncaught_exceptions() > exceptions_ && current->unruled_.empty()) current->unruled_ = current->inside_aten_;
  current->inside_aten_ = outer_;
}

int64_t SymbolicRun::note(SizeEvent::Kind kind, const SizeExprPtr& expression, const std::string& call) {
  if (!current) return 0;
  const int64_t result = expression->integer(current->values_);
  if (!current->listening_) return result;
  if (kind == SizeEvent::Kind::kNumber && !current->inside_aten_.empty() && current->unruled_.empty())
    current->unruled_ = current->inside_aten_;
  current->events_.push_back({kind, expression, result, call, current->inside_aten_, frames_here()});
  return result;
}

const SymbolValues& SymbolicRun::values() { return current ? current->values_ : no_values; }
SymbolValues SymbolicRun::least_values() { return current ? current->least_ : no_values; }
const std::vector<std::string>& SymbolicRun::names() { return current ? current->names_ : no_names; }
bool SymbolicRun::active() { return current != nullptr; }

void SymbolicRun::note_throw() {
  if (current && current->listening_) current->throw_frames_ = frames_here();
}

std::vector<void*> SymbolicRun::made_at(const void* storage) const {
  const auto found = made_.find(storage);
  return found == made_.end() ? std::vector<void*>() : found->second;
}

void SymbolicRun::note_made(const void* storage) {
  if (!current || !current->listening_ || !current->inside_aten_.empty()) return;
  // Of the calls the first one counts, of a storage the last one: one that was freed may come back at the same address.
  if (storage || current->made_.count(nullptr) == 0) current->made_[storage] = frames_here();
}

void SymbolicRun::note_without_meta(const std::string& op) {
  if (current && current->listening_ && current->without_meta_.empty()) current->without_meta_ = op;
}

void SymbolicRun::note_data_read(const std::string& aten) {
  if (current && current->listening_ && current->read_data_.empty()) current->read_data_ = aten;
}

}  // namespace aotifuzz
