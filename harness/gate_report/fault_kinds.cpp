#include "gate_report/fault_kinds.h"

namespace aotifuzz {

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = {
      {"kernel-overruns", "the kernel reads or writes outside a buffer",
       "make kernel and meta agree on the size, or check sizes and indices before the loop"},
      {"kernel-crashes", "the kernel ends the process: signal or exit", "check the arguments with TORCH_CHECK"},
      {"kernel-hangs", "the kernel does not end", "check the arguments with TORCH_CHECK"},
      {"meta-crashes", "the meta ends the process, or does not end: it may read data, which a meta tensor has none of",
       "compute sizes from sizes alone"},
      {"meta-specialises", "the meta turns a symbolic size into a number: the program is right for one size only",
       "use sym_size(), sym_sizes(), sym_numel() and c10::SymInt to the end"},
      {"meta-wrong-size", "the meta declares other sizes than the kernel makes", "make both compute the same size"},
      {"meta-wrong-stride", "the meta declares other strides or another storage offset than the kernel makes",
       "make the meta return strides as the kernel does, or the kernel a contiguous tensor"},
      {"meta-wrong-dtype", "the meta declares another dtype than the kernel makes",
       "pass the same TensorOptions on both sides"},
      {"meta-wrong-device",
       "an output lies on another device than the meta declares, whose meta tensors stand for the device of the inputs",
       "return the output on the device of the inputs, or say the other device in the meta"},
      {"meta-wrong-alias", "an output shares an input's memory on one side only",
       "return a view on both sides, or on neither"},
      {"meta-wrong-count", "another number of outputs, or an output that is undefined on one side",
       "return the same outputs on both sides"},
      {"meta-raises", "the meta raises where the kernel does not", "accept in the meta what the kernel accepts"},
      {"meta-reads-data", "the meta reads values of a tensor",
       "compute sizes from sizes alone; sizes that depend on values need a fake in "
       "Python with new_dynamic_size()"},
      {"meta-missing", "no meta kernel: export cannot trace a call",
       "register one for the Meta key; if its fake is Python, give its module with --fakes, or say so with "
       "m.set_python_module() or @python-fake in the spec"},
      {"int-for-size", "a size is declared int in the schema: each value of it is a program of its own",
       "declare it SymInt"},
      {"undeclared-alias",
       "an output shares an input's memory, which the schema does not say: functionalisation reads stale values",
       "return a new tensor, or declare it: Tensor(a) x -> Tensor(a)"},
      {"hidden-mutation", "the kernel changes an input that the schema does not declare as written",
       "declare it: Tensor(a!) x"},
      {"kernel-unwritten", "the kernel leaves elements of an output unwritten",
       "write every element, or start from zeros"},
      {"kernel-reads-unwritten", "an output depends on memory that nobody wrote",
       "initialise temporaries and accumulators"},
      {"one-sided-error", "the kernel refuses what meta and spec accept",
       "check the same in the meta, or correct the spec if these arguments are not legal"},
  };
  return kinds;
}

int fault_rank(std::string_view id) {
  const auto& kinds = fault_kinds();
  for (size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i].id == id) return static_cast<int>(i);
  return static_cast<int>(kinds.size());
}

const FaultKind& fault_kind(std::string_view id) {
  static const FaultKind unknown;
  const size_t rank = static_cast<size_t>(fault_rank(id));
  return rank < fault_kinds().size() ? fault_kinds()[rank] : unknown;
}

}  // namespace aotifuzz
