#include "package/program_reader.h"

#include <utility>

#include "package/json_view.h"
#include "package/srepr_parser.h"

namespace aotifuzz {
namespace {

constexpr int kMajor = 8;
constexpr int kMinorLeast = 17;

using Kind = Argument::Kind;

Expr read_sym_expr(const JsonView& view) {
  const JsonView text = view.at("expr_str");
  Result<Expr> parsed = parse_srepr(text.string());
  if (!parsed) text.fail(parsed.error().what);
  return std::move(*parsed);
}

Expr read_sym_int(const JsonView& view) {
  const auto [arm, value] = view.arm();
  if (arm == "as_int") return Expr::integer(value.integer());
  if (arm == "as_expr") return read_sym_expr(value);
  view.fail("unknown kind of size '" + arm + "'");
}

std::vector<Expr> read_sym_ints(const JsonView& view) {
  std::vector<Expr> out;
  for (size_t i = 0; i < view.size(); ++i) out.push_back(read_sym_int(view[i]));
  return out;
}

/// SymFloat or SymBool: kept as text, the interpreter computes them from the graph.
std::string read_sym_text(const JsonView& view) {
  const auto [arm, value] = view.arm();
  if (arm == "as_expr") return value.at("expr_str").string();
  if (arm == "as_bool") return value.boolean() ? "true" : "false";
  if (arm == "as_float") return std::to_string(value.real());
  view.fail("unknown kind of symbolic value '" + arm + "'");
}

std::string read_device(const JsonView& view) {
  std::string device = view.at("type").string();
  if (const std::optional<JsonView> index = view.find("index")) device += ":" + std::to_string(index->integer());
  return device;
}

TensorMeta read_tensor_meta(const JsonView& view) {
  TensorMeta meta;
  const JsonView code = view.at("dtype");
  meta.dtype = dtype_from_schema(code.integer()).value_or(Dtype::kUnknown);
  meta.sizes = read_sym_ints(view.at("sizes"));
  meta.strides = read_sym_ints(view.at("strides"));
  meta.offset = read_sym_int(view.at("storage_offset"));
  meta.device = read_device(view.at("device"));
  meta.requires_grad = view.at("requires_grad").boolean();
  meta.layout = static_cast<int>(view.at("layout").integer());
  if (meta.layout == 7 && meta.sizes.size() != meta.strides.size()) view.fail("sizes and strides differ in length");
  return meta;
}

Argument of_kind(Kind kind) {
  Argument out;
  out.kind = kind;
  return out;
}

Argument named(Kind kind, std::string name) {
  Argument out = of_kind(kind);
  out.name = std::move(name);
  return out;
}

template <class ReadItem>
Argument read_list(const JsonView& view, Kind element, ReadItem read_item) {
  Argument out = of_kind(Kind::kList);
  out.element_kind = element;
  for (size_t i = 0; i < view.size(); ++i) out.items.push_back(read_item(view[i]));
  return out;
}

Argument read_int(const JsonView& view, Kind kind = Kind::kInt) {
  Argument out = of_kind(kind);
  out.integer = view.integer();
  return out;
}

Argument read_float(const JsonView& view) {
  Argument out = of_kind(Kind::kFloat);
  out.real = view.real();
  return out;
}

Argument read_bool(const JsonView& view) {
  Argument out = of_kind(Kind::kBool);
  out.boolean = view.boolean();
  return out;
}

Argument read_tensor(const JsonView& view) { return named(Kind::kTensor, view.at("name").string()); }

Argument read_string(const JsonView& view) { return named(Kind::kString, view.string()); }

/// SymIntArgument and its siblings: a name in the graph or a plain value.
Argument read_sym_argument(const JsonView& view, Kind kind) {
  const auto [arm, value] = view.arm();
  if (arm == "as_name") return named(kind, value.string());
  if (arm == "as_int") return read_int(value);
  if (arm == "as_float") return read_float(value);
  if (arm == "as_bool") return read_bool(value);
  return named(Kind::kUnknown, arm);
}

Argument read_optional_tensor(const JsonView& view) {
  const auto [arm, value] = view.arm();
  if (arm == "as_none") return of_kind(Kind::kNone);
  if (arm == "as_tensor") return read_tensor(value);
  return named(Kind::kUnknown, arm);
}

Argument read_argument(const JsonView& view) {
  const auto [arm, value] = view.arm();
  const auto item_int = [](const JsonView& v) { return read_int(v); };
  if (arm == "as_none") return of_kind(Kind::kNone);
  if (arm == "as_tensor") return read_tensor(value);
  if (arm == "as_tensors") return read_list(value, Kind::kTensor, read_tensor);
  if (arm == "as_int") return read_int(value);
  if (arm == "as_ints") return read_list(value, Kind::kInt, item_int);
  if (arm == "as_float") return read_float(value);
  if (arm == "as_floats") return read_list(value, Kind::kFloat, read_float);
  if (arm == "as_string") return read_string(value);
  if (arm == "as_strings") return read_list(value, Kind::kString, read_string);
  if (arm == "as_bool") return read_bool(value);
  if (arm == "as_bools") return read_list(value, Kind::kBool, read_bool);
  if (arm == "as_sym_int") return read_sym_argument(value, Kind::kSymInt);
  if (arm == "as_sym_float") return read_sym_argument(value, Kind::kSymFloat);
  if (arm == "as_sym_bool") return read_sym_argument(value, Kind::kSymBool);
  if (arm == "as_sym_ints")
    return read_list(value, Kind::kInt, [](const JsonView& v) { return read_sym_argument(v, Kind::kSymInt); });
  if (arm == "as_sym_floats")
    return read_list(value, Kind::kFloat, [](const JsonView& v) { return read_sym_argument(v, Kind::kSymFloat); });
  if (arm == "as_sym_bools")
    return read_list(value, Kind::kBool, [](const JsonView& v) { return read_sym_argument(v, Kind::kSymBool); });
  if (arm == "as_scalar_type") return read_int(value, Kind::kScalarType);
  if (arm == "as_memory_format") return read_int(value, Kind::kMemoryFormat);
  if (arm == "as_layout") return read_int(value, Kind::kLayout);
  if (arm == "as_device") return named(Kind::kDevice, read_device(value));
  if (arm == "as_optional_tensor") return read_optional_tensor(value);
  if (arm == "as_optional_tensors") return read_list(value, Kind::kTensor, read_optional_tensor);
  if (arm == "as_nested_tensors")
    return read_list(value, Kind::kList, [](const JsonView& v) { return read_list(v, Kind::kTensor, read_tensor); });
  if (arm == "as_int_lists")
    return read_list(value, Kind::kList, [&](const JsonView& v) { return read_list(v, Kind::kInt, item_int); });
  if (arm == "as_float_lists")
    return read_list(value, Kind::kList, [](const JsonView& v) { return read_list(v, Kind::kFloat, read_float); });
  if (arm == "as_complex") {
    Argument out = of_kind(Kind::kComplex);
    out.real = value.at("real").real();
    out.imag = value.at("imag").real();
    return out;
  }
  if (arm == "as_operator") return named(Kind::kOperator, value.string());
  if (arm == "as_custom_obj") return named(Kind::kCustomObj, value.at("name").string());
  if (arm == "as_graph") {
    Argument out = named(Kind::kGraph, value.at("name").string());
    out.graph = std::make_shared<Graph>(read_graph(value.at("graph")));
    return out;
  }
  if (arm == "as_string_to_argument") {
    Argument out = of_kind(Kind::kDict);
    value.for_each_member([&](const std::string& key, const JsonView& item) {
      out.keys.push_back(key);
      out.items.push_back(read_argument(item));
    });
    return out;
  }
  return named(Kind::kUnknown, arm);
}

std::vector<Argument> read_arguments(const JsonView& view) {
  std::vector<Argument> out;
  for (size_t i = 0; i < view.size(); ++i) out.push_back(read_argument(view[i]));
  return out;
}

std::string first_name(const std::vector<Argument>& outputs) {
  for (const Argument& output : outputs) {
    if (!output.name.empty()) return output.name;
    for (const Argument& item : output.items)
      if (!item.name.empty()) return item.name;
  }
  return "";
}

Node read_node(const JsonView& view) {
  constexpr int64_t kKeyword = 2;  // ArgumentKind of the schema
  Node node;
  node.target = view.at("target").string();
  const JsonView inputs = view.at("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<JsonView> kind = inputs[i].find("kind");
    node.inputs.push_back(
        {inputs[i].at("name").string(), read_argument(inputs[i].at("arg")), kind && kind->integer() == kKeyword});
  }
  node.outputs = read_arguments(view.at("outputs"));
  const std::optional<JsonView> name = view.find("name");
  node.name = name ? name->string() : first_name(node.outputs);
  if (const std::optional<JsonView> metadata = view.find("metadata"))
    if (const std::optional<JsonView> trace = metadata->find("stack_trace")) node.stack_trace = trace->string();
  return node;
}

}  // namespace

Graph read_graph(const JsonView& view) {
  Graph graph;
  graph.inputs = read_arguments(view.at("inputs"));
  graph.outputs = read_arguments(view.at("outputs"));
  const JsonView nodes = view.at("nodes");
  for (size_t i = 0; i < nodes.size(); ++i) graph.nodes.push_back(read_node(nodes[i]));
  view.at("tensor_values").for_each_member([&](const std::string& name, const JsonView& meta) {
    graph.tensors.emplace(name, read_tensor_meta(meta));
  });
  view.at("sym_int_values").for_each_member([&](const std::string& name, const JsonView& value) {
    graph.sym_ints.emplace(name, read_sym_int(value));
  });
  if (const std::optional<JsonView> floats = view.find("sym_float_values"))
    floats->for_each_member(
        [&](const std::string& name, const JsonView& value) { graph.sym_floats.emplace(name, read_sym_text(value)); });
  if (const std::optional<JsonView> bools = view.find("sym_bool_values"))
    bools->for_each_member(
        [&](const std::string& name, const JsonView& value) { graph.sym_bools.emplace(name, read_sym_text(value)); });
  if (const std::optional<JsonView> single = view.find("is_single_tensor_return"))
    graph.is_single_tensor_return = single->boolean();
  return graph;
}

namespace {

GraphInput read_input_spec(const JsonView& view) {
  using InputKind = GraphInput::Kind;
  GraphInput out;
  const auto [arm, spec] = view.arm();
  if (arm == "user_input") {
    out.kind = InputKind::kUser;
    out.value = read_argument(spec.at("arg"));
    out.name = out.value.name;
    return out;
  }
  if (arm == "constant_input") {
    out.kind = InputKind::kConstant;
    out.name = out.target = spec.at("name").string();
    out.value = read_argument(spec.at("value"));
    return out;
  }
  out.name = spec.at("arg").at("name").string();
  if (arm == "parameter") {
    out.kind = InputKind::kParameter;
    out.target = spec.at("parameter_name").string();
  } else if (arm == "buffer") {
    out.kind = InputKind::kBuffer;
    out.target = spec.at("buffer_name").string();
  } else if (arm == "tensor_constant") {
    out.kind = InputKind::kTensorConstant;
    out.target = spec.at("tensor_constant_name").string();
  } else if (arm == "custom_obj") {
    out.kind = InputKind::kCustomObj;
    out.target = spec.at("custom_obj_name").string();
  } else if (arm == "token") {
    out.kind = InputKind::kToken;
  } else {
    view.fail("unknown kind of graph input '" + arm + "'");
  }
  return out;
}

GraphOutput read_output_spec(const JsonView& view) {
  using OutputKind = GraphOutput::Kind;
  GraphOutput out;
  const auto [arm, spec] = view.arm();
  if (arm == "user_output") {
    out.value = read_argument(spec.at("arg"));
    return out;
  }
  out.value = named(Kind::kTensor, spec.at("arg").at("name").string());
  if (arm == "loss_output") {
    out.kind = OutputKind::kLoss;
  } else if (arm == "buffer_mutation") {
    out.kind = OutputKind::kBufferMutation;
    out.target = spec.at("buffer_name").string();
  } else if (arm == "parameter_mutation") {
    out.kind = OutputKind::kParameterMutation;
    out.target = spec.at("parameter_name").string();
  } else if (arm == "user_input_mutation") {
    out.kind = OutputKind::kUserInputMutation;
    out.target = spec.at("user_input_name").string();
  } else if (arm == "gradient_to_parameter") {
    out.kind = OutputKind::kGradient;
    out.target = spec.at("parameter_name").string();
  } else if (arm == "gradient_to_user_input") {
    out.kind = OutputKind::kGradient;
    out.target = spec.at("user_input_name").string();
  } else if (arm == "token") {
    out.kind = OutputKind::kToken;
  } else {
    view.fail("unknown kind of graph output '" + arm + "'");
  }
  return out;
}

Program::Range read_range(const JsonView& view) {
  Program::Range range;
  if (const std::optional<JsonView> min = view.find("min_val")) range.min = min->integer();
  if (const std::optional<JsonView> max = view.find("max_val")) range.max = max->integer();
  return range;
}

void check_version(const JsonView& root, Program& program) {
  const JsonView version = root.at("schema_version");
  program.schema_major = static_cast<int>(version.at("major").integer());
  program.schema_minor = static_cast<int>(version.at("minor").integer());
  if (program.schema_major == kMajor && program.schema_minor >= kMinorLeast) return;
  version.fail("ExportedProgram schema " + std::to_string(program.schema_major) + "." +
               std::to_string(program.schema_minor) + " is not supported: needs " + std::to_string(kMajor) + "." +
               std::to_string(kMinorLeast) + " or a later minor version");
}

Program read_program(const JsonView& root, const std::string& model_name) {
  Program program;
  program.model_name = model_name;
  check_version(root, program);
  if (const std::optional<JsonView> version = root.find("torch_version")) program.torch_version = version->string();
  const JsonView module = root.at("graph_module");
  program.graph = read_graph(module.at("graph"));
  const JsonView signature = module.at("signature");
  const JsonView inputs = signature.at("input_specs");
  for (size_t i = 0; i < inputs.size(); ++i) program.inputs.push_back(read_input_spec(inputs[i]));
  if (program.inputs.size() != program.graph.inputs.size()) inputs.fail("signature and graph differ in their inputs");
  const JsonView outputs = signature.at("output_specs");
  for (size_t i = 0; i < outputs.size(); ++i) program.outputs.push_back(read_output_spec(outputs[i]));
  if (program.outputs.size() != program.graph.outputs.size())
    outputs.fail("signature and graph differ in their outputs");
  root.at("range_constraints").for_each_member([&](const std::string& key, const JsonView& range) {
    program.range_constraints.emplace(key, read_range(range));
  });
  if (const std::optional<JsonView> guards = root.find("guards_code"))
    for (size_t i = 0; i < guards->size(); ++i) program.guards_code.push_back((*guards)[i].string());
  const JsonView calls = module.at("module_call_graph");
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].at("fqn").string().empty()) continue;
    if (const std::optional<JsonView> top = calls[i].find("signature")) {
      program.in_spec = top->at("in_spec").string();
      program.out_spec = top->at("out_spec").string();
    }
  }
  return program;
}

}  // namespace

Result<Program> parse_program(std::string_view json_text, const std::string& model_name) {
  return read_json(json_text, "models/" + model_name + ".json",
                   [&](const JsonView& root) { return read_program(root, model_name); });
}

Result<std::vector<WeightInfo>> parse_weights_config(std::string_view json_text, const std::string& folder) {
  return read_json(json_text, folder + "config", [&](const JsonView& root) {
    std::vector<WeightInfo> weights;
    root.at("config").for_each_member([&](const std::string& fqn, const JsonView& payload) {
      const std::optional<JsonView> meta = payload.find("tensor_meta");
      if (!meta) return;
      const JsonView path = payload.at("path_name");
      if (path.string().empty() || path.string().find('/') != std::string::npos) path.fail("not a plain member name");
      weights.push_back({fqn, folder + path.string(), read_tensor_meta(*meta), payload.at("use_pickle").boolean()});
    });
    return weights;
  });
}

}  // namespace aotifuzz
