#include "gate/gate_worker_program.h"

int main(int argc, char** argv) { aotifuzz::run_gate_worker_program(argc, argv, nullptr); }
