#include "oracles/run_record.h"

namespace aotifuzz {

std::string_view run_name(RunKind kind) {
  switch (kind) {
    case RunKind::kReference:
      return "reference";
    case RunKind::kReferenceF64:
      return "reference-f64";
    case RunKind::kReferenceSampled:
      return "reference-sampled";
    case RunKind::kSubject:
      return "subject";
    case RunKind::kSubjectAgain:
      return "subject-again";
    case RunKind::kSubjectKernels:
      return "subject-kernels";
    case RunKind::kSubjectThen:
      return "subject-then";
    case RunKind::kSubjectCallers:
      return "subject-callers";
    case RunKind::kSubjectMany:
      return "subject-many";
  }
  return "";
}

}  // namespace aotifuzz
