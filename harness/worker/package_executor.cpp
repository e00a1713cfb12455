#include "worker/package_executor.h"

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include "core/error.h"
#include "worker/device_runtime.h"
#include "worker/error_text.h"
#include "worker/guard_allocator.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {
namespace {

using torch::inductor::AOTIModelContainerRunner;
using torch::inductor::AOTIModelPackageLoader;

constexpr const char* kCheckVariable = "AOTI_RUNTIME_CHECK_INPUTS";

/// 2.11 throws only this; the cause is on stderr. Newer versions put the cause into the exception.
constexpr std::string_view kNoCause = "API call failed at";

/// First line of what a package wrote to stderr that starts with "Error: ", without that; "" when there is none.
std::string cause_on_stderr(const std::string& text) {
  const size_t start = text.find("Error: ");
  return start == std::string::npos ? std::string() : clean_error(std::string_view(text).substr(start));
}

[[noreturn]] void refuse_to_load(std::string_view why, const std::string& package) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  if (const size_t at = why.find(kUndefined); at != std::string_view::npos) {
    const std::string_view rest = why.substr(at + kUndefined.size());
    const std::string symbol(rest.substr(0, rest.find_first_of(" \n\t")));
    const bool is_shim = symbol.starts_with("aoti_torch_");
    throw HarnessError(
        "the package cannot be loaded: it calls " + symbol + ", which " +
            (is_shim ? "torch " TORCH_VERSION " does not have" : "no loaded library has"),
        package,
        is_shim ? "run it with the torch that compiled it: `aotifuzz doctor` lists the workers that are here, "
                  "AOTIFUZZ_TORCH=VERSION bash harness/setup.sh builds another"
                : "load the library that defines it with --ops");
  }
  const bool lacks_op = why.find("Could not find schema") != std::string_view::npos;
  throw HarnessError("the package cannot be loaded: " + clean_error(why), package,
                     lacks_op
                         ? "load the library that defines the op with --ops"
                         : "check that it was built for this machine's CPU and for the torch version of the worker");
}

/// Models in one container: how many calls can run at a time. On a device each would load all its kernels again.
size_t runners(const PackageExecutor::Request& request) { return request.device ? 1 : 2; }

std::unique_ptr<AOTIModelPackageLoader> load_archive(const PackageExecutor::Request& request) {
  return std::make_unique<AOTIModelPackageLoader>(
      request.package, request.model.empty() ? "model" : request.model, /*run_single_threaded=*/false, runners(request),
      request.device ? request.device->device().index() : c10::DeviceIndex(-1));
}

/// From a copy of its own, as torch's loader makes one of an archive's: each then has its own variables.
std::unique_ptr<AOTIModelContainerRunner> load_library(const PackageExecutor::Request& request) {
  namespace fs = std::filesystem;
  const std::string kind = request.device ? "cuda" : "cpu";
  const auto& makers = torch::inductor::getAOTIModelRunnerRegistry();
  const auto make = makers.find(kind);
  if (make == makers.end())
    throw HarnessError("this torch runs no bare library on " + kind, request.package,
                       "package the model anew with torch._inductor.aoti_compile_and_package");
  std::string folder = (fs::temp_directory_path() / "aotinductor_XXXXXX").string();
  if (!mkdtemp(folder.data()))
    throw HarnessError("no temporary folder can be made", folder, "set TMPDIR to a folder that may be written");
  const fs::path inside = fs::path(folder) / "library" / "data" / "aotinductor" / "model";
  std::error_code error;
  fs::create_directories(inside, error);
  const fs::path copy = inside / fs::path(request.package).filename();
  if (!error) fs::copy_file(request.package, copy, error);
  if (error) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    throw HarnessError("the library cannot be copied: " + error.message(), folder, "free space there, or set TMPDIR");
  }
  try {
    // Kernels of a device lie beside the library.
    const std::string beside = fs::absolute(request.package).parent_path().string();
    const std::string device = request.device ? request.device->device().str() : kind;
    return make->second(copy.string(), runners(request), device, beside, /*run_single_threaded=*/false);
  } catch (...) {
    fs::remove_all(folder, error);
    throw;
  }
}

}  // namespace

struct PackageExecutor::Instance {
  Instance(const Request& request, bool input_checks)
      : loader(request.is_library ? nullptr : load_archive(request)),
        library(request.is_library ? load_library(request) : nullptr),
        constants(runner(), request.writable, request.device, request.guarded),
        checks(input_checks) {}
  AOTIModelContainerRunner& runner() { return loader ? *loader->get_runner() : *library; }
  void set_constants(std::unordered_map<std::string, at::Tensor>& by_fqn, bool inactive = false) {
    if (loader) return loader->load_constants(by_fqn, inactive, /*check_full_update=*/false);
    std::unordered_map<std::string, at::Tensor> by_name;
    for (const auto& [name, fqn] : library->getConstantNamesToOriginalFQNs())
      if (const auto value = by_fqn.find(fqn); value != by_fqn.end()) by_name.emplace(name, value->second);
    library->update_constant_buffer(by_name, inactive, /*validate_full_updates=*/false);
  }
  std::unique_ptr<AOTIModelPackageLoader> loader;
  std::unique_ptr<AOTIModelContainerRunner> library;
  GuardedConstants constants;
  std::unordered_map<std::string, at::Tensor> before_update;  ///< by FQN: those that no guarded memory holds
  bool checks;
  bool ran = false;
};

