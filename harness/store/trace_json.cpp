#include "store/trace_json.h"

namespace aotifuzz {
namespace {

using nlohmann::json;

json tensor_json(const TraceTensor& tensor) {
  json out = {{"name", tensor.name}, {"dtype", tensor.dtype}, {"sizes", tensor.sizes}, {"address", tensor.address}};
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  text("value", tensor.value);
  text("op", tensor.op);
  text("first", tensor.first_values);
  text("file", tensor.file);
  text("error", tensor.error);
  if (tensor.has_stats)
    out["stats"] = {{"elements", tensor.elements}, {"nans", tensor.nans},         {"infinities", tensor.infinities},
                    {"least", tensor.least},       {"greatest", tensor.greatest}, {"mean", tensor.mean}};
  return out;
}

json tensors_json(const std::vector<TraceTensor>& tensors) {
  json out = json::array();
  for (const TraceTensor& tensor : tensors) out.push_back(tensor_json(tensor));
  return out;
}

/// Missing or of another type: the field stays as it is.
template <class Value>
void read(const json& object, const char* key, Value* into) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (found->is_string()) *into = found->get<std::string>();
  } else if (found->is_number()) {
    *into = found->get<Value>();
  }
}

Result<std::vector<TraceTensor>> parse_tensors(const json& object, const char* key) {
  std::vector<TraceTensor> out;
  const auto array = object.find(key);
  if (array == object.end()) return out;
  if (!array->is_array()) return parse_error("not a list", std::string("trace.") + key);
  for (const json& one : *array) {
    if (!one.is_object()) return parse_error("not an object", std::string("trace.") + key);
    TraceTensor tensor;
    read(one, "name", &tensor.name);
    read(one, "dtype", &tensor.dtype);
    read(one, "address", &tensor.address);
    read(one, "value", &tensor.value);
    read(one, "op", &tensor.op);
    read(one, "first", &tensor.first_values);
    read(one, "file", &tensor.file);
    read(one, "error", &tensor.error);
    if (const auto sizes = one.find("sizes"); sizes != one.end() && sizes->is_array())
      for (const json& size : *sizes)
        if (size.is_number_integer()) tensor.sizes.push_back(size.get<int64_t>());
    if (const auto stats = one.find("stats"); stats != one.end() && stats->is_object()) {
      tensor.has_stats = true;
      read(*stats, "elements", &tensor.elements);
      read(*stats, "nans", &tensor.nans);
      read(*stats, "infinities", &tensor.infinities);
      read(*stats, "least", &tensor.least);
      read(*stats, "greatest", &tensor.greatest);
      read(*stats, "mean", &tensor.mean);
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace

json trace_json(const std::vector<TraceCall>& trace) {
  json out = json::array();
  for (const TraceCall& call : trace) {
    json one = {{"ordinal", call.ordinal},
                {"kernel", call.kernel},
                {"given", tensors_json(call.given)},
                {"left", tensors_json(call.left)}};
    if (!call.launch.empty()) one["launch"] = call.launch;
    if (!call.verdict.empty()) one["verdict"] = call.verdict;
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::vector<TraceCall>> parse_trace(const json& array) {
  if (!array.is_array()) return parse_error("not a list", "trace");
  std::vector<TraceCall> out;
  for (const json& one : array) {
    if (!one.is_object()) return parse_error("not an object", "trace");
    TraceCall call;
    read(one, "ordinal", &call.ordinal);
    read(one, "kernel", &call.kernel);
    read(one, "launch", &call.launch);
    read(one, "verdict", &call.verdict);
    Result<std::vector<TraceTensor>> given = parse_tensors(one, "given"), left = parse_tensors(one, "left");
    if (!given) return tl::unexpected(given.error());
    if (!left) return tl::unexpected(left.error());
    call.given = std::move(*given);
    call.left = std::move(*left);
    out.push_back(std::move(call));
  }
  return out;
}

}  // namespace aotifuzz
