#include "package/index_context.h"

#include <algorithm>
#include <optional>

#include "package/index_checks.h"
#include "package/kernel_flow.h"
#include "package/kernel_report.h"

namespace aotifuzz {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

void add(Explanation* explanation, std::string name, std::string value) {
  if (!value.empty()) explanation->facts.emplace_back(std::move(name), std::move(value));
}

std::string captured(const RecognisedError& error, const char* name) {
  const auto found = error.captures.find(name);
  return found == error.captures.end() ? std::string() : found->second;
}

/// "czyg...qs.kernel.cpp:26" is kernel.cpp:26: the hash says nothing to people, and crash lines have none either.
std::string short_place(const std::string& place) {
  const size_t colon = place.find(':');
  for (const char* file : {".kernel.cpp", ".wrapper.cpp"})
    if (const size_t at = place.find(file); at != std::string::npos && at < colon) return place.substr(at + 1);
  return place;
}

/// The last of the lines that an index is made by, the longest of them cut.
std::string last_lines(const std::vector<std::string>& made) {
  constexpr size_t kLines = 5, kLength = 120;
  std::string out = made.size() > kLines ? "..." : "";
  for (size_t i = made.size() > kLines ? made.size() - kLines : 0; i < made.size(); ++i)
    out += (out.empty() ? "" : "  ") + (made[i].size() > kLength ? made[i].substr(0, kLength) + "..." : made[i]);
  return out;
}

/// Is an index that these lines make the value that was read, but for its type and for negative ones that are wrapped?
bool is_copy(const std::vector<std::string>& made) {
  bool adds = false, chooses = false;
  for (const std::string& line : made) {
    for (const char* computed : {"tmp_acc", ".store(", "tl.store(", "tl.sum", " * ", " - ", " / ", " % ", "div_floor"})
      if (line.find(computed) != std::string::npos && line.find("_ptr") == std::string::npos) return false;
    if (line.find("out_ptr") != std::string::npos) return false;
    adds = adds || (line.find(" + ") != std::string::npos && line.find("_ptr") == std::string::npos);
    chooses = chooses || line.find(" ? ") != std::string::npos || line.find("tl.where(") != std::string::npos ||
              line.find("blendv") != std::string::npos;
  }
  return !adds || chooses;
}

void add_index_check(const PackageInfo& package, const KernelFlow& flow, const IndexCheck& check,
                     const std::string& index, const std::string& bound, Explanation* out) {
  add(out, "kernel", check.kernel);
  add(out, "check", short_place(check.where) + ": " + check.check);
  const std::optional<size_t> call = flow.find(check.kernel);
  const auto given = [&](const std::string& formal) { return call ? flow.given(*call, formal) : std::string(); };
  const auto with_meaning = [&](const std::string& formal) {
    const std::string meaning = given(formal);
    return formal + (meaning.empty() || meaning == formal ? "" : " = " + meaning);
  };
  if (!check.access.empty())
    add(out, check.stores ? "guards the store" : "guards the load",
        short_place(check.access_where) + ": " + check.access + "   " + with_meaning(check.accessed));
  for (const std::string& size : check.sizes) add(out, size, given(size));
  std::vector<std::string> from, inputs;
  bool direct = !check.pointers.empty();
  for (const std::string& pointer : check.pointers) {
    from.push_back(with_meaning(pointer));
    direct = direct && given(pointer).starts_with("input ");
    if (!call) continue;
    for (std::string& input : flow.inputs_of(*call, pointer))
      if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(std::move(input));
  }
  add(out, index, (from.empty() ? "" : "from " + joined(from) + ": ") + last_lines(check.made));
  std::string maker;
  if (call)
    for (const std::string& pointer : check.pointers) {
      for (const std::string& way : flow.upstream(*call, pointer)) add(out, "upstream", way);
      if (const auto by = flow.maker(*call, pointer); by && maker.empty())
        maker = flow.calls()[*by].kernel + " (call " + std::to_string(*by + 1) + ")";
    }
  if (package.kernels && call && *call < package.kernels->calls.size())
    add(out, "model line", model_line(*package.kernels, package.kernels->calls[*call]));

  std::string limit = bound;
  while (limit.ends_with('L') || limit.ends_with('U')) limit.pop_back();
  if (const std::string meaning = given(limit); !meaning.empty() && meaning != limit) limit = meaning;
  const auto calls = std::count_if(flow.calls().begin(), flow.calls().end(),
                                   [&](const FlowCall& one) { return one.kernel == check.kernel; });
  if (calls > 1) {
    add(out, "called", std::to_string(calls) + " times: what is said above is of the first call");
    return;
  }
  if (inputs.empty()) return;
  const bool copied = direct && is_copy(check.made);
  const std::string which = (inputs.size() > 1 ? "inputs " : "input ") + joined(inputs);
  if (copied && inputs.size() == 1) {
    out->culprit = "the values of input " + inputs[0] + ": " + check.kernel + " uses them as an index below " + limit;
    out->change = "give " + inputs[0] + " values from 0 to " + limit +
                  " - 1; or clamp or check them in the model before they are used";
  } else {
    out->culprit = "the index is computed from " + which + ", in " +
                   (maker.empty() ? check.kernel + " itself" : maker) + ", and is not below " + limit;
    out->change = "bound what the model computes from " + which + " (clamp, torch._check) by " + limit +
                  ", or give inputs that agree";
  }
}

}  // namespace

void add_index_facts(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  const std::string index = captured(error, "index");
  std::string bound = captured(error, "bound");
  bound = bound.substr(0, bound.find_first_of("`\"'"));
  while (bound.ends_with(' ') || bound.ends_with('.')) bound.pop_back();
  const std::vector<KernelText> kernels = kernel_texts(package);
  const std::vector<IndexCheck> checks = find_index_checks(kernels, index, bound);
  if (checks.empty()) {
    add(out, "kernel",
        kernels.empty() ? "the package holds no generated source"
                        : "none of the " + std::to_string(kernels.size()) +
                              " kernels of this package has that check: the text is of another one");
    return;
  }
  if (checks.size() > 1)
    add(out, "kernels with this check",
        std::to_string(checks.size()) + ", which of them is not in the text; with --case it is");
  const KernelFlow flow(package, kernels);
  for (const IndexCheck& check : checks) add_index_check(package, flow, check, index, bound, out);
  if (checks.size() > 1) {
    const ErrorPattern& row = *error.pattern;
    out->culprit = row.culprit;
    out->change = row.change;
  }
}

}  // namespace aotifuzz
