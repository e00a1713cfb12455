#include "gate/gate_worker_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "gate/gate_server.h"

namespace aotifuzz {

void run_gate_worker_program(int argc, char** argv,
                             const std::function<std::unique_ptr<GateDevice>(const std::string& name)>& device_of) {
  CLI::App app("Judges the operators of one library; started by `aotifuzz gate`.");
  GateServerOptions options;
  std::vector<int64_t> constants;
  std::string device_name;
  int64_t timeout_ms = options.step_timeout.count();
  app.add_option("--ops", options.ops);
  app.add_option("--load", options.load)->allow_extra_args(false);
  app.add_option("--spec", options.spec);
  app.add_option("--calls", options.calls, "Lines of calls in programs");
  app.add_option("--only", options.only)->allow_extra_args(false);
  app.add_flag("--use-python", options.python.wanted, "Judge fakes in Python too");
  app.add_option("--python", options.python.python);
  app.add_option("--pack", options.python.pack, "Folder of aotifuzz_pack");
  app.add_option("--fakes", options.python.modules, "Module that registers fakes")->allow_extra_args(false);
  app.add_option("--constant", constants, "Try sizes around it")->allow_extra_args(false);
  app.add_option("--jobs", options.jobs)->check(CLI::Range(1, 1024));
  app.add_option("--step-timeout-ms", timeout_ms)->check(CLI::Range(1, 1'000'000'000));
  app.add_flag("--values", options.judge.values, "Say what was made at each point");
  app.add_flag("--lenient", options.lenient, "Names that the library does not have are no error");
  app.add_flag("--init-spec", options.init_spec, "Only say how arguments are drawn");
  if (device_of) app.add_option("--device", device_name, "Whose kernels are judged")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit(app.exit(error));
  }
  const std::unique_ptr<GateDevice> device = device_of ? device_of(device_name) : nullptr;
  options.device = device.get();
  options.judge.extra_constants = {constants.begin(), constants.end()};
  options.step_timeout = std::chrono::milliseconds(timeout_ms);
  // What the library prints must not come between the lines.
  const int messages = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int code = GateServer(std::move(options), messages).run();
  std::fflush(nullptr);
  _exit(code);  // the library stays loaded: its destructors are not ours to run
}

}  // namespace aotifuzz
