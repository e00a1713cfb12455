#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/case.h"
#include "worker/reference_program.h"
#include "worker/subject.h"

namespace aotifuzz {

/// For its lifetime the package and its references have other weights: halves of the exported ones, which are exact
/// and as likely to be legal as these. Changed are floating weights that the package can be given and that every
/// reference has under the same name; weights that a compiler made numbers of the code keep their values on both sides.
class ConstantsUpdate {
 public:
  /// Why there are no other weights: the program may write them, there is none to change, the loader's words.
  class NotUpdated : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };
  /// Throws NotUpdated, and c10::Error or std::bad_alloc when memory runs out; nothing is changed then.
  /// `spent`: set to true when the package could not be given its own weights again. It must run no further case then.
  ConstantsUpdate(CaseConstants constants, Subject& package, std::vector<ReferenceProgram*> references, bool* spent);
  ~ConstantsUpdate();
  ConstantsUpdate(const ConstantsUpdate&) = delete;
  ConstantsUpdate& operator=(const ConstantsUpdate&) = delete;

 private:
  void restore();

  Subject& package_;
  std::vector<ReferenceProgram*> references_;
  bool* spent_;
};

}  // namespace aotifuzz
