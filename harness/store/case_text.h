#pragma once

#include <string>
#include <string_view>

#include "core/case.h"
#include "core/error.h"

namespace aotifuzz {

// clang-format off
/// Case text, format version 1. A person reads, edits and reviews it; old versions parse for ever.
///
///   aotifuzz-case 1
///   # comments and blank lines are allowed
///   input x f32[4,7,16] normal(0,1,seed=1)
///   input i i64[4,7] ints(0,9,seed=2) at(3)=-1 strides=[1,4] offset=3
///   input y f32[4] view-of=x offset=2            # shares x's storage
///   input z f32[3] zero-tensor
///   input w u8[33] const(7) misaligned=1         # storage starts 1 byte past a 64-byte boundary
///   input c f32[4] const(0) device=cpu           # lies there, whatever the program wants; cuda: on a GPU
///   input r f32[64,80] file("r.npy",f32,hash=0123456789abcdef)   # a real tensor, kept beside the text
///   input n int 3                                # also: float 0.5, bool true, none
///   input e f32[4] const(0) surplus              # one input more than the program takes; these come last
///   then times=2                                 # a further call of the loaded package, made twice, on these inputs:
///   input x f32[9,7,16] const(1.0)
///   input i i64[9,7] const(0)
///   run checks=on times=3 threads=2 callers=2 constants=updated
///
/// After all further calls the first inputs are run again. The run line may stand anywhere; its fields have defaults (off,
/// 2, 1, 1, exported) and are printed only where they differ.
///
/// Numbers: integers in decimal; floating values always with '.', 'e', "inf" or "nan", shortest text that reads back to
/// the same bits (NaN payloads are not kept). Blanks are free around brackets, commas and '='; recipe, at() and options
/// come in any order. Fields that a kind of input does not use (a scalar's sizes) are not printed. A view names the
/// input that owns the storage, which is as long as its furthest view needs; where no element of the owner lies, the
/// storage holds further values of the owner's recipe (worker/materialize.h). A file's name has no folder in it, in a
/// text on disk: it lies beside (store/case_files.h); what passes between processes has absolute paths. Bytes that
/// would end quotes, comment or line are written as %XX. parse(print(c)) == c for every case that parse_case accepts.
// clang-format on
std::string print_case(const Case& c);

/// Never throws; names line and reason. Refuses what could not be run: negative sizes, strides of another rank, a
/// storage larger than kCaseBytesMax, view-of an unknown or later input or of a view, two inputs of one name, an
/// unknown dtype or recipe, a wrong count of numbers. Opens no file: a file() of the case is not loaded.
Result<Case> parse_case(std::string_view text);

/// 16 GiB: past this a case is a typing error, not a test.
inline constexpr int64_t kCaseBytesMax = int64_t{16} << 30;
/// The same for the span of a storage that holds few elements: it takes address space, not memory.
inline constexpr int64_t kCaseSpanMax = int64_t{64} << 30;
inline constexpr int64_t kSparseElementsMax = 1 << 16;

}  // namespace aotifuzz
