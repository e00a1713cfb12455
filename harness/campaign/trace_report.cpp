#include "campaign/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace aotifuzz {
namespace {

std::string shape_text(const TraceTensor& tensor) {
  return fmt::format("{}[{}]", tensor.dtype, fmt::join(tensor.sizes, ","));
}

std::string tensor_text(const TraceTensor& tensor) {
  std::string out = tensor.name;
  if (!tensor.value.empty()) out += " = " + tensor.value + (tensor.op.empty() ? "" : " (" + tensor.op + ")");
  out += "  " + shape_text(tensor);
  if (tensor.has_stats) {
    if (tensor.elements == 0)
      out += "  no elements";
    else
      out += fmt::format("  min {:.6g} max {:.6g} mean {:.6g}", tensor.least, tensor.greatest, tensor.mean);
    if (tensor.nans) out += fmt::format("  NaN {}", tensor.nans);
    if (tensor.infinities) out += fmt::format("  Inf {}", tensor.infinities);
  }
  if (!tensor.error.empty()) out += "  inherited: " + tensor.error;
  if (!tensor.first_values.empty()) out += "\n        " + tensor.first_values;
  if (!tensor.file.empty()) out += "\n        " + tensor.file;
  return out;
}

int64_t nans(const std::vector<TraceTensor>& tensors) {
  int64_t out = 0;
  for (const TraceTensor& tensor : tensors) out += tensor.nans;
  return out;
}

std::string call_text(const TraceCall& call) { return fmt::format("call {}, {}", call.ordinal, call.kernel); }

/// The same memory, or the same value of the graph.
bool flows(const TraceTensor& left, const TraceTensor& given) {
  if (!left.value.empty() && left.value == given.value) return true;
  return left.address != 0 && left.address == given.address;
}

}  // namespace

void print_trace(const std::vector<TraceCall>& trace, std::ostream& out) {
  for (const TraceCall& call : trace) {
    const auto part = [](const std::string& text) { return text.empty() ? "" : "  " + text; };
    out << fmt::format("{:>4}  {}{}{}\n", call.ordinal, call.kernel, part(call.launch), part(call.verdict));
    for (const TraceTensor& tensor : call.given) out << "      in   " << tensor_text(tensor) << '\n';
    for (const TraceTensor& tensor : call.left) out << "      out  " << tensor_text(tensor) << '\n';
  }
}

std::string first_nan(const std::vector<TraceCall>& trace) {
  const TraceCall* makes = nullptr;
  const TraceCall* has = nullptr;
  for (const TraceCall& call : trace) {
    if (nans(call.left) == 0) continue;
    if (!has) has = &call;
    if (!makes && nans(call.given) == 0) makes = &call;
  }
  if (makes) return "NaN first: " + call_text(*makes) + " makes it of inputs without NaN";
  if (has) return "NaN first: " + call_text(*has) + ", which was already given some";
  const bool given =
      std::any_of(trace.begin(), trace.end(), [](const TraceCall& call) { return nans(call.given) > 0; });
  return given ? "no call leaves NaN behind, though some are given it" : "no NaN in any tensor that was seen";
}

std::vector<TraceCall> upstream(const std::vector<TraceCall>& trace, const std::string& kernel) {
  const auto last = std::find_if(trace.rbegin(), trace.rend(),
                                 [&](const TraceCall& call) { return call.kernel.find(kernel) != std::string::npos; });
  if (last == trace.rend()) return {};
  const auto target = static_cast<size_t>(std::distance(trace.begin(), last.base()) - 1);
  std::set<size_t> wanted = {target}, open = wanted;
  while (!open.empty()) {
    const size_t at = *open.rbegin();
    open.erase(at);
    for (const TraceTensor& given : trace[at].given)
      for (size_t i = at; i-- > 0;) {
        const bool made = std::any_of(trace[i].left.begin(), trace[i].left.end(),
                                      [&](const TraceTensor& left) { return flows(left, given); });
        if (!made) continue;
        if (wanted.insert(i).second) open.insert(i);
        break;
      }
  }
  std::vector<TraceCall> out;
  for (size_t i : wanted) out.push_back(trace[i]);
  return out;
}

}  // namespace aotifuzz
