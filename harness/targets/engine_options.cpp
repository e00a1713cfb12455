#include "targets/engine_options.h"

#include <unistd.h>

#include <algorithm>

#include "core/error.h"

namespace aotifuzz {
namespace {

/// What libFuzzer would do in processes of its own, or instead of fuzzing, and what a campaign decides: aotifuzz has
/// its own ways.
constexpr const char* kNotTaken[] = {"-fork",
                                     "-jobs",
                                     "-workers",
                                     "-merge",
                                     "-minimize_crash",
                                     "-cleanse_crash",
                                     "-merge_inner",
                                     "-set_cover_merge",
                                     "-run_equivalence_server",
                                     "-use_equivalence_server",
                                     "-data_flow_trace",
                                     "-collect_data_flow",
                                     "-fork_corpus_groups",
                                     "-runs",
                                     "-max_total_time",
                                     "-seed",
                                     "-seed_inputs",
                                     "-max_len",
                                     "-len_control",
                                     "-only_ascii",
                                     "-timeout",
                                     "-rss_limit_mb"};

bool is_flag(const std::string& text, const std::string& name) {
  return text == name || text.compare(0, name.size() + 1, name + "=") == 0;
}

}  // namespace

void EngineOption::declare(CLI::App& app) {
  app.add_option("--engine", engine_,
                 "What decides which case comes next: random, where cases are independent of each other, or libfuzzer, "
                 "which builds every second one upon a case that reached something new")
      ->check(CLI::IsMember({"random", "libfuzzer"}))
      ->capture_default_str();
  app.add_option(
      "--corpus", corpus_,
      "Folder of libFuzzer's cases; campaigns on one package may share it while they run (default: in --out)");
  app.add_option("FLAGS", flags_, "Flags of libFuzzer after --, for instance -- -entropic=0; -- -help=1 lists them");
}

void EngineOption::check() {
  for (const std::string& flag : flags_) {
    if (flag.empty() || flag[0] != '-')
      throw UsageError("neither a package nor a flag of libFuzzer", flag, "one package at a time; flags begin with -");
    for (const char* name : kNotTaken)
      if (is_flag(flag, name))
        throw UsageError("aotifuzz does this itself", "-- " + flag,
                         "see --jobs, --seed, --cases, --for, --timeout and the verbs minimize and corpus of aotifuzz");
  }
  if (guided()) return;
  if (!flags_.empty() || !corpus_.empty())
    throw UsageError("only libFuzzer takes this", flags_.empty() ? "--corpus" : "-- " + flags_[0],
                     "add --engine libfuzzer");
}

bool EngineOption::asks_for_help() const {
  return std::any_of(flags_.begin(), flags_.end(), [](const std::string& flag) { return is_flag(flag, "-help"); });
}

void EngineOption::show_help() const {
  std::string program = find_engine_program(), flag = "-help=1";
  if (!program.empty()) {
    char* const words[] = {program.data(), flag.data(), nullptr};
    ::execv(program.c_str(), words);
  }
  throw HarnessError("this build has no libFuzzer engine", "aotifuzz-engine beside aotifuzz",
                     "install libclang-rt-19-dev and build the target aotifuzz-engine");
}

std::unique_ptr<EngineProcess> EngineOption::start(const std::string& out, const std::string& package_hash,
                                                   uint64_t seed) const {
  EngineOptions options;
  options.corpus = corpus_.empty() ? out + "/corpus/" + package_hash.substr(0, 12) : corpus_;
  options.seed = seed;
  options.flags = flags_;
  return std::make_unique<EngineProcess>(std::move(options));
}

}  // namespace aotifuzz
