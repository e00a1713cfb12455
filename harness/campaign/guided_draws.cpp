#include "campaign/guided_draws.h"

#include <optional>

#include "core/error.h"
#include "store/case_text.h"

namespace aotifuzz {

namespace {

/// libFuzzer drops a text that is too long for it and asks for another.
constexpr int kMadeInVainMax = 10'000;

}  // namespace

GuidedDraws::GuidedDraws(EngineProcess& engine, const CaseSource& source, size_t job, size_t jobs, uint64_t position)
    : engine_(engine),
      source_(source),
      given_(source.given()),
      seeds_(source.seeds()),
      job_(job),
      jobs_(jobs),
      next_given_(job),
      position_(position) {
  for (const Case& seed : given_)
    for (const CaseInput& input : seed.inputs)
      if (input.values.file) files_[input.values.file->hash] = input.values.file;
}

std::optional<Case> GuidedDraws::read(const std::string& unit) const {
  auto parsed = parse_case(unit);
  if (!parsed || !source_.fits(*parsed)) return std::nullopt;
  for (CaseInput& input : parsed->inputs) {
    if (!input.values.file) continue;
    const auto known = files_.find(input.values.file->hash);
    if (known == files_.end()) return std::nullopt;
    input.values.file = known->second;
  }
  return std::move(*parsed);
}

Case GuidedDraws::make(const EngineRequest& request) {
  if (next_given_ < given_.size()) {
    const Case& given = given_[next_given_];
    next_given_ += jobs_;
    return given;
  }
  while (position_ < seeds_.size() && position_ % jobs_ != job_) ++position_;
  const uint64_t k = position_++;
  if (k < seeds_.size()) return seeds_[k];
  // libFuzzer's seed alone would give the same case again when the same unit is drawn twice with it, and after a
  // restart.
  const uint64_t seed = (uint64_t{request.seed} << 32) ^ (k - seeds_.size());
  const std::optional<Case> from = read(request.unit);
  if (!from) return source_.draw(k - seeds_.size());
  if (request.kind == EngineRequest::Kind::kMutate) return source_.mutate(*from, seed);
  const std::optional<Case> other = read(request.other);
  return other ? source_.cross(*from, *other, seed) : source_.mutate(*from, seed);
}

std::optional<Case> GuidedDraws::next(const std::function<bool()>& stopped) {
  int made = 0;
  while (!stopped()) {
    const EngineRequest request = engine_.next();
    if (request.kind != EngineRequest::Kind::kRun) {
      if (++made > kMadeInVainMax)
        throw HarnessError("libFuzzer runs none of the cases that it is given", "flags after --",
                           "leave out flags that limit what a unit may be");
      engine_.answer_text(print_case(make(request)));
      continue;
    }
    if (auto c = read(request.unit)) {
      ++handed_out_;
      return c;
    }
    ++refused_;
    passed_over();
  }
  return std::nullopt;
}

}  // namespace aotifuzz
