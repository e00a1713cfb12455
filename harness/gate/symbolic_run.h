#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gate/size_expr.h"
#include "gate/source_place.h"
#include "worker/throw_observer.h"

namespace aotifuzz {

/// One moment at which a run with symbolic sizes depended on a symbol's value.
struct SizeEvent {
  enum class Kind {
    kNumber,  ///< a symbol was turned into a number: right for this value only
    kBranch,  ///< the run went one of two ways
    kAssert,  ///< the meta demands a condition, and goes on as if it held
  };
  Kind kind;
  SizeExprPtr expression;
  int64_t result = 0;         ///< the number, or the truth value
  std::string call;           ///< of kNumber: what asked, "x.size(0)"
  std::string aten;           ///< the ATen operator without a rule that asked; "" = the meta itself
  std::vector<void*> frames;  ///< return addresses, innermost first
  SourcePlace place{};        ///< of a fake in Python, which has no addresses
};

/// What happens on this thread between construction and destruction, or a pause, when symbolic sizes are asked for
/// numbers. One at a time a thread; a meta that starts threads of its own gets the value 0 there, and nothing is noted.
class SymbolicRun {
 public:
  SymbolicRun(const SymbolValues& values, const SymbolValues& least, const std::vector<std::string>& names);
  ~SymbolicRun();
  SymbolicRun(const SymbolicRun&) = delete;
  SymbolicRun& operator=(const SymbolicRun&) = delete;

  const std::vector<SizeEvent>& events() const { return events_; }
  /// ATen operators without a rule that wanted a number, or that raised.
  const std::string& unruled() const { return unruled_; }
  /// The ATen operator that was asked for values of a tensor, which a meta has none of; "" = none.
  const std::string& read_data() const { return read_data_; }
  /// An operator without a C++ meta that the meta calls; "" = none. With Python it may have one.
  const std::string& without_meta() const { return without_meta_; }
  /// Where the exception that left the run was thrown.
  const std::vector<void*>& throw_frames() const { return throw_frames_; }

  /// Nothing is noted while one lives: our own bookkeeping also asks for numbers.
  class Pause {
   public:
    Pause();
    ~Pause();

   private:
    bool was_;
  };
  /// While one lives, ATen's own code is running on behalf of an operator that we have no rule for.
  class InsideAten {
   public:
    explicit InsideAten(std::string name);
    ~InsideAten();

   private:
    std::string outer_;
    int exceptions_;
  };

  /// Where the tensor with this storage was made by an ATen operator that the run called; empty: not seen. Of nullptr:
  /// where the first ATen operator was called.
  std::vector<void*> made_at(const void* storage) const;
  /// An ATen operator that the meta called made this storage; nullptr: it was called.
  static void note_made(const void* storage);

  /// The value of `expression` now; notes that it was asked for.
  static int64_t note(SizeEvent::Kind kind, const SizeExprPtr& expression, const std::string& call);
  static const SymbolValues& values();
  static SymbolValues least_values();
  static const std::vector<std::string>& names();
  static bool active();
  /// Called for each exception thrown in the process.
  static void note_throw();
  static void note_data_read(const std::string& aten);
  static void note_without_meta(const std::string& op);

 private:
  const SymbolValues& values_;
  const SymbolValues& least_;
  const std::vector<std::string>& names_;
  std::vector<SizeEvent> events_;
  std::vector<void*> throw_frames_;
  std::string unruled_, read_data_, without_meta_;
  std::string inside_aten_;
  std::map<const void*, std::vector<void*>> made_;  ///< by storage
  bool listening_ = true;
  ThrowObserver observer_before_;
};

}  // namespace aotifuzz
