#include "package/kernel_map.h"

#include <algorithm>
#include <array>
#include <limits>

#include "package/json_view.h"
#include "package/prim_ops.h"
#include "package/program_reader.h"
#include "package/srepr_parser.h"

namespace aotifuzz {
namespace {

constexpr const char* kMember = "extra/kernel_map.json";

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

using CallKind = MappedCall::Kind;
constexpr std::array<Named<CallKind>, 4> kCallKinds = {
    {{"cpp", CallKind::kCpp}, {"shim", CallKind::kShim}, {"proxy", CallKind::kProxy}, {"triton", CallKind::kTriton}}};

using Role = KernelArgument::Role;
constexpr std::array<Named<Role>, 5> kRoles = {
    {{"in", Role::kIn}, {"out", Role::kOut}, {"inout", Role::kInOut}, {"size", Role::kSize}, {"other", Role::kOther}}};

using InputKind = MapInput::Kind;
constexpr std::array<Named<InputKind>, 4> kInputKinds = {{{"user", InputKind::kUser},
                                                          {"constant", InputKind::kConstant},
                                                          {"literal", InputKind::kLiteral},
                                                          {"unknown", InputKind::kUnknown}}};

template <class Value, size_t n>
std::string_view name_of(const std::array<Named<Value>, n>& table, Value value) {
  for (const Named<Value>& row : table)
    if (row.value == value) return row.name;
  return "";
}

template <class Value, size_t n>
Value value_of(const std::array<Named<Value>, n>& table, const JsonView& view) {
  for (const Named<Value>& row : table)
    if (row.name == view.string()) return row.value;
  view.fail("unknown word '" + view.string() + "'");
}

constexpr std::array<Named<Dtype>, 16> kTorchDtypes = {{{"float32", Dtype::kF32},
                                                        {"float64", Dtype::kF64},
                                                        {"float16", Dtype::kF16},
                                                        {"bfloat16", Dtype::kBF16},
                                                        {"int64", Dtype::kI64},
                                                        {"int32", Dtype::kI32},
                                                        {"int16", Dtype::kI16},
                                                        {"int8", Dtype::kI8},
                                                        {"uint8", Dtype::kU8},
                                                        {"uint16", Dtype::kU16},
                                                        {"uint32", Dtype::kU32},
                                                        {"uint64", Dtype::kU64},
                                                        {"bool", Dtype::kBool},
                                                        {"complex64", Dtype::kC64},
                                                        {"complex128", Dtype::kC128},
                                                        {"float8_e4m3fn", Dtype::kF8E4M3FN}}};

/// Types of which nothing can be judged are unknown here, and no error.
Dtype read_dtype(const JsonView& view) {
  for (const Named<Dtype>& row : kTorchDtypes)
    if (row.name == view.string()) return row.value;
  return Dtype::kUnknown;
}

Expr read_expression(const JsonView& view) {
  if (!view.is_text()) return Expr::integer(view.integer());
  Result<Expr> parsed = parse_srepr(view.string());
  if (!parsed) view.fail(parsed.error().what);
  return std::move(*parsed);
}

std::vector<Expr> read_expressions(const JsonView& view) {
  std::vector<Expr> out;
  for (size_t i = 0; i < view.size(); ++i) out.push_back(read_expression(view[i]));
  return out;
}

KernelLabel read_label(const JsonView& view) {
  KernelLabel label;
  label.value = view.at("value").string();
  label.sizes = read_expressions(view.at("size"));
  label.strides = read_expressions(view.at("stride"));
  if (label.sizes.size() != label.strides.size()) view.fail("size and stride differ in length");
  label.offset = read_expression(view.at("offset"));
  if (const std::optional<JsonView> rule = view.find("rule")) {
    const std::string& kind = rule->at("kind").string();
    if (kind == "divide") {
      label.rule = KernelLabel::Rule::kDivide;
      label.by = read_expression(rule->at("by"));
    } else if (kind == "cast") {
      label.rule = KernelLabel::Rule::kCast;
    } else {
      rule->fail("unknown rule '" + kind + "'");
    }
  }
  return label;
}

std::vector<KernelLabel> read_labels(const std::optional<JsonView>& view, const Graph& graph) {
  std::vector<KernelLabel> labels;
  if (!view) return labels;
  for (size_t i = 0; i < view->size(); ++i) {
    labels.push_back(read_label((*view)[i]));
    if (!graph.tensors.contains(labels.back().value)) (*view)[i].fail("the graph has no tensor " + labels.back().value);
  }
  return labels;
}

KernelArgument read_argument(const JsonView& view, const Graph& graph) {
  KernelArgument argument;
  const int64_t at = view.at("at").integer();
  if (at < 0 || at > std::numeric_limits<int16_t>::max()) view.fail("no position of an argument");
  argument.at = static_cast<int>(at);
  if (const std::optional<JsonView> element = view.find("element")) {
    const int64_t position = element->integer();
    if (position < 0 || position > std::numeric_limits<int16_t>::max()) element->fail("no position in a list");
    argument.element = static_cast<int>(position);
  }
  if (const std::optional<JsonView> name = view.find("name")) argument.name = name->string();
  argument.role = value_of(kRoles, view.at("role"));
  if (argument.role == Role::kSize) argument.expression = read_expression(view.at("expression"));
  if (const std::optional<JsonView> buffer = view.find("buffer")) argument.buffer = buffer->string();
  if (const std::optional<JsonView> dtype = view.find("dtype")) argument.dtype = read_dtype(*dtype);
  argument.entry = read_labels(view.find("entry"), graph);
  argument.exit = read_labels(view.find("exit"), graph);
  return argument;
}

std::vector<std::string> read_strings(const std::optional<JsonView>& view) {
  std::vector<std::string> out;
  if (!view) return out;
  for (size_t i = 0; i < view->size(); ++i) out.push_back((*view)[i].string());
  return out;
}

MappedCall read_call(const JsonView& view, const Graph& graph) {
  MappedCall call;
  call.kernel = view.at("kernel").string();
  call.kind = value_of(kCallKinds, view.at("kind"));
  call.nodes = read_strings(view.find("nodes"));
  call.signature = read_strings(view.find("signature"));
  if (call.kind == CallKind::kProxy) call.node_index = view.at("node_index").integer();
  const JsonView arguments = view.at("arguments");
  for (size_t i = 0; i < arguments.size(); ++i) call.arguments.push_back(read_argument(arguments[i], graph));
  call.judged = view.at("judged").boolean();
  if (const std::optional<JsonView> why = view.find("why_not")) call.why_not = why->string();
  return call;
}

MapInput read_input(const JsonView& view) {
  MapInput input;
  input.value = view.at("value").string();
  input.kind = value_of(kInputKinds, view.at("kind"));
  if (input.kind == InputKind::kUser) input.index = view.at("index").integer();
  if (input.kind == InputKind::kConstant) input.fqn = view.at("fqn").string();
  if (input.kind != InputKind::kLiteral) return input;
  input.dtype = read_dtype(view.at("dtype"));
  const JsonView sizes = view.at("size"), data = view.at("data");
  int64_t elements = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    input.sizes.push_back(sizes[i].integer());
    if (input.sizes.back() < 0 || __builtin_mul_overflow(elements, input.sizes.back(), &elements))
      sizes.fail("no sizes of a tensor");
  }
  if (elements != static_cast<int64_t>(data.size())) data.fail("another number of elements than the sizes say");
  for (size_t i = 0; i < data.size(); ++i) input.data.push_back(data[i].real());
  return input;
}

KernelMap read_map(const JsonView& root) {
  const JsonView schema = root.at("schema");
  if (schema.integer() != KernelMap::kSchema)
    schema.fail("kernel map of schema " + std::to_string(schema.integer()) + ", this reader knows " +
                std::to_string(KernelMap::kSchema));
  KernelMap map;
  if (const std::optional<JsonView> version = root.find("torch_version")) map.torch_version = version->string();
  map.graph = read_graph(root.at("graph"));
  replace_prims(map.graph);
  const JsonView inputs = root.at("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) map.inputs.push_back(read_input(inputs[i]));
  if (map.inputs.size() != map.graph.inputs.size()) inputs.fail("the graph has another number of inputs");
  const auto read_symbol = [&](const std::string& name, const JsonView& view) {
    SymbolSource source;
    source.input = view.at("input").integer();
    const std::optional<JsonView> dim = view.find("dim");
    source.stride = !dim;
    source.dim = dim ? dim->integer() : view.at("stride").integer();
    if (const std::optional<JsonView> by = view.find("by")) source.by = by->integer();
    if (source.by < 1) view.fail("a symbol times nothing");
    map.symbols.emplace(name, source);
  };
  root.at("symbols").for_each_member(read_symbol);
  if (const std::optional<JsonView> multiples = root.find("multiples")) multiples->for_each_member(read_symbol);
  if (const std::optional<JsonView> precomputed = root.find("precomputed"))
    precomputed->for_each_member(
        [&](const std::string& name, const JsonView& view) { map.precomputed.emplace(name, read_expression(view)); });
  const JsonView calls = root.at("calls");
  for (size_t i = 0; i < calls.size(); ++i) map.calls.push_back(read_call(calls[i], map.graph));
  map.notes = read_strings(root.find("notes"));
  if (const std::optional<JsonView> sources = root.find("kernel_sources"))
    sources->for_each_member(
        [&](const std::string& name, const JsonView& view) { map.sources.emplace(name, view.string()); });
  return map;
}

}  // namespace

std::string_view kernel_kind_name(MappedCall::Kind kind) { return name_of(kCallKinds, kind); }
std::string_view kernel_role_name(KernelArgument::Role role) { return name_of(kRoles, role); }

std::string argument_name(const KernelArgument& argument) {
  return argument.name.empty() ? "argument " + std::to_string(argument.at + 1) : argument.name;
}

const MapInput* KernelMap::find_input(std::string_view value) const {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const MapInput& input) { return input.value == value; });
  return found == inputs.end() ? nullptr : &*found;
}

Result<KernelMap> parse_kernel_map(std::string_view json_text) { return read_json(json_text, kMember, read_map); }

}  // namespace aotifuzz
