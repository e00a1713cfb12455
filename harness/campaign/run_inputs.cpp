#include "campaign/run_inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/shortest_recipe.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using Kind = CaseInput::Kind;

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "3x5" -> {3, 5}; nullopt for what is no list of sizes.
std::optional<std::vector<int64_t>> parse_sizes(std::string_view text) {
  std::vector<int64_t> out;
  while (true) {
    const size_t end = std::min(text.find('x'), text.size());
    const std::optional<int64_t> size = whole_number(text.substr(0, end));
    if (!size || *size < 0) return std::nullopt;
    out.push_back(*size);
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::string input_text(const InputSpec& spec, const Contract& contract) {
  const auto by_dimension = [&](const std::string& name) -> std::optional<Expr> {
    for (const SymbolSpec& symbol : contract.symbols)
      if (symbol.name == name && !symbol.dim.empty()) return Expr::symbol(symbol.dim);
    return std::nullopt;
  };
  switch (spec.kind) {
    case Kind::kInt:
      return spec.name + " int";
    case Kind::kFloat:
      return spec.name + " float";
    case Kind::kBool:
      return spec.name + " bool";
    case Kind::kNone:
      return spec.name + " none";
    case Kind::kTensor:
      break;
  }
  std::string sizes;
  for (const Expr& size : spec.sizes) sizes += (sizes.empty() ? "" : ", ") + size.substitute(by_dimension).text();
  return spec.name + " " + std::string(dtype_name(spec.dtype)) + "[" + sizes + "]" +
         (spec.device == "cpu" ? "" : " on " + spec.device);
}

class Binder {
 public:
  explicit Binder(const Contract& contract) : contract_(contract), given_(contract.inputs.size()) {
    out_.has_values.resize(contract.inputs.size());
    out_.sources.resize(contract.inputs.size());
  }

  void bind(const std::string& argument, const std::function<std::vector<SavedValue>(const std::string&)>& read) {
    const size_t equals = argument.find('=');
    std::error_code ignored;
    if (equals == std::string::npos || fs::exists(argument, ignored)) {
      for (SavedValue& value : read(argument)) loose_.push_back({std::move(value), argument});
      return;
    }
    const std::string name = argument.substr(0, equals), value = argument.substr(equals + 1);
    if (const int input = contract_.find_input(name); input >= 0) return bind_name(argument, input, value, read);
    const std::string symbol = symbol_of(name);
    if (symbol.empty()) refuse("no input or size is called '" + name + "'", argument);
    const std::optional<int64_t> size = whole_number(value);
    if (!size || *size < 0) refuse("not a size", argument);
    if (!symbols_.try_emplace(symbol, *size).second) refuse("the size is given twice", argument);
  }

  RunInputs finish() {
    bind_loose();
    learn_symbols();
    for (size_t i = 0; i < given_.size(); ++i) out_.input.inputs.push_back(complete(i));
    return std::move(out_);
  }

 private:
  struct Loose {
    SavedValue value;
    std::string from;
  };

  [[noreturn]] void refuse(const std::string& what, const std::string& where) const {
    throw UsageError(what, where, "the package takes:\n" + print_inputs(contract_));
  }

  /// The symbol that `name` means, itself or a dimension that it is; "" when there is none.
  std::string symbol_of(const std::string& name) const {
    for (const SymbolSpec& symbol : contract_.symbols)
      if (symbol.name == name || symbol.dim == name) return symbol.name;
    for (const InputSpec& spec : contract_.inputs)
      for (size_t d = 0; d < spec.sizes.size(); ++d)
        if (spec.sizes[d].op() == ExprOp::kSymbol && name == spec.name + ".size(" + std::to_string(d) + ")")
          return spec.sizes[d].name();
    return "";
  }

  void bind_name(const std::string& argument, int input, const std::string& value,
                 const std::function<std::vector<SavedValue>(const std::string&)>& read) {
    const InputSpec& spec = contract_.inputs[static_cast<size_t>(input)];
    std::error_code ignored;
    const bool number = spec.kind != Kind::kTensor;
    if (!fs::exists(value, ignored)) {
      if (number) return take_number(input, value, argument);
      if (const auto sizes = parse_sizes(value)) return take_sizes(input, *sizes, argument);
    }
    if (value.empty()) refuse("nothing stands after the '='", argument);
    if (!fs::exists(value, ignored) && value.find_first_not_of("-+x,.*0123456789") == std::string::npos)
      refuse("no sizes (3x5, none negative), and no file of that name", argument);
    std::vector<SavedValue> values = read(value);
    auto chosen = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.input.name == spec.name; });
    if (chosen == values.end()) chosen = values.begin();
    if (values.size() > 1 && chosen->input.name != spec.name)
      refuse("the file holds " + std::to_string(values.size()) + " values, and none is called '" + spec.name + "'",
             argument);
    take(input, std::move(*chosen), value);
  }

  void require_free(int input, const std::string& where) const {
    if (given_[static_cast<size_t>(input)])
      refuse("the input '" + contract_.inputs[static_cast<size_t>(input)].name + "' is given twice", where);
  }

  void take_number(int input, const std::string& text, const std::string& argument) {
    require_free(input, argument);
    CaseInput out;
    out.kind = contract_.inputs[static_cast<size_t>(input)].kind;
    double real = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
    const bool is_real = error == std::errc() && end == text.data() + text.size();
    if (const auto whole = whole_number(text); whole && out.kind == Kind::kInt)
      out.scalar = *whole;
    else if (out.kind == Kind::kFloat && is_real)
      out.scalar = real;
    else if (out.kind == Kind::kBool && (text == "true" || text == "false"))
      out.scalar = int64_t{text == "true"};
    else if (out.kind != Kind::kNone || text != "none")
      refuse("not a value of that input", argument);
    put(input, std::move(out), "given", /*has_values=*/true);
  }

  void take_sizes(int input, const std::vector<int64_t>& sizes, const std::string& argument) {
    require_free(input, argument);
    const InputSpec& spec = contract_.inputs[static_cast<size_t>(input)];
    CaseInput out;
    out.dtype = spec.dtype;
    out.sizes = sizes;
    put(input, std::move(out), "sizes given", /*has_values=*/false);
  }

  void take(int input, SavedValue value, const std::string& from) {
    require_free(input, from);
    const InputSpec& spec = contract_.inputs[static_cast<size_t>(input)];
    CaseInput out = std::move(value.input);
    if ((out.kind == Kind::kTensor) != (spec.kind == Kind::kTensor))
      refuse("the input '" + spec.name + "' is " + (spec.kind == Kind::kTensor ? "a tensor" : "a number") +
                 ", and the file has " + (out.kind == Kind::kTensor ? "a tensor" : "a number") + " for it",
             from);
    if (out.kind == Kind::kTensor) {
      if (out.dtype == Dtype::kUnknown) {
        if (dtype_bytes(spec.dtype) != value.width)
          refuse("the input '" + spec.name + "' has elements of " + std::to_string(dtype_bytes(spec.dtype)) +
                     " bytes, and the file has elements without a type of " + std::to_string(value.width),
                 from);
        out.dtype = spec.dtype;
      }
      out.values = shortest_recipe(spec.name + ".npy", out.dtype, std::move(value.bytes));
    }
    put(input, std::move(out), fs::path(from).filename().string(), /*has_values=*/true);
  }

  void put(int input, CaseInput value, std::string source, bool has_values) {
    const auto at = static_cast<size_t>(input);
    value.name = contract_.inputs[at].name;
    given_[at] = std::move(value);
    out_.has_values[at] = has_values;
    out_.sources[at] = std::move(source);
  }

  /// Does somebody have to give it?
  bool is_open(size_t i) const {
    const InputSpec& spec = contract_.inputs[i];
    return !given_[i] && spec.kind != Kind::kNone && !spec.is_constant;
  }

  void bind_loose() {
    const bool by_name = std::all_of(loose_.begin(), loose_.end(), [&](const Loose& loose) {
      const int input = loose.value.input.name.empty() ? -1 : contract_.find_input(loose.value.input.name);
      return input >= 0 && !given_[static_cast<size_t>(input)];
    });
    if (by_name) {
      for (Loose& loose : loose_) {
        const int input = contract_.find_input(loose.value.input.name);
        take(input, std::move(loose.value), loose.from);
      }
      return;
    }
    std::vector<size_t> places;
    for (size_t i = 0; i < given_.size(); ++i)
      if (is_open(i) || (loose_.size() == given_.size() && !given_[i])) places.push_back(i);
    if (loose_.size() > places.size())
      refuse(std::to_string(loose_.size()) + " values are given without a name of the package's, which takes " +
                 std::to_string(places.size()) + " more",
             loose_.back().from);
    for (size_t k = 0; k < loose_.size(); ++k)
      take(static_cast<int>(places[k]), std::move(loose_[k].value), loose_[k].from);
  }

  /// The sizes of inputs that are given decide symbols that are not.
  void learn_symbols() {
    const std::map<std::string, int64_t> stated = symbols_;
    for (size_t i = 0; i < given_.size(); ++i) {
      if (!given_[i] || given_[i]->kind != Kind::kTensor) continue;
      const std::vector<Expr>& sizes = contract_.inputs[i].sizes;
      for (size_t d = 0; d < std::min(sizes.size(), given_[i]->sizes.size()); ++d)
        if (sizes[d].op() == ExprOp::kSymbol) {
          const auto other = stated.find(sizes[d].name());
          if (other != stated.end() && other->second != given_[i]->sizes[d])
            throw UsageError("a size and an input disagree",
                             other->first + "=" + std::to_string(other->second) + ", " + contract_.inputs[i].name +
                                 ".size(" + std::to_string(d) + ") = " + std::to_string(given_[i]->sizes[d]),
                             "leave one of them out");
          symbols_.try_emplace(sizes[d].name(), given_[i]->sizes[d]);
        }
    }
  }

  CaseInput complete(size_t i) {
    if (given_[i]) return *given_[i];
    const InputSpec& spec = contract_.inputs[i];
    CaseInput out;
    out.name = spec.name;
    out.kind = spec.kind;
    if (spec.kind == Kind::kNone || spec.is_constant) {
      out.scalar = spec.constant;
      out_.has_values[i] = true;
      return out;
    }
    if (spec.kind != Kind::kTensor)
      refuse("the input '" + spec.name + "' is not given", "give " + spec.name + "=VALUE");
    out.dtype = spec.dtype;
    const auto lookup = [this](const std::string& name) -> std::optional<int64_t> {
      const auto at = symbols_.find(name);
      return at == symbols_.end() ? std::nullopt : std::optional(at->second);
    };
    for (size_t d = 0; d < spec.sizes.size(); ++d) {
      const std::optional<int64_t> size = spec.sizes[d].evaluate(lookup);
      if (!size)
        refuse(
            "the input '" + spec.name + "' is not given, and nothing says its size of dimension " + std::to_string(d),
            "give a file, " + spec.name + "=SIZES as 3x5, or " + spec.name + ".size(" + std::to_string(d) + ")=N");
      out.sizes.push_back(*size);
    }
    out_.sources[i] = "sizes follow";
    return out;
  }

  const Contract& contract_;
  std::vector<std::optional<CaseInput>> given_;
  std::vector<Loose> loose_;
  std::map<std::string, int64_t> symbols_;
  RunInputs out_;
};

}  // namespace

RunInputs make_run_inputs(const Contract& contract, const std::vector<std::string>& arguments,
                          const std::function<std::vector<SavedValue>(const std::string& path)>& read) {
  Binder binder(contract);
  for (const std::string& argument : arguments) binder.bind(argument, read);
  return binder.finish();
}

std::string print_inputs(const Contract& contract) {
  std::string out;
  for (const InputSpec& spec : contract.inputs) {
    const bool fixed = spec.kind == Kind::kNone || spec.is_constant;
    out += (out.empty() ? "  " : "\n  ") + input_text(spec, contract) + (fixed ? " (fixed at export)" : "");
  }
  return out.empty() ? "  nothing" : out;
}

}  // namespace aotifuzz
