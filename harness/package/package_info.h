#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract.h"
#include "package/graph.h"
#include "package/kernel_map.h"

namespace aotifuzz {

/// One line of a generated `check_input_N`: what the compiled package refuses with AOTI_RUNTIME_CHECK_INPUTS=1.
struct InputCheck {
  enum class Kind : uint8_t { kDtype, kDeviceType, kStaticSize, kMinSize, kMaxSize, kStaticStride, kLayer2 };
  int input = 0;
  Kind kind = Kind::kStaticSize;
  int dim = -1;
  int64_t value = 0;
  std::string text;  ///< "x.size(0) >= 2"
};

/// What the second layer of checks (since torch 2.13: assert_size_stride, right before an input is first used) says of one
/// size: a number, or the size of another dimension. Sizes that are other expressions are not read.
struct AssumedSize {
  int input = 0;
  int dim = 0;
  std::optional<int64_t> value;
  std::string symbol;  ///< of the wrapper, "s77"; CompiledModel::symbol_dims has its dimension
};

struct KernelInfo {
  std::string name;                          ///< "cpp_fused_add_embedding_0"
  std::vector<std::string> post_grad_nodes;  ///< from kernel_information.json; empty without provenance
  std::vector<std::string> pre_grad_nodes;
  bool is_extern = false;                    ///< aoti_torch_cpu_addmm_out and the like
  int calls = 0;                             ///< call sites in run_impl
};

/// The AOTI part of an archive: one compiled model.
struct CompiledModel {
  std::string name;            ///< "model"
  std::string device;          ///< AOTI_DEVICE_KEY: "cpu", "cuda"
  std::string cpu_isa;
  std::string compute_capability;
  std::string so_member;
  std::vector<std::string> input_names;   ///< as the wrapper has them: "arg1_1"
  std::vector<std::string> output_names;
  std::vector<InputCheck> checks;
  std::vector<AssumedSize> assumed_sizes;
  /// Wrapper's symbol lines: "s58" -> "x.size(0)".
  std::map<std::string, std::string> symbol_dims;
  std::vector<KernelInfo> kernels;
  struct Constant { std::string name, fqn; Dtype dtype = Dtype::kUnknown; std::vector<int64_t> sizes; int64_t bytes = 0; };
  std::vector<Constant> constants;
};

/// What pack added to the archive (extra/aotifuzz_pack.json); absent in stock packages.
struct PackRecord {
  int version = 0;
  std::string torch_version;
  std::string recipe_file, recipe_function, recipe_source;  ///< model source text, for standalone reproducers
};

/// A `.pt2` read without torch: what every part of aotifuzz knows about the package under test.
struct PackageInfo {
  std::string path;
  bool is_library = false;  ///< a bare .so of the deprecated aot_compile, no archive
  uint64_t bytes = 0;
  std::vector<std::string> models;          ///< names of all models in the archive
  std::optional<CompiledModel> compiled;    ///< the chosen one
  std::shared_ptr<const Program> program;   ///< null: no reference in the archive and none given
  std::string program_path;                 ///< archive that `program` was read from (path, or --reference)
  std::optional<PackRecord> pack;
  std::shared_ptr<const KernelMap> kernels;  ///< null: not asked for, or none in the archive (see `missing`)
  Contract contract;
  /// What cannot be judged for lack of something, one line each: "close: no ExportedProgram ...".
  std::vector<std::string> missing;
};

struct PackageRequest {
  std::string path;
  std::string model;      ///< "" = the only one, or "model"
  std::string reference;  ///< archive with the ExportedProgram; "" = look in `path`
  bool kernels = false;   ///< also read the kernel map
};

/// Reads archive, program and wrapper and builds the contract. Throws HarnessError (naming member and reason) for what
/// cannot be read; what is merely absent goes to `missing`.
PackageInfo read_package(const PackageRequest& request);

/// Raw bytes of one archive member (weights). Throws HarnessError.
std::vector<uint8_t> read_member(const std::string& archive, const std::string& member);

}  // namespace aotifuzz
