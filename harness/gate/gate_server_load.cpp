#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "gate/gate_server.h"
#include "gate/python_kernels.h"
#include "worker/error_text.h"
#include "worker/server_setup.h"

// How a gate server comes to the operators that it judges: libraries, Python's modules, the spec.

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// Importing modules may take as long as so many calls, but no longer than the parent waits for us.
constexpr int kImportSteps = 12;
constexpr std::chrono::milliseconds kImportLimitMax{150'000};

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

std::set<std::string> operator_names() {
  std::set<std::string> out;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) out.insert(full_name(name));
  return out;
}

/// What the dynamic linker says, as an error that tells what to do.
HarnessError load_error(const std::string& path) {
  const char* words = dlerror();
  const std::string text = words ? words : "unknown error";
  if (!std::filesystem::exists(path)) return HarnessError("the library does not exist", path, "check the path");
  if (text.find("undefined symbol: Py") != std::string::npos ||
      text.find("undefined symbol: _Py") != std::string::npos || text.find("libtorch_python") != std::string::npos ||
      text.find("libpython") != std::string::npos)
    return HarnessError("the library needs Python (" + text + ")", path,
                        "link it without libtorch_python: the operators need only libtorch_cpu and libc10. With "
                        "torch.utils.cpp_extension, keep the pybind part in a library of its own, or pass "
                        "`--load libpythonX.Y.so` of the interpreter that it was built for");
  if (text.find("invalid ELF header") != std::string::npos || text.find("file too short") != std::string::npos)
    return HarnessError("the file is not a shared library", path, "give the .so that registers the operators");
  if (text.find("undefined symbol") != std::string::npos)
    return HarnessError("the library needs symbols that are not loaded (" + text + ")", path,
                        "give the library that has them with --load, or build against the torch that aotifuzz uses");
  if (text.find("cannot open shared object file") != std::string::npos)
    return HarnessError("a library that it needs is not found (" + text + ")", path,
                        "give that library with --load, or set LD_LIBRARY_PATH to its folder");
  return HarnessError("the library cannot be loaded (" + text + ")", path, "see what ldd says of it");
}

}  // namespace

void GateServer::load() {
  const auto start = Clock::now();
  if (!options_.spec.empty()) spec_ = read_op_spec(options_.spec);
  if (options_.device && !options_.init_spec) check_device();
  load_libraries();
  if (options_.python.wanted) start_python();
  choose_operators();
  const size_t operators = jobs_.size();
  give_lines();
  GateMessage hello;
  hello.kind = GateMessage::Kind::kLibrary;
  hello.library = {options_.ops, static_cast<int>(operators),
                   std::chrono::duration<double>(Clock::now() - start).count()};
  send(hello);
}

void GateServer::check_device() {
  const std::string name = options_.device->name();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw HarnessError("no further pipe", "pipe2", "raise the limit on open files");
  const pid_t pid = fork();
  if (pid < 0)
    throw HarnessError("no further process can be forked", "fork", "check the limits on processes and memory");
  if (pid == 0) {
    close(ends[0]);
    std::string text;
    try {
      options_.device->open(nullptr, [](const std::string&, bool) { _exit(kExitInternal); }).release();
    } catch (const HarnessError& error) {
      text = error.what();
    } catch (const std::exception& error) {
      text = HarnessError(clean_error(error.what()), name, "check nvidia-smi: is the device's memory full?").what();
    }
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(text.empty() ? kExitNoFaults : written < 0 ? kExitInternal : kExitWorld);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitNoFaults) return;
  if (text.empty())
    throw HarnessError("the process that looks for the device dies", name, "check nvidia-smi, and the driver's log");
  const WorkerMessage said = fatal_message(text);
  throw HarnessError(said.what, said.where, said.to_do);
}

void GateServer::load_libraries() {
  for (const std::string& path : options_.load)
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) throw load_error(path);
  // With Python loaded the library may pull in torch's own part for it, whose operators are not the user's.
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized")) dlopen("libtorch_python.so", RTLD_NOW | RTLD_GLOBAL);
  const std::set<std::string> before = operator_names();
  if (options_.ops.empty()) return;
  if (!dlopen(options_.ops.c_str(), RTLD_NOW | RTLD_GLOBAL)) throw load_error(options_.ops);
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorName> names = dispatcher.getAllOpNames();
  std::sort(names.begin(), names.end(),
            [](const c10::OperatorName& a, const c10::OperatorName& b) { return full_name(a) < full_name(b); });
  for (const c10::OperatorName& name : names) {
    const auto op = dispatcher.findSchema(name);
    if (!op || before.count(full_name(name))) continue;
    if (dispatcher.getPyStub(name)) uses_python_ = true;
    jobs_.push_back({.op = *op, .name = full_name(name), .kernels = {}, .resume = {}});
  }
  if (jobs_.empty())
    throw HarnessError("the library registers no operator", options_.ops,
                       "give the library whose static initialisers run TORCH_LIBRARY; operators that --load registered "
                       "are not judged");
  for (Job& job : jobs_) job.kernels = kernels_of(job.op, uses_python_, kernel_key());
}

