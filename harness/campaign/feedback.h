#pragma once

#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "core/case.h"
#include "core/contract.h"
#include "core/verdict.h"
#include "store/engine_protocol.h"

namespace aotifuzz {

/// What a case reached, for a guided campaign: nothing of the package is instrumented, so this is what there is to see.
///  - of the case: the size class of each dimension, kind of values, layout, broken conditions (campaign/coverage.h),
///    and pairs: the coarse classes of two sizes, and of a size and a kind of values;
///  - of what came: how each run ended and with which words, what each oracle said and why;
///  - how near it came to a fault: the largest share of what is permitted that an output's difference from the
///    reference takes, in levels of a factor of two. A case that comes nearer than any before is new.
struct Feature {
  std::string name;
  uint8_t level = 1;  ///< 1..8
};
std::vector<Feature> features_of(const Case& c, const std::vector<Violation>& broken, const CaseResult& result,
                                 const std::vector<Verdict>& verdicts);

/// Names as numbers: a hash, the same on every machine. Two that collide count as one.
std::vector<EngineCounter> counters_of(const std::vector<Feature>& features);

/// "0", "1", "<16", "of 16", ">16": what matters to tiles and vectors, coarse enough for pairs.
std::string coarse_size_class(int64_t size);

/// 1 (less than 1/128 of what is permitted) to 8 (at the limit).
uint8_t nearness_level(double share);

}  // namespace aotifuzz