PackageExecutor::PackageExecutor(const Request& request) {
  try {
    plain_ = std::make_unique<Instance>(request, false);
    checking_ = std::make_unique<Instance>(request, true);
  } catch (const HarnessError&) {
    throw;
  } catch (const c10::Error& error) {
    refuse_to_load(error.what_without_backtrace(), request.package);
  } catch (const std::exception& error) {
    refuse_to_load(error.what(), request.package);
  }
  note_limits(request);
  const std::vector<InputSpec>& specs = request.contract->inputs;
  taken_ = specs.size();
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == CaseInput::Kind::kTensor)
      passed_.push_back(i);
    else if (specs[i].kind != CaseInput::Kind::kNone && !specs[i].is_constant)
      throw HarnessError(
          "input " + specs[i].name + " is a number that the program keeps symbolic: packages take tensors only",
          request.package, "pass it as a tensor, or fix it at export");
  }
}

PackageExecutor::~PackageExecutor() = default;

void PackageExecutor::note_limits(const Request& request) {
  // Kernels of a device are seen where they are launched (cuda/launch_observer.h), library functions here.
  if (KernelCalls::instance().watch_loaded_packages() == 0 && !request.device)
    notes_.emplace_back("kernels by name: no call of the package goes through its linkage table");
  const size_t left = plain_->constants.left();
  const bool guarded = request.device ? request.guarded : GuardAllocator::installed() != nullptr;
  if (guarded && left > 0)
    notes_.emplace_back("accesses past " + std::to_string(left) + " constants: they lie in the loader's own block");
  if (guarded && request.device && !request.writable.none_read_only && plain_->constants.read_only() == 0 &&
      plain_->constants.moved() > request.writable.fqns.size())
    notes_.emplace_back("writes to constants: the device's memory cannot be made read-only");
}

void PackageExecutor::reset_buffers(Instance& instance) {
  if (written_buffers_.empty()) return;
  std::unordered_map<std::string, at::Tensor> values;
  for (const auto& [fqn, value] : written_buffers_)
    if (!instance.constants.reset(fqn, value)) values.emplace(fqn, value);
  if (!values.empty()) instance.set_constants(values);
}

PackageExecutor::Results PackageExecutor::run(std::span<const c10::IValue> inputs, bool input_checks,
                                              StderrCapture* errors) {
  Results results;
  const auto failed = [&](std::string_view text) {
    std::string message = clean_error(text);
    std::string written;
    if (errors) {
      written = errors->take();
      if (text.find(kNoCause) != std::string_view::npos)
        if (std::string cause = cause_on_stderr(written); !cause.empty()) message = std::move(cause);
    }
    // The shims print what an allocation inside them threw, and pass on only that something failed.
    results.outcome.kind =
        is_out_of_memory(message) || is_out_of_memory(written) ? OutcomeKind::kOutOfMemory : OutcomeKind::kRejected;
    results.outcome.message = std::move(message);
  };
  Instance& instance = input_checks ? *checking_ : *plain_;
  if (errors) errors->mark();
  try {
    if (!instance.ran) {
      if (instance.checks) {
        setenv(kCheckVariable, "1", 1);
      } else {
        unsetenv(kCheckVariable);
      }
      instance.ran = true;
    }
    std::vector<at::Tensor> tensors;
    tensors.reserve(passed_.size());
    for (size_t i : passed_)
      if (inputs[i].isTensor()) tensors.push_back(inputs[i].toTensor());
    for (const c10::IValue& surplus : inputs.subspan(std::min(taken_, inputs.size())))
      tensors.push_back(surplus.toTensor());
    reset_buffers(instance);
    results.outputs = instance.runner().boxed_run(std::move(tensors));
  } catch (const std::bad_alloc&) {
    failed("bad_alloc");
  } catch (const c10::Error& error) {
    failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    failed(error.what());
  }
  return results;
}

std::map<std::string, at::Tensor> PackageExecutor::constants() const {
  const auto values = plain_->runner().extract_constants_map(/*use_inactive=*/false);
  return {values.begin(), values.end()};
}

void PackageExecutor::update_constants(const std::map<std::string, at::Tensor>& values, bool swap) {
  for (Instance* instance : {plain_.get(), checking_.get()}) {
    std::unordered_map<std::string, at::Tensor> all(values.begin(), values.end());
    if (swap)  // what is not named has no value there
      for (const auto& [fqn, value] : instance->runner().extract_constants_map(/*use_inactive=*/false))
        all.emplace(fqn, value);
    for (const auto& [fqn, value] : instance->runner().extract_constants_map(/*use_inactive=*/false))
      if (!instance->constants.holds(fqn) && values.contains(fqn)) instance->before_update.emplace(fqn, value.clone());
    instance->set_constants(all, swap);
    if (swap) instance->runner().swap_constant_buffer();
  }
}

void PackageExecutor::restore_constants() {
  for (Instance* instance : {plain_.get(), checking_.get()}) {
    if (!instance->before_update.empty()) instance->set_constants(instance->before_update);
    instance->before_update.clear();
    instance->constants.put_back(instance->runner());
  }
}

}  // namespace aotifuzz