void GateServer::start_python() {
  std::vector<std::string> libraries = options_.load, names;
  if (!options_.ops.empty()) libraries.push_back(options_.ops);
  // Only libraries: what the system finds by its name is for the linker.
  std::erase_if(libraries, [](const std::string& path) { return path.find('/') == std::string::npos; });
  std::vector<std::string>& modules = options_.python.modules;
  for (const Job& job : jobs_) {
    names.push_back(job.name);
    const std::string module = python_module_of(job.op.operator_name());
    const bool named = std::any_of(modules.begin(), modules.end(), [&](const std::string& known) {
      return known == module || std::filesystem::path(known).filename() == module + ".py";
    });
    if (!module.empty() && !named) modules.push_back(module);
  }
  if (modules.empty())
    throw HarnessError("no module is known that registers fakes", options_.ops,
                       "name it with --fakes; the library names none (m.set_python_module)");
  python_ = std::make_unique<PythonFakes>(options_.python, libraries, names,
                                          std::min(kImportSteps * options_.step_timeout, kImportLimitMax));
  std::vector<std::string> others;
  for (const c10::OperatorHandle& op : define_python_operators(*python_, &others))
    jobs_.push_back({.op = op, .name = full_name(op.operator_name()), .kernels = {}, .resume = {}});
  for (Job& job : jobs_) job.kernels = with_python(std::move(job.kernels), job.op, job.name, *python_);
  for (const std::string& name : others) {
    GateOperator part;
    part.name = name;
    part.not_judged = "a C++ operator of a library that Python loads: give that library with --ops";
    part.ended = 1;
    foreign_.push_back(std::move(part));
  }
  if (!jobs_.empty()) return;
  throw HarnessError(python_->trouble().empty() ? "the modules define no operator in Python" : python_->trouble(),
                     "--fakes",
                     others.empty() ? "mend the module, or name the one that defines operators"
                                    : "give the library that has " + others.front() + " with --ops");
}

void GateServer::choose_operators() {
  std::set<std::string> own;
  for (const Job& job : jobs_) own.insert(job.name);
  for (const std::string& wanted : options_.only)
    if (!own.count(wanted) && !options_.lenient)
      throw HarnessError("the library has no such operator", "--only " + wanted,
                         "give ns::name or ns::name.overload, as `--init-spec` prints them");
  if (!options_.lenient) check_spec();
  if (!options_.calls.empty()) take_calls();
  if (!options_.only.empty())
    std::erase_if(jobs_, [&](const Job& job) {
      return std::find(options_.only.begin(), options_.only.end(), job.name) == options_.only.end();
    });
  if (!options_.only.empty() || options_.init_spec) foreign_.clear();
}

/// A name that is nobody's would leave its operator to what is drawn by default, and the verdict would not be about the
/// spec.
void GateServer::check_spec() const {
  std::vector<const OperatorSpec*> lines;
  for (const auto& [name, all] : spec_)
    for (const OperatorSpec& line : all) lines.push_back(&line);
  std::sort(lines.begin(), lines.end(), [](const OperatorSpec* a, const OperatorSpec* b) { return a->line < b->line; });
  for (const OperatorSpec* line : lines) {
    const std::string where = options_.spec + " line " + std::to_string(line->line) + ", " + line->name;
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.name == line->name; });
    if (job == jobs_.end())
      throw HarnessError("the spec names an operator that the library does not register", where,
                         "correct the name, as `--init-spec` prints it, or remove the line");
    const std::vector<std::string> unknown = unknown_arguments(job->op.schema(), *line);
    if (unknown.empty()) continue;
    std::string known;
    for (const c10::Argument& argument : job->op.schema().arguments())
      known += (known.empty() ? "" : ", ") + argument.name();
    throw HarnessError("the operator has no argument `" + unknown.front() + "`", where,
                       known.empty() ? "it takes none: remove it" : "correct the name; its arguments are " + known);
  }
}

/// Adds the lines of calls to those of the user, who has the last word.
void GateServer::take_calls() {
  OpSpec calls = read_op_spec(options_.calls);
  std::string others;
  bool any = false;
  for (auto& [name, lines] : calls) {
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.name == name; });
    if (job == jobs_.end()) {
      others += (others.empty() ? "" : ", ") + name;
      continue;
    }
    any = true;
    if (spec_.count(name)) continue;
    for (OperatorSpec& line : lines) {
      line.is_call = true;
      const std::vector<std::string> unknown = unknown_arguments(job->op.schema(), line);
      if (unknown.empty())
        spec_[name].push_back(std::move(line));
      else
        calls_not_used_[name].push_back("the operator of the library has no argument `" + unknown.front() + "`");
    }
  }
  if (any || options_.lenient) return;
  throw HarnessError("the program calls no operator of the library", "--from",
                     others.empty() ? "give a package of a program that does" : "it calls " + others);
}

/// Each line of the spec is a job of its own.
void GateServer::give_lines() {
  std::vector<Job> out;
  for (Job& job : jobs_) {
    const auto found = spec_.find(job.name);
    if (found == spec_.end()) {
      out.push_back(std::move(job));
      continue;
    }
    job.lines = static_cast<int>(found->second.size());
    for (job.line = 0; job.line < job.lines; ++job.line) {
      job.spec = &found->second[job.line];
      out.push_back(job);
    }
  }
  jobs_ = std::move(out);
}

}  // namespace aotifuzz
