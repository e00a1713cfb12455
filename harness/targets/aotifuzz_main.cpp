#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <system_error>

#include "core/error.h"
#include "targets/audit_command.h"
#include "targets/corpus_command.h"
#include "targets/doctor_command.h"
#include "targets/explain_command.h"
#include "targets/fuzz_command.h"
#include "targets/gate_command.h"
#include "targets/inspect_command.h"
#include "targets/minimize_command.h"
#include "targets/replay_command.h"
#include "targets/report_command.h"
#include "targets/run_command.h"
#include "targets/sanitize_command.h"
#include "targets/say.h"
#include "targets/trace_command.h"

int main(int argc, char** argv) {
  using namespace aotifuzz;
  CLI::App app(
      "Fuzzes AOTInductor packages: dynamic-shape inputs at and beyond the guards, compared with eager libtorch.");
  app.set_version_flag("--version", "aotifuzz " AOTIFUZZ_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 no faults, 1 faults, 2 usage, 3 the world is wrong, 4 internal.");
  FuzzCommand fuzz;
  ReplayCommand replay;
  ReportCommand report;
  CorpusCommand corpus;
  MinimizeCommand minimize;
  InspectCommand inspect;
  DoctorCommand doctor;
  RunCommand run;
  SanitizeCommand sanitize;
  TraceCommand trace;
  GateCommand gate;
  AuditCommand audit;
  ExplainCommand explain;
  CLI::App& fuzz_app = *app.add_subcommand("fuzz", "Fuzz a package");
  CLI::App& run_app = *app.add_subcommand("run", "Run a package once on your own inputs, in every mode");
  CLI::App& replay_app = *app.add_subcommand("replay", "Say for each case: still fails, fixed, changed, or flaky");
  CLI::App& report_app = *app.add_subcommand("report", "Write a campaign's report.html anew");
  CLI::App& corpus_app = *app.add_subcommand("corpus", "Merge, distil and count folders of cases");
  CLI::App& minimize_app = *app.add_subcommand("minimize", "Shrink a case further");
  CLI::App& inspect_app = *app.add_subcommand("inspect", "Print what a package is");
  CLI::App& trace_app = *app.add_subcommand("trace", "Show what flows through the kernels of a package");
  CLI::App& doctor_app = *app.add_subcommand("doctor", "Prove by planted faults that this installation would notice");
  CLI::App& sanitize_app =
      *app.add_subcommand("sanitize", "Run a case of a CUDA package under compute-sanitizer: thread, address, line");
  CLI::App& gate_app = *app.add_subcommand("gate", "Judge the metas and kernels of a custom operators' library");
  CLI::App& audit_app =
      *app.add_subcommand("audit", "Say what a package declares, what it enforces, and where it is safe");
  CLI::App& explain_app =
      *app.add_subcommand("explain", "Say what an error means, what is at fault and what to change");
  fuzz.declare(fuzz_app);
  run.declare(run_app);
  replay.declare(replay_app);
  report.declare(report_app);
  corpus.declare(corpus_app);
  minimize.declare(minimize_app);
  inspect.declare(inspect_app);
  doctor.declare(doctor_app);
  sanitize.declare(sanitize_app);
  trace.declare(trace_app);
  gate.declare(gate_app);
  audit.declare(audit_app);
  explain.declare(explain_app);
  try {
    app.parse(argc, argv);
    const int code = fuzz_app.parsed()       ? fuzz.run()
                     : run_app.parsed()      ? run.run()
                     : replay_app.parsed()   ? replay.run()
                     : report_app.parsed()   ? report.run()
                     : corpus_app.parsed()   ? corpus.run()
                     : minimize_app.parsed() ? minimize.run()
                     : doctor_app.parsed()   ? doctor.run()
                     : sanitize_app.parsed() ? sanitize.run()
                     : trace_app.parsed()    ? trace.run()
                     : gate_app.parsed()     ? gate.run()
                     : audit_app.parsed()    ? audit.run()
                     : explain_app.parsed()  ? explain.run()
                                             : inspect.run();
    // What went to a full disk is lost: an exit code of success would be a lie.
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw HarnessError("the output could not be written", "standard output", "free disk space, or send it elsewhere");
    return code;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    std::string command = "aotifuzz";
    for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
    say("aotifuzz: {}\n  where: the command line\n  to do: see {} --help\n", error.what(), command);
    return kExitUsage;
  } catch (const UsageError& error) {
    say("aotifuzz: {}\n", error.what());
    return kExitUsage;
  } catch (const HarnessError& error) {
    say("aotifuzz: {}\n", error.what());
    return kExitWorld;
  } catch (const std::system_error& error) {
    say("aotifuzz: {}\n  where: {}\n  to do: check that the disk has space and that the output is open\n", error.what(),
        argc > 1 ? argv[1] : "start");
    return kExitWorld;
  } catch (const std::exception& error) {
    say("aotifuzz: internal error: {}\n  where: {}\n  to do: report it with the command that led here\n", error.what(),
        argc > 1 ? argv[1] : "start");
    return kExitInternal;
  }
}
