#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/finding.h"
#include "core/torch_version.h"

namespace aotifuzz {

/// What a finding needs besides itself to be replayed and pasted into an issue.
struct FindingContext {
  std::string package_hash;
  std::string reference;      ///< "" = in the package
  bool has_reference = true;  ///< there is an ExportedProgram, in the package or as `reference`
  std::vector<std::string> ops;
  std::string recipe_source;  ///< model source of the package's pack record; "" = not known
  std::string recipe_function;
  std::string inputs_python;               ///< core/python_repro.h, of the minimal case
  std::vector<std::string> before_python;  ///< the same of the cases that must run before it
  std::vector<std::string> then_python;    ///< and of the further calls of the minimal case
  std::string kernel_where, kernel_text;  ///< of the kernel that the verdict names: "x.kernel.cpp:4-39"; "" = not known
  std::vector<std::string> input_devices;  ///< where the program wants its inputs; empty: all on the CPU
  bool flat_arguments = true;              ///< the program takes its user inputs as plain positional arguments
};

/// finding.json, whole.
std::string print_finding(const Finding& finding, const FindingContext& context);

/// What is expected of a case: from finding.json, or from a hand-written expect.json with {"signature", "class"}.
/// There, "torch": "<2.13" says compiled by which versions the case fails; others are right.
struct Expectation {
  std::string signature;
  std::optional<VerdictClass> cls;
  std::optional<bool> fault;  ///< none: either section
  TorchRange torch;           ///< versions that it holds for
  int tries = 0, reproduced = 0;
  std::string package;  ///< path as the user gave it; "" = not stated
  std::string model;    ///< of the archive
  std::string recipe;   ///< model recipe "faults.f191499_extremes_of_bytes"; "" = none
  std::string reference;
  std::vector<std::string> ops;
  std::vector<std::string> before;  ///< case texts to run first in the same process
};
Result<Expectation> parse_expectation(std::string_view text);  ///< hostile input is an error, never a crash

/// Does this failed verdict match? Signature and class, and the section where one is stated.
bool matches(const Expectation& expectation, const Verdict& verdict);

/// Folder name: class and a few digits that depend on what `key` says: "wrong-result-3f2a91".
std::string finding_slug(const Verdict& verdict, const std::string& key);

}  // namespace aotifuzz
