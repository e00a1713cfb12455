#include "oracles/referee_runs.h"

#include <cctype>

#include "oracles/legal_sampler.h"

namespace aotifuzz {
namespace {

struct SeedRange {
  uint64_t rounded_begin, rounded_end, undefined_begin, undefined_end;
};
constexpr SeedRange kStages[kRefereeStages + 1] = {{0, 0, 0, 0}, {0, 4, 0, 0}, {4, 8, 0, 4}, {8, 32, 0, 0}};

}  // namespace

std::vector<RunRequest> referee_requests(int stage) {
  std::vector<RunRequest> out;
  if (stage == 1) out.push_back({RunKind::kReferenceF64, 0});
  const SeedRange& range = kStages[stage];
  for (uint64_t seed = range.rounded_begin; seed < range.rounded_end; ++seed)
    out.push_back({RunKind::kReferenceSampled, seed});
  for (uint64_t seed = range.undefined_begin; seed < range.undefined_end; ++seed)
    out.push_back({RunKind::kReferenceSampled, seed | kUndefinedSeed});
  return out;
}

RefereeRuns collect_referee_runs(const RunRecords& runs) {
  RefereeRuns out;
  size_t sampled = 0;
  std::string sample_failure = "sampled runs do not finish";
  for (const RunRecord& record : runs.all()) {
    const bool finished = record.outcome.kind == OutcomeKind::kFinished;
    if (record.request.kind == RunKind::kReferenceF64) {
      out.centre = &record;
      if (!finished) out.failure = record.outcome.message;
    } else if (record.request.kind == RunKind::kReferenceSampled) {
      const bool undefined = record.request.seed & kUndefinedSeed;
      if (!undefined) ++sampled;
      if (finished) {
        (undefined ? out.undefined : out.rounded).push_back(&record);
      } else {
        if (!record.outcome.message.empty()) sample_failure = record.outcome.message;
      }
    }
  }
  while (out.stage < kRefereeStages && runs.find(referee_requests(out.stage + 1).front())) ++out.stage;
  // A discontinuity may send one sample out of range; when most fail the noise is no model of this program.
  if (out.failure.empty() && out.rounded.size() * 2 < sampled) out.failure = sample_failure;
  if (out.centre && out.centre->outcome.kind != OutcomeKind::kFinished && out.failure.empty())
    out.failure = "did not finish";
  return out;
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i]));
    // Digits inside names ("arg0_1", "float64", "conv2d") tell things apart and stay.
    const bool in_name = digit && !out.empty() &&
                         (std::isalpha(static_cast<unsigned char>(out.back())) || out.back() == '_' ||
                          (i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) && out.back() != '#'));
    if (!digit || in_name) {
      out += text[i];
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

}  // namespace aotifuzz
