#include "campaign/package_session.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "campaign/torch_builds.h"
#include "campaign/worker_link.h"
#include "package/error_context.h"
#include "store/ledger.h"

namespace aotifuzz {
namespace {

WorkerOptions worker_options(const SessionRequest& request, const PackageInfo& info, const std::string& program) {
  WorkerOptions options;
  options.program = program;
  options.arguments = worker_arguments(request, info);
  if (!options.arguments.device.empty()) options.arguments.spares = spares_on_device();
  options.case_timeout = request.timeout;
  return options;
}

WorkerOptions options_with(AllocatorMode allocator, const SessionRequest& request, const PackageInfo& info,
                           const std::string& program) {
  WorkerOptions options = worker_options(request, info, program);
  options.arguments.allocator = allocator;
  options.arguments.spares = std::min(options.arguments.spares, 1);  // it runs a case now and then
  return options;
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

size_t occurrences(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

PackageRequest with_kernels(PackageRequest request) {
  request.kernels = true;
  return request;
}

}  // namespace

int spares_on_device() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 5); }

WorkerArguments worker_arguments(const SessionRequest& request, const PackageInfo& info) {
  WorkerArguments out;
  out.package = request.package.path;
  out.model = request.package.model;
  out.reference = request.package.reference;
  // A bare name would be looked up among the system's libraries.
  for (const std::string& library : request.ops) out.ops.push_back(std::filesystem::absolute(library).string());
  out.memory_mib = request.memory_mib;
  out.device = choose_device(info, request.device);
  if (info.is_library && !info.program && info.compiled->input_names.empty())
    throw HarnessError(
        "nothing says which inputs the library takes", info.path,
        "put the wrapper.cpp that torch wrote with it beside it, give the exported program with --reference, "
        "or package it anew: torch._inductor.aoti_compile_and_package(torch.export.export(...))");
  out.kernels_every = request.kernels_every;
  return out;
}

WorkerChoice choose_worker(const SessionRequest& request, const PackageInfo& info) {
  const std::string device = choose_device(info, request.device).empty() ? "cpu" : "cuda";
  if (std::string given = given_worker_program(device); !given.empty()) {
    if (!request.torch.empty())
      throw UsageError("both a worker and a version of torch are asked for", given + ", --torch " + request.torch,
                       "unset AOTIFUZZ_WORKER and AOTIFUZZ_WORKER_CUDA, or leave --torch out");
    return {std::move(given), "", ""};
  }
  const std::string compiled_by = info.pack      ? info.pack->torch_version
                                  : info.program ? info.program->torch_version
                                                 : "";
  std::vector<std::string> problems;
  std::vector<TorchBuild> builds = installed_torch_builds(&problems);
  if (builds.empty() && !problems.empty())
    throw HarnessError("there is no worker that can be used", problems.front(), "build again: bash harness/setup.sh");
  // One without a worker for CUDA is none for a package of CUDA, as long as another has one.
  if (device == "cuda" && request.torch.empty()) {
    const auto has_none = [](const TorchBuild& build) {
      return ::access((build.folder + "/aotifuzz-worker-cuda").c_str(), X_OK) != 0;
    };
    if (!std::all_of(builds.begin(), builds.end(), has_none)) std::erase_if(builds, has_none);
  }
  TorchChoice choice =
      choose_torch(builds, compiled_by, request.torch,
                   info.pack ? "the package was compiled by" : "the package's program was exported by");
  require_matching_libraries(choice.build);
  return {find_worker_program(device, choice.build.folder), std::move(choice.note), choice.build.version.text()};
}

std::string choose_device(const PackageInfo& info, const std::string& requested) {
  const std::string own = info.compiled && !info.compiled->device.empty() ? info.compiled->device : "cpu";
  if (own != "cpu" && own != "cuda")
    throw HarnessError("the package was compiled for " + own + ", which aotifuzz does not run", info.path,
                       "compile it for the CPU or for CUDA; `aotifuzz inspect` shows what it is");
  const std::string device = requested.empty() ? own : requested;
  const std::string kind = device.substr(0, device.find(':'));
  const std::string index = kind.size() == device.size() ? "0" : device.substr(kind.size() + 1);
  const bool number = !index.empty() && index.size() < 4 && index.find_first_not_of("0123456789") == std::string::npos;
  if ((kind != "cpu" && kind != "cuda") || !number || (kind == "cpu" && device != kind))
    throw UsageError("not a device", "--device " + requested, "give cpu, cuda or cuda:N");
  if (kind != own)
    throw HarnessError("the package was compiled for " + own + " and cannot run on " + kind, info.path,
                       "leave --device out, or compile the model for " + kind);
  return kind == "cpu" ? "" : kind + ":" + index;
}

bool takes_flat_arguments(const std::string& in_spec) {
  // The whole is a tuple of (tuple of arguments, dict of keyword arguments); anything more is nesting.
  if (in_spec.empty()) return true;
  const size_t nodes =
      occurrences(in_spec, "\"type\"") - occurrences(in_spec, "\"type\": null") - occurrences(in_spec, "\"type\":null");
  return nodes <= 3 && occurrences(in_spec, "builtins.tuple") == 2 && occurrences(in_spec, "builtins.dict") <= 1 &&
         (in_spec.find("\"context\": \"[]\"") != std::string::npos ||
          in_spec.find("\"context\":\"[]\"") != std::string::npos ||
          in_spec.find("builtins.dict") == std::string::npos);
}

PackageSession::PackageSession(SessionRequest request)
    : request_(std::move(request)),
      info_(read_package(with_kernels(request_.package))),
      worker_choice_(choose_worker(request_, info_)),
      worker_(worker_options(request_, info_, worker_choice_.program)),
      caching_worker_(options_with(AllocatorMode::kCaching, request_, info_, worker_choice_.program)),
      nocache_worker_(options_with(AllocatorMode::kNoCache, request_, info_, worker_choice_.program)) {
  for (const std::string& library : request_.ops)
    if (!std::filesystem::is_regular_file(library))
      throw UsageError("the op library is not a file", "--ops " + library, "give the path of a shared library");
  if (!request_.without_weights_too && weights_left_out(info_))
    throw HarnessError(
        "the package holds no weights (package_constants_in_so=False): its first kernel would die of that",
        request_.package.path, "compile it with the weights inside; inspect and explain work as it is");
}

const WorkerHello& PackageSession::hello() {
  const WorkerHello& hello = worker_.start();
  const auto version = parse_torch_version(hello.torch_version);
  if (!worker_choice_.torch.empty() && version && version->text() != worker_choice_.torch)
    throw HarnessError("the worker runs torch " + version->text() + ", and its build says " + worker_choice_.torch,
                       worker_choice_.program, "build there again: bash harness/setup.sh");
  return hello;
}

std::unique_ptr<WorkerProcess> PackageSession::another_worker() const {
  return std::make_unique<WorkerProcess>(worker_options(request_, info_, worker_choice_.program));
}

std::vector<OtherAllocator> PackageSession::other_allocators() {
  if (arguments().device.empty()) return {{"without the guard", &caching_worker_}};
  return {{"mode caching", &caching_worker_}, {"mode nocache", &nocache_worker_}};
}

void PackageSession::require_fitting(const Case& c, const std::string& where) const {
  std::vector<std::string> given, taken;
  for (const CaseInput& input : c.inputs)
    if (!input.surplus) given.push_back(input.name);
  for (const InputSpec& input : info_.contract.inputs) taken.push_back(input.name);
  const auto text = [](const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out.empty() ? std::string("none") : out;
  };
  std::vector<std::string> sorted_given = given, sorted_taken = taken;
  std::sort(sorted_given.begin(), sorted_given.end());
  std::sort(sorted_taken.begin(), sorted_taken.end());
  if (given.size() == taken.size() && (given == taken || sorted_given != sorted_taken)) return;
  throw HarnessError(
      "the case is not one for this package: it has the inputs " + text(given) + ", the package takes " + text(taken),
      where, "give the inputs in the package's order, or the package that the case is for");
}

std::map<std::string, std::string> PackageSession::environment() {
  std::map<std::string, std::string> out;
  const WorkerHello& hello = worker_.start();
  out["torch"] = hello.torch_version;
  out["cpu capability"] = hello.cpu_capability;
  if (!hello.device.empty()) out["device"] = hello.device;
  if (const std::string cpu = cpu_name(); !cpu.empty()) out["cpu"] = cpu;
  out["cores"] = std::to_string(std::thread::hardware_concurrency());
  if (utsname name{}; ::uname(&name) == 0)
    out["system"] = std::string(name.sysname) + " " + name.release + " " + name.machine;
  if (info_.program && !info_.program->torch_version.empty()) out["torch that exported"] = info_.program->torch_version;
  if (info_.pack && !info_.pack->torch_version.empty()) out["torch that compiled"] = info_.pack->torch_version;
  return out;
}

FindingContext PackageSession::finding_context() const {
  FindingContext context;
  context.package_hash = content_hash(request_.package.path);
  if (!request_.package.reference.empty())
    context.reference = std::filesystem::absolute(request_.package.reference).string();
  context.has_reference = info_.program != nullptr;
  for (const std::string& library : request_.ops) context.ops.push_back(std::filesystem::absolute(library).string());
  if (info_.pack) {
    context.recipe_source = info_.pack->recipe_source;
    context.recipe_function = info_.pack->recipe_function;
  }
  for (const InputSpec& input : info_.contract.inputs) context.input_devices.push_back(input.device);
  if (std::all_of(context.input_devices.begin(), context.input_devices.end(), [](const auto& d) { return d == "cpu"; }))
    context.input_devices.clear();
  context.flat_arguments = !info_.program || takes_flat_arguments(info_.program->in_spec);
  return context;
}

std::vector<std::string> PackageSession::not_judged() {
  std::vector<std::string> out = info_.missing;
  for (const std::string& line : worker_.start().not_judged)
    if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  return out;
}

}  // namespace aotifuzz
