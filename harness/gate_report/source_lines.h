#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/gate_record.h"

namespace aotifuzz {

struct SourceLine {
  std::string file;  ///< as the debug information has it; "" = not known
  int line = 0;
  std::string function;  ///< without arguments and anonymous namespaces; may be ""
};

/// Source lines of code addresses, from the debug information of the files they lie in. Asks addr2line (binutils) once
/// for each file. Without that program, or without debug information, the symbol is what is known.
class SourceLines {
 public:
  /// All addresses that will be asked for.
  explicit SourceLines(const std::vector<GateFrame>& frames);

  /// The innermost line that is the user's own: not in headers of torch or of the standard library, inlined or not.
  SourceLine user_line(const std::vector<GateFrame>& frames) const;

 private:
  std::map<std::pair<std::string, uint64_t>, std::vector<SourceLine>> lines_;  ///< inlined ones first
};

/// The line of m.def() or m.impl() for `op` ("ns::name.overload"), which lies in the block that begins at `block_line`
/// of `file`; `block_line` where the file cannot be read or has no such line.
int registration_line(const std::string& file, int block_line, const std::string& op);

/// A path as the compiler was given it, found: relative ones are looked for in this folder, the library's, and those
/// above it. As it was where it is not found.
std::string find_source(const std::string& file, const std::string& library);

/// "(anonymous namespace)::pad_meta(at::Tensor const&, c10::SymInt)" -> "pad_meta".
std::string short_function_name(const std::string& name);

}  // namespace aotifuzz
