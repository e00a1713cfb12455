#include "oracles/catalog.h"

#include "oracles/close_oracle.h"
#include "oracles/kernels_oracle.h"
#include "oracles/leak_oracle.h"
#include "oracles/memory_oracle.h"
#include "oracles/metadata_oracle.h"
#include "oracles/rejection_oracle.h"
#include "oracles/sequence_oracle.h"
#include "oracles/stable_oracle.h"
#include "oracles/unchanged_inputs_oracle.h"

namespace aotifuzz {
namespace {

template <class T>
std::unique_ptr<Oracle> make() {
  return std::make_unique<T>();
}

/// In order of cost: what is cheap and decides legality first, what may ask for a referee last.
constexpr OracleRow kRows[] = {
    {"rejection", "who refuses what: legal inputs refused, errors missed", true, &make<RejectionOracle>},
    {"memory", "bytes around buffers that the package changed", false, &make<MemoryOracle>},
    {"metadata", "number, dtype, sizes, device and aliasing of outputs", true, &make<MetadataOracle>},
    {"close", "output values against eager, within any legal order of arithmetic", true, &make<CloseOracle>},
    {"unchanged_inputs", "inputs afterwards: untouched, or what eager left in them", true,
     &make<UnchangedInputsOracle>},
    {"stable", "two runs on the same input give the same bits", false, &make<StableOracle>},
    {"sequence", "the same bits after other calls, and with several callers at once", false, &make<SequenceOracle>},
    {"leak", "memory in use over many runs", false, &make<LeakOracle>},
    {"kernels", "each kernel call against eager on the inputs that it was given", true, &make<KernelsOracle>},
};

}  // namespace

std::span<const OracleRow> oracle_rows() { return kRows; }

std::vector<std::unique_ptr<Oracle>> make_oracles(bool has_reference) {
  std::vector<std::unique_ptr<Oracle>> out;
  for (const OracleRow& row : kRows)
    if (has_reference || !row.needs_reference) out.push_back(row.make());
  return out;
}

}  // namespace aotifuzz
