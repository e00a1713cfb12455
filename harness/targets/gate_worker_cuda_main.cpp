#include "gate/cuda/cuda_gate_device.h"
#include "gate/gate_worker_program.h"

int main(int argc, char** argv) {
  aotifuzz::run_gate_worker_program(
      argc, argv, [](const std::string& name) { return std::make_unique<aotifuzz::CudaGateDevice>(name); });
}
