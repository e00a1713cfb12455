#include "worker/device_graph.h"

#include <stdexcept>

namespace aotifuzz {
namespace {

bool names_cuda(const std::string& device) { return device == "cuda" || device.starts_with("cuda:"); }

void place(Argument& argument, c10::Device device) {
  if (argument.kind == Argument::Kind::kDevice && names_cuda(argument.name)) argument.name = device.str();
  for (Argument& item : argument.items) place(item, device);
  if (argument.graph) argument.graph = std::make_shared<Graph>(graph_on(*argument.graph, device));
}

}  // namespace

c10::Device placed(const std::string& exported, c10::Device device) {
  return names_cuda(exported) ? device : c10::Device(c10::kCPU);
}

std::vector<c10::Device> input_devices(const Contract& contract, c10::Device device) {
  std::vector<c10::Device> out;
  for (const InputSpec& input : contract.inputs) out.push_back(placed(input.device, device));
  return out;
}

std::vector<c10::Device> input_devices(const Case& c, std::vector<c10::Device> declared, c10::Device device) {
  declared.resize(c.inputs.size(), device);
  for (size_t i = 0; i < declared.size(); ++i) {
    if (c.inputs[i].place == CasePlace::kHost) declared[i] = c10::Device(c10::kCPU);
    if (c.inputs[i].place == CasePlace::kDevice) declared[i] = device;
  }
  return declared;
}

void require_on_host(const Case& c) {
  for (const CaseInput& input : c.inputs)
    if (input.place == CasePlace::kDevice)
      throw std::invalid_argument("input " + input.name + " lies on a GPU: the worker of a CPU package has none");
}

Graph graph_on(const Graph& graph, c10::Device device) {
  Graph out = graph;
  for (Node& node : out.nodes) {
    for (Node::Input& input : node.inputs) place(input.value, device);
    // Autocast takes the type of its device as text.
    if (node.target.ends_with("wrap_with_autocast") && !node.inputs.empty())
      if (Argument& type = node.inputs[0].value; type.kind == Argument::Kind::kString && names_cuda(type.name))
        type.name = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  }
  return out;
}

}  // namespace aotifuzz
