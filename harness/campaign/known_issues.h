#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/error.h"
#include "core/expr.h"
#include "core/verdict.h"

namespace aotifuzz {

/// A finding that is expected: `--known FILE`. A text file of blocks, one for each issue, with an empty line between
/// them; lines that begin with # are comments. A line of a block is a keyword, a blank, and the rest of the line:
///
///   issue https://github.com/pytorch/pytorch/issues/178964
///   class wrong-result
///   section fault
///   op aten.max.dim
///   kernel cpp_fused_add_max_t_0
///   relation idx.size(1) == x.size(1)
///   signature wrong-result output 1 aten.max.dim
///   where logits.size(0) >= 2 and logits.size(0) % 16 != 0
///   case known/178964/case.txt
///   reason the transposed operand is read in the wrong order
///
/// issue (a link or number), class and reason are required, and one of op, kernel, relation and signature, so that no
/// entry hides a whole class. Each but case may stand once. A finding matches when all of them do:
///
///   class      the verdict class
///   section    fault or gap; either when left out
///   op         a word of the signature
///   kernel     a word of the signature, the reason or a measure: kernels change their names with each build
///   relation   the signature says "breaks RELATION"
///   signature  the whole signature
///   where      holds for the sizes of the minimal case: integer arithmetic over x.size(0), x.stride(1), x.offset() and
///              scalar inputs, with and, or, not. A name that the case does not have makes it false
///
/// case names one or more cases that must still fail in a matching way, relative to the file: when none of a case's
/// runs does, the issue may be fixed, and that is said.
struct KnownIssue {
  std::string link;
  VerdictClass cls = VerdictClass::kWrongResult;
  std::optional<bool> fault;
  std::string op, kernel, relation, signature;  ///< "" = any
  std::optional<Expr> where;
  std::vector<std::string> cases;
  std::string reason;
  int line = 0;  ///< of its first line in the file, from 1
};

/// Hostile input is an error that names the line ("line 12"), never a crash. No issues are no error.
Result<std::vector<KnownIssue>> parse_known_issues(std::string_view text);

/// Reads a file; the paths of cases come back relative to the current folder. Throws HarnessError.
std::vector<KnownIssue> load_known_issues(const std::string& path);

bool matches(const KnownIssue& issue, const Verdict& verdict, const Case& minimal);

/// Why a finding does not count: "known issue LINK: REASON" of the first that matches; "" when none does.
std::string known_issue_excuse(const std::vector<KnownIssue>& issues, const Verdict& verdict, const Case& minimal);

}  // namespace aotifuzz
