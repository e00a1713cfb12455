#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracles/output_judge.h"

namespace aotifuzz {

/// A place in a kernel call: which buffer, holding which value of the post-grad graph.
struct KernelPlace {
  size_t call = 0;       ///< as the how manieth of KernelMap::calls
  std::string kernel;    ///< "cpp_fused_add_embedding_0"
  std::string argument;  ///< "out_ptr0"
  std::string value;     ///< "add_4"
  std::string op;        ///< that makes the value: "aten.add.Tensor"
};

/// What the kernel calls of one run of the package were found to do, each against eager on the inputs that it was
/// itself given.
struct KernelRecord {
  int seen = 0;                           ///< calls that happened and that the map knows
  int judged = 0;                         ///< of them, in every buffer that they leave behind
  std::map<std::string, int> not_judged;  ///< reason -> calls
  /// The first call with an error of its own: what it left behind is not what eager computes from what it was given.
  struct Fault {
    KernelPlace place;
    TensorAnswer answer;
    std::string inputs_wrong;  ///< which of its inputs already differ from the reference's values; "" = none
  };
  std::optional<Fault> first;
  /// Without such a call, and asked to look for it: the first call that is given something else than the reference's
  /// value, though whoever computed that was right.
  struct Entry {
    KernelPlace place;
    std::string sentence;
  };
  std::optional<Entry> enters;
  /// Each call that was seen, where every one was asked for.
  struct Call {
    size_t call = 0;
    std::string verdict;                           ///< "right", "WRONG in ...", "not judged: ..."
    std::map<std::string, std::string> inherited;  ///< by argument: what it was given against the reference's value
  };
  std::vector<Call> calls;
};

}  // namespace aotifuzz
