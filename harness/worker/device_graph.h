#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "core/contract.h"
#include "package/graph.h"

namespace aotifuzz {

/// The graph with every CUDA device in it replaced by `device`, sub-graphs included: an export names the device that it
/// ran on, a reference runs where it is told to. What the graph does on the CPU stays there.
Graph graph_on(const Graph& graph, c10::Device device);

/// Where a value that the export had on `exported` ("cpu", "cuda:0") lives in a run on `device`.
c10::Device placed(const std::string& exported, c10::Device device);
/// The same of each of the contract's inputs.
std::vector<c10::Device> input_devices(const Contract& contract, c10::Device device);

/// The same for the inputs of `c`, of which it may place some elsewhere. `declared`: of the program's inputs.
std::vector<c10::Device> input_devices(const Case& c, std::vector<c10::Device> declared, c10::Device device);

/// Throws std::invalid_argument when an input lies where a worker without a device cannot put it.
void require_on_host(const Case& c);

}  // namespace aotifuzz
