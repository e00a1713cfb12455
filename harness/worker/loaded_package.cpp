#include "worker/loaded_package.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/version.h>
#include <unistd.h>

#include "oracles/program_facts_builder.h"
#include "worker/package_executor.h"
#include "worker/planted_subject.h"
#include "worker/unpacked_folder.h"

namespace aotifuzz {
namespace {

void load_op_library(const std::string& path) {
  // Global: packages look the ops up through the dispatcher, but op libraries may depend on each other's symbols.
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return;
  const char* why = dlerror();
  throw HarnessError("the op library cannot be loaded: " + std::string(why ? why : "unknown reason"), path,
                     "build it against the torch that the worker uses, and give an absolute path or one with a slash");
}

/// Generated kernels are named after the ops that they fuse, extern calls after their shim.
std::string random_kernel(const CompiledModel& compiled) {
  for (const KernelInfo& kernel : compiled.kernels)
    for (const char* word : {"rand", "bernoulli", "dropout", "multinomial", "normal_functional", "empty", "uniform"})
      if (kernel.name.find(word) != kernel.name.npos) return kernel.name;
  return "";
}

}  // namespace

LoadedPackage::LoadedPackage(const WorkerArguments& arguments, DeviceRuntime* runtime) {
  if (runtime) device_ = runtime->description();
  if (arguments.planted) {
    info_.contract = planted_contract(runtime ? runtime->device().str() : "cpu");
    package_ = std::make_unique<PlantedSubject>(runtime);
    oracles_ = make_oracles(/*has_reference=*/false);
    return;
  }
  for (const std::string& library : arguments.ops) load_op_library(library);
  info_ = read_package(
      {.path = arguments.package, .model = arguments.model, .reference = arguments.reference, .kernels = true});
  not_judged_ = info_.missing;
  if (runtime && info_.compiled) runtime->require(info_.compiled->compute_capability, arguments.package);
  // Weights must carry no autograd state: the runs that use them are below it.
  c10::InferenceMode no_autograd;
  load_reference(runtime);
  load_package(arguments, runtime);
  load_kernels(runtime);
  if (!reference_) facts_.random_kernel = random_kernel(*info_.compiled);
  oracles_ = make_oracles(reference_ != nullptr);
}

void LoadedPackage::load_reference(DeviceRuntime* runtime) {
  if (!info_.program) return;
  facts_ = build_program_facts(*info_.program);
  const auto load = [&](c10::Device device) {
    return std::make_unique<ReferenceProgram>(*info_.program, info_.program_path, info_.contract, facts_, device);
  };
  reference_ = load(runtime ? runtime->device() : c10::Device(c10::kCPU));
  for (const std::string& reason : reference_->unsupported()) not_judged_.push_back("reference is off: " + reason);
  if (!reference_->unsupported().empty()) reference_.reset();
  if (runtime && reference_) host_reference_ = load(c10::kCPU);
  for (size_t i = 0; i < facts_.outputs.size(); ++i)
    if (!facts_.outputs[i].random_op.empty())
      not_judged_.push_back("values of output " + std::to_string(i) + ": random op: " + facts_.outputs[i].random_op);
}

/// Known only where the reference runs, and writes nothing by itself: what it gives back as a new value is then all.
GuardedConstants::Writable LoadedPackage::writable_constants() const {
  GuardedConstants::Writable writable;
  writable.none_read_only = !reference_ || reference_->writes_in_place();
  if (info_.program)
    for (const GraphOutput& output : info_.program->outputs)
      if (output.kind == GraphOutput::Kind::kBufferMutation || output.kind == GraphOutput::Kind::kParameterMutation)
        writable.fqns.insert(output.target);
  return writable;
}

void LoadedPackage::load_package(const WorkerArguments& arguments, DeviceRuntime* runtime) {
  if (!info_.compiled)
    throw HarnessError("the archive holds no compiled model", arguments.package,
                       "give a package made by aoti_compile_and_package or by aotifuzz_pack");
  // Unlinking what it was unpacked to at once leaves nothing behind when this process is killed.
  auto package = std::make_unique<PackageExecutor>(PackageExecutor::Request{.package = arguments.package,
                                                                            .model = info_.compiled->name,
                                                                            .is_library = info_.is_library,
                                                                            .contract = &info_.contract,
                                                                            .writable = writable_constants(),
                                                                            .device = runtime,
                                                                            .guarded = arguments.is_guarded()});
  symbols_.remember_loaded_packages();
  if (runtime) runtime->keep_files(unpacked_folders());
  remove_unpacked_folders();
  for (const std::string& note : package->notes()) not_judged_.push_back(note);
  package_ = std::move(package);
}

void LoadedPackage::load_kernels(DeviceRuntime* runtime) {
  if (!info_.kernels || !reference_) return;
  const auto weights_of = [](const ReferenceProgram* program) {
    return [program](const std::string& fqn) { return program->weight(fqn); };
  };
  const ReferenceProgram* host = runtime ? host_reference_.get() : reference_.get();
  kernels_ = std::make_unique<KernelJudge>(*info_.kernels, info_.path, weights_of(host));
  if (runtime) kernels_->set_device(runtime->make_snapshots(), weights_of(reference_.get()));
  std::map<std::string, int> reasons;
  for (const std::string& why : kernels_->why_not())
    if (!why.empty()) ++reasons[why];
  for (const auto& [why, calls] : reasons)
    not_judged_.push_back("kernels: " + std::to_string(calls) + " of " + std::to_string(kernels_->why_not().size()) +
                          " calls: " + why);
}

WorkerHello LoadedPackage::hello() const {
  WorkerHello hello;
  hello.pid = getpid();
  hello.torch_version = TORCH_VERSION;
  hello.cpu_capability = at::get_cpu_capability();
  hello.has_reference = reference_ != nullptr;
  for (const auto& oracle : oracles_) hello.oracles.emplace_back(oracle->name());
  hello.not_judged = not_judged_;
  hello.device = device_;
  return hello;
}

}  // namespace aotifuzz
