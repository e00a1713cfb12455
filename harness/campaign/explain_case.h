#pragma once

#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "core/explanation.h"
#include "package/compile_trace.h"
#include "package/error_context.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

struct ExplainCaseOptions {
  ExplainPaths paths;
  int reduce_runs = 300;                ///< of candidates for the smallest input; 0 = it is not looked for
  const CompileTrace* trace = nullptr;  ///< of the package; must outlive the call
};

/// Does the debugging guide's steps on a package and a case: contract, guarded memory, every kernel against eager,
/// input checks on, on a device torch's allocators with and without cache and launches waited for, the way back from
/// the suspect to the inputs, the smallest input. Adds to `report`: the steps, errors that the log did not have, facts,
/// the conclusion. The session should judge every kernel (SessionRequest::kernels_every = 1). Throws HarnessError when
/// the world is wrong.
void explain_case(PackageSession& session, const CorpusEntry& entry, const ExplainCaseOptions& options,
                  ExplainReport* report);

}  // namespace aotifuzz
