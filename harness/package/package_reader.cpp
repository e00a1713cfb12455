#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "package/archive.h"
#include "package/contract_builder.h"
#include "package/json_view.h"
#include "package/library_reader.h"
#include "package/package_info.h"
#include "package/program_reader.h"
#include "package/wrapper_reader.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kModels = "models/";
constexpr std::string_view kCompiled = "data/aotinductor/";
constexpr std::string_view kPackMember = "extra/aotifuzz_pack.json";
constexpr std::string_view kKernelMap = "extra/kernel_map.json";

[[noreturn]] void fail(const ParseError& error, std::string fix) {
  throw HarnessError(error.what, error.where, std::move(fix));
}

template <class T>
T need(Result<T> result, const std::string& fix) {
  if (!result) fail(result.error(), fix);
  return std::move(*result);
}

constexpr const char* kDamaged = "the package is damaged or was not written by torch: build it again";

Archive open_archive(const std::string& path) {
  return need(
      Archive::open(path),
      "give the path of a .pt2 written by aoti_compile_and_package or torch.export.save, or of the .so of aot_compile");
}

/// Names `NAME` of members `models/NAME.json`.
std::vector<std::string> program_names(const Archive& archive) {
  std::vector<std::string> names;
  const std::string prefix = archive.root() + std::string(kModels);
  for (const Archive::Member& member : archive.members()) {
    if (!member.name.starts_with(prefix) || !member.name.ends_with(".json")) continue;
    const std::string name = member.name.substr(prefix.size(), member.name.size() - prefix.size() - 5);
    if (name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

/// Names `NAME` of folders `data/aotinductor/NAME/` that hold a shared library.
std::vector<std::string> compiled_names(const Archive& archive) {
  std::set<std::string> names;
  const std::string prefix = archive.root() + std::string(kCompiled);
  for (const Archive::Member& member : archive.members()) {
    if (!member.name.starts_with(prefix) || !member.name.ends_with(".so")) continue;
    const size_t end = member.name.find('/', prefix.size());
    if (end != std::string::npos) names.insert(member.name.substr(prefix.size(), end - prefix.size()));
  }
  return {names.begin(), names.end()};
}

std::string choose(const std::vector<std::string>& names, const std::string& wanted, const std::string& path,
                   const char* what) {
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (!wanted.empty() && has(wanted)) return wanted;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (!wanted.empty())
    throw HarnessError(std::string("no ") + what + " called '" + wanted + "'", path, "choose one of: " + list);
  if (names.size() == 1) return names[0];
  if (has("model")) return "model";
  throw HarnessError(std::string("several models and none is called 'model'"), path, "give --model, one of: " + list);
}

/// Bytes of raw storage that a weight's view needs; nullopt when its sizes are no constants or absurd.
std::optional<int64_t> storage_bytes(const TensorMeta& meta) {
  CaseInput view;
  view.dtype = meta.dtype;
  view.strides.emplace();
  for (const Expr& size : meta.sizes) {
    if (!size.is_constant() || size.value() < 0) return std::nullopt;
    view.sizes.push_back(size.value());
  }
  for (const Expr& stride : meta.strides) {
    if (!stride.is_constant() || stride.value() < 0) return std::nullopt;
    view.strides->push_back(stride.value());
  }
  if (!meta.offset.is_constant() || meta.offset.value() < 0) return std::nullopt;
  view.offset = meta.offset.value();
  int64_t bytes = 0;
  if (__builtin_mul_overflow(view.storage_elements(), dtype_bytes(meta.dtype), &bytes)) return std::nullopt;
  return bytes;
}

void read_weights(const Archive& archive, const std::string& name, Program& program) {
  for (const char* kind : {"weights", "constants"}) {
    const std::string folder = std::string("data/") + kind + "/";
    const std::string config = folder + name + "_" + kind + "_config.json";
    if (archive.find(config) == nullptr) continue;
    const std::string text = need(archive.read(config), kDamaged);
    for (WeightInfo& weight : need(parse_weights_config(text, archive.root() + folder), kDamaged)) {
      const Archive::Member* member = archive.find(weight.member.substr(archive.root().size()));
      if (member == nullptr)
        throw HarnessError("weight '" + weight.fqn + "' has no data", archive.root() + config, kDamaged);
      const std::optional<int64_t> bytes = storage_bytes(weight.meta);
      if (!weight.pickled && (!bytes || static_cast<uint64_t>(*bytes) > member->bytes))
        throw HarnessError(
            "weight '" + weight.fqn + "' has " + std::to_string(member->bytes) + " bytes, fewer than its sizes need",
            weight.member, kDamaged);
      program.weights.push_back(std::move(weight));
    }
  }
}

std::shared_ptr<const Program> read_program(const Archive& archive, const std::string& name) {
  const std::string text = need(archive.read(std::string(kModels) + name + ".json"), kDamaged);
  Program program = need(parse_program(text, name), "use a package written by torch 2.11 or later");
  read_weights(archive, name, program);
  return std::make_shared<const Program>(std::move(program));
}

CompiledModel read_compiled(const Archive& archive, const std::string& name, std::vector<std::string>& missing) {
  CompiledModel model;
  model.name = name;
  const std::string folder = std::string(kCompiled) + name + "/";
  std::string wrapper, metadata;
  for (const Archive::Member& member : archive.members()) {
    if (!member.name.starts_with(archive.root() + folder)) continue;
    const std::string below = member.name.substr(archive.root().size());
    if (below.ends_with(".so") && model.so_member.empty()) model.so_member = member.name;
    if (below.ends_with(".wrapper.cpp") ||
        (wrapper.empty() && below.ends_with(".cpp") && !below.ends_with(".kernel.cpp")))
      wrapper = below;
    if (below.ends_with("wrapper_metadata.json") || (metadata.empty() && below.ends_with("_metadata.json")))
      metadata = below;
  }
  if (wrapper.empty())
    missing.push_back("input checks, kernels: no wrapper.cpp in the package");
  else
    read_wrapper(need(archive.read(wrapper), kDamaged), model);
  if (!metadata.empty())
    need(read_compiled_metadata(need(archive.read(metadata), kDamaged), metadata, model), kDamaged);
  if (archive.find(folder + "kernel_information.json") != nullptr) {
    const std::string member = folder + "kernel_information.json";
    need(read_kernel_information(need(archive.read(member), kDamaged), member, model), kDamaged);
  } else {
    missing.push_back("kernel origins: no kernel_information.json (compile with trace.provenance_tracking_level=1)");
  }
  return model;
}

std::optional<PackRecord> read_pack_record(const Archive& archive) {
  if (archive.find(kPackMember) == nullptr) return std::nullopt;
  const std::string text = need(archive.read(kPackMember), kDamaged);
  const auto read = [](const JsonView& root) {
    PackRecord record;
    const auto string = [](const std::optional<JsonView>& view) { return view ? view->string() : std::string(); };
    record.version = static_cast<int>(root.at("pack_version").integer());
    record.torch_version = string(root.find("torch_version"));
    if (const std::optional<JsonView> recipe = root.find("recipe")) {
      record.recipe_file = string(recipe->find("file"));
      record.recipe_function = string(recipe->find("function"));
      record.recipe_source = string(recipe->find("source"));
    }
    return record;
  };
  return need(read_json(text, std::string(kPackMember), read), kDamaged);
}

/// A map that cannot be read costs the judgement of kernels, not the package.
std::shared_ptr<const KernelMap> read_kernels(const Archive& archive, std::vector<std::string>& missing) {
  if (archive.find(kKernelMap) == nullptr) {
    missing.push_back("kernels: no kernel map in the package (compile it with aotifuzz_pack)");
    return nullptr;
  }
  const Result<std::string> text = archive.read(kKernelMap);
  Result<KernelMap> map = text ? parse_kernel_map(*text) : tl::unexpected(text.error());
  if (map) return std::make_shared<const KernelMap>(std::move(*map));
  missing.push_back("kernels: the kernel map cannot be read: " + map.error().what + " (" + map.error().where + ")");
  return nullptr;
}

/// Writes the program's input names into checks and symbols where both sides have the same inputs.
void name_inputs(const Contract& contract, CompiledModel& compiled, std::vector<std::string>& missing) {
  std::vector<std::string> names;
  for (const InputSpec& input : contract.inputs)
    if (!input.is_constant && input.kind != CaseInput::Kind::kNone) names.push_back(input.name);
  if (names.size() != compiled.input_names.size()) {
    if (!compiled.input_names.empty())
      missing.push_back("names of compiled inputs: the program has " + std::to_string(names.size()) +
                        " inputs, the compiled model " + std::to_string(compiled.input_names.size()));
    return;
  }
  for (InputCheck& check : compiled.checks)
    if (check.input < static_cast<int>(names.size())) check.text = check_text(check, names[check.input]);
  for (auto& [symbol, dim] : compiled.symbol_dims) {
    const size_t dot = dim.find('.');
    const auto it = std::find(compiled.input_names.begin(), compiled.input_names.end(), dim.substr(0, dot));
    if (it != compiled.input_names.end()) dim = names[it - compiled.input_names.begin()] + dim.substr(dot);
  }
}

/// The reference must be the program that was compiled: judged by another one, a right package looks broken. Count of
/// tensor inputs, their dtypes and static sizes are what the compiled checks state.
void require_same_program(const Contract& contract, const CompiledModel& compiled, const PackageInfo& info) {
  const auto refuse = [&](const std::string& why) {
    throw HarnessError("the reference is not the program that the package was compiled from: " + why, info.program_path,
                       "give the ExportedProgram that " + info.path + " was compiled from");
  };
  std::vector<const InputSpec*> tensors;
  for (const InputSpec& input : contract.inputs)
    if (input.kind == CaseInput::Kind::kTensor) tensors.push_back(&input);
  if (tensors.size() != compiled.input_names.size()) {
    if (tensors.size() == contract.inputs.size() && !compiled.input_names.empty())
      refuse(std::to_string(tensors.size()) + " inputs, compiled for " + std::to_string(compiled.input_names.size()));
    return;  // scalars among the inputs: positions do not tell
  }
  for (const InputCheck& check : compiled.checks) {
    if (check.input < 0 || static_cast<size_t>(check.input) >= tensors.size()) continue;
    const InputSpec& input = *tensors[static_cast<size_t>(check.input)];
    if (check.kind == InputCheck::Kind::kDtype && static_cast<int64_t>(input.dtype) != check.value)
      refuse(input.name + " is " + std::string(dtype_name(input.dtype)) + ", the compiled checks say " + check.text);
    if (check.kind != InputCheck::Kind::kStaticSize) continue;
    const size_t dim = static_cast<size_t>(check.dim);
    if (dim >= input.sizes.size() || (input.sizes[dim].is_constant() && input.sizes[dim].value() != check.value))
      refuse(input.name + " has other sizes, the compiled checks say " + check.text);
  }
}

/// Which program of `archive` is the reference, and the program.
void read_given_reference(const std::string& path, const std::string& name, PackageInfo& info) {
  const Archive reference = open_archive(path);
  const std::vector<std::string> names = program_names(reference);
  if (names.empty())
    throw HarnessError("no ExportedProgram in the reference", path, "give a .pt2 of torch.export.save");
  const bool same = std::find(names.begin(), names.end(), name) != names.end();
  info.program = read_program(reference, choose(names, same ? name : "", path, "ExportedProgram"));
  info.program_path = path;
}

/// What the archive holds: compiled model, program, pack record, kernel map.
void read_archive(const PackageRequest& request, PackageInfo& info) {
  const Archive archive = open_archive(request.path);
  const std::vector<std::string> compiled = compiled_names(archive);
  const std::vector<std::string> programs = program_names(archive);
  std::set<std::string> all(compiled.begin(), compiled.end());
  all.insert(programs.begin(), programs.end());
  info.models.assign(all.begin(), all.end());
  if (info.models.empty())
    throw HarnessError("archive holds neither a compiled model nor an ExportedProgram", request.path,
                       "give a .pt2 written by aoti_compile_and_package or torch.export.save");

  std::string name = request.model;
  if (!compiled.empty()) {
    name = choose(compiled, request.model, request.path, "compiled model");
    info.compiled = read_compiled(archive, name, info.missing);
  } else {
    info.missing.push_back("every oracle: no compiled model in the archive");
  }

  if (!request.reference.empty()) {
    read_given_reference(request.reference, name, info);
  } else if (!programs.empty()) {
    const bool same = std::find(programs.begin(), programs.end(), name) != programs.end();
    if (same || compiled.empty()) {
      info.program =
          read_program(archive, same ? name : choose(programs, request.model, request.path, "ExportedProgram"));
      info.program_path = request.path;
    }
  }
  info.pack = read_pack_record(archive);
  if (request.kernels && info.compiled) info.kernels = read_kernels(archive, info.missing);
}

}  // namespace

PackageInfo read_package(const PackageRequest& request) {
  PackageInfo info;
  info.path = request.path;
  std::ifstream file(request.path, std::ios::binary | std::ios::ate);
  info.bytes = file ? static_cast<uint64_t>(file.tellg()) : 0;
  info.is_library = is_library_file(request.path);
  if (info.is_library) {
    info.compiled = read_library(request.path, info.missing);
    info.models = {info.compiled->name};
    if (!request.reference.empty()) read_given_reference(request.reference, "", info);
    info.missing.push_back("kernels: no kernel map in a bare library (compile it with aotifuzz_pack)");
  } else {
    read_archive(request, info);
  }

  if (info.program) {
    info.contract = build_contract(*info.program, info.missing);
    if (info.compiled) require_same_program(info.contract, *info.compiled, info);
    if (info.compiled) name_inputs(info.contract, *info.compiled, info.missing);
  } else {
    info.missing.push_back(
        "close, metadata, unchanged, rejection: no ExportedProgram (give --reference, or use aotifuzz_pack)");
    const bool equal = info.compiled && !info.compiled->assumed_sizes.empty();
    info.missing.push_back(std::string("contract: read from the compiled input checks, so relations between inputs ") +
                           (equal ? "other than equal sizes are unknown" : "are unknown"));
    if (info.compiled) info.contract = build_contract(*info.compiled);
  }
  return info;
}

std::vector<uint8_t> read_member(const std::string& archive_path, const std::string& member) {
  const Archive archive = open_archive(archive_path);
  const std::string& root = archive.root();
  const std::string below = member.starts_with(root) ? member.substr(root.size()) : member;
  const std::string bytes = need(archive.read(below, uint64_t{1} << 40), kDamaged);
  return {bytes.begin(), bytes.end()};
}

}  // namespace aotifuzz
