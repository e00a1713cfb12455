#include "core/planted.h"

#include <array>

namespace aotifuzz {
namespace {

constexpr std::array<Planted, 11> kPlanted = {{
    {PlantedFault::kNone, "nothing wrong", std::nullopt, true},
    {PlantedFault::kOverrunRead, "one-byte overrun, read", VerdictClass::kMemoryFault, true},
    {PlantedFault::kOverrunWrite, "one-byte overrun, write", VerdictClass::kMemoryFault, true},
    {PlantedFault::kUnderrunRead, "one-byte underrun, read", VerdictClass::kMemoryFault, true},
    {PlantedFault::kUseAfterFree, "use after free", VerdictClass::kMemoryFault, true},
    {PlantedFault::kUnwrittenRead, "memory never written", VerdictClass::kMemoryFault, true},
    {PlantedFault::kDivision, "integer division by zero", VerdictClass::kCrash, false},
    {PlantedFault::kHang, "endless run", VerdictClass::kHang, false},
    {PlantedFault::kRemembers, "result that depends on another call", VerdictClass::kUnstable, true},
    {PlantedFault::kLeak, "memory lost with each call", VerdictClass::kLeak, false},
    {PlantedFault::kSharedMemory, "memory shared by calls at the same time", VerdictClass::kUnstable, false},
}};

std::string inputs_of(PlantedFault fault, int elements) {
  return "input fault i64[1] const(" + std::to_string(static_cast<int>(fault)) + ")\ninput x f32[" +
         std::to_string(elements) + "] const(1.0)\n";
}

std::string case_of(PlantedFault fault, int elements) {
  std::string out = "aotifuzz-case 1\n" + inputs_of(fault, elements);
  if (fault == PlantedFault::kRemembers) out += "then\n" + inputs_of(fault, elements + 4);
  if (fault == PlantedFault::kLeak) out += "run times=32\n";
  if (fault == PlantedFault::kSharedMemory) out += "run callers=2\n";
  return out;
}

}  // namespace

std::span<const Planted> planted_faults() { return kPlanted; }

Contract planted_contract(const std::string& device) {
  InputSpec fault, x;
  fault.name = "fault";
  fault.dtype = Dtype::kI64;
  fault.sizes = {Expr::integer(1)};
  x.name = "x";
  x.dtype = Dtype::kF32;
  x.sizes = {Expr::symbol("x.size(0)")};
  for (InputSpec* input : {&fault, &x}) {
    input->device = device;
    input->strides = {Expr::integer(1)};
    input->offset = Expr::integer(0);
  }
  Contract contract;
  contract.inputs = {std::move(fault), std::move(x)};
  return contract;
}

std::string planted_case(PlantedFault fault) { return case_of(fault, 3); }
std::string planted_aligned_case(PlantedFault fault) { return case_of(fault, 4); }

}  // namespace aotifuzz
