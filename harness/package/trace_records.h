#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace aotifuzz {

/// One level of a recorded Python stack.
struct TraceFrame {
  std::string file;
  int64_t line = 0;
  std::string function, code;
};

/// One entry of a TORCH_TRACE log that says something about sizes or generated code.
struct TraceRecord {
  enum class Kind : uint8_t {
    kSource,          ///< an input of the export: `text` "L['x']"
    kSymbol,          ///< `symbol` of a size: `text` "L['x'].size()[0]", `range` "[2, int_oo]", `value` of the example
    kUnbackedSymbol,  ///< `symbol` whose number is known at run time only: `range`
    kGuard,           ///< `text` "Eq(2*s77, s17)", over symbols
    kSpecialisation,  ///< `symbol` became `value`: `text` as of kSymbol, `reason`
    kDataDependent,   ///< `text` could not be decided
    kGraph,           ///< begins a compilation, or `payload` is its graph after all passes: `name`
    kWrapperCode,     ///< `payload`, `name` is the file
    kKernelCode,      ///< `payload`, `name` is the file
    kKernelStacks,    ///< `payload` JSON: kernel to the stacks of what it computes
    kVersion,         ///< `payload` JSON: of torch
  };
  Kind kind = Kind::kGuard;
  std::string symbol, text, range, value, reason, name, payload;
  std::vector<TraceFrame> user_stack, stack;  ///< outermost first
  bool payload_cut = false;                   ///< one is announced and nothing of it is there
};

/// Folders of the torch that wrote a log, "/x/site-packages/torch/": with links in the path there are two.
using TorchFolders = std::vector<std::string>;

/// A log, and what of it could not be read.
struct TraceLog {
  std::string path;
  TorchFolders torch;
  std::vector<TraceRecord> records;
  size_t lines = 0;       ///< that begin an entry
  size_t unreadable = 0;  ///< of those: cut short, or no log of torch
};

/// Reads entry by entry; what other entries carry is passed over. Never throws for what the text is.
TraceLog read_trace_log(std::istream& in);

/// Logs of a folder that TORCH_TRACE named, of a folder that tlparse wrote, or one log file. Throws HarnessError when
/// there is none, or none that says anything.
std::vector<TraceLog> read_trace_folder(const std::string& path);

/// Is it Python's, torch's or generated code, not the model's? `torch` as in TraceLog.
bool is_library_frame(const TraceFrame& frame, const TorchFolders& torch);

/// The model's innermost line of a record; null when the record names none.
const TraceFrame* model_frame(const TraceRecord& record, const TorchFolders& torch);

/// Was it written while inductor compiled, by its stack?
bool is_of_compiler(const TraceRecord& record, const TorchFolders& torch);

/// "model.py:12: z = x + y"
std::string frame_text(const TraceFrame& frame);

}  // namespace aotifuzz
