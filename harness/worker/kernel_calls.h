#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// How a kernel is spread over a device.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};

/// One call that a package's library makes: of a kernel that it defines, or of an extern kernel (a shim of torch). Or a
/// launch on a device: its arguments are then counted through `integers` and `stack`, whatever their types, each in a
/// word of its own.
struct KernelCall {
  size_t kernel = 0;                   ///< index into KernelCalls::names()
  std::string_view name;               ///< "cpp_fused_add_embedding_0", "aoti_torch_cpu_addmm_out"
  const uint64_t* integers = nullptr;  ///< the six integer or pointer arguments that go through registers
  const double* floats = nullptr;      ///< the eight floating ones
  const uint64_t* stack = nullptr;     ///< those that follow
  size_t stack_words = 0;              ///< how many may be read there; the call itself may have fewer
  const LaunchShape* launch = nullptr;  ///< null: no launch
};

/// Sees every kernel call of every watched library, on the thread that makes it. A call that throws has no after(); a
/// launch has one as soon as it is queued.
/// Must not throw and must not run a package.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  virtual void before(const KernelCall& call) = 0;
  virtual void after(const KernelCall& call) {}
};

/// Observes the kernel calls of stock packages, with no rebuild: entries of the library's global offset table are
/// replaced by small functions that tell the observer and then call the real one with the very same arguments. Kernels
/// that the compiler bound locally are called without the table and stay unseen: what watch() returns says how many are
/// seen.
///
/// Cost:     about 50 ns a call.
/// Limits:   x86-64. At most kStackWords arguments beyond those in registers are passed on; torch's kernels have
///           up to 500.
/// Threads:  watch() and set_observer() before any package runs; calls from any thread.
class KernelCalls {
 public:
  static constexpr size_t kStackWords = 512;

  static KernelCalls& instance();

  /// Watches every loaded library of a package that is not watched yet. Returns the number of table entries replaced.
  size_t watch_loaded_packages();
  /// From now on also watches the calls by which packages ask for a tensor's data pointer. Observers see those too.
  void watch_data_pointers() { data_pointers_ = true; }
  /// Watches the library that holds `address`.
  size_t watch_library_of(const void* address);
  /// null: none.
  void set_observer(KernelObserver* observer);
  KernelObserver* observer() const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  KernelCalls() = default;
  friend struct LibraryTable;
  size_t watch_table(const struct LibraryTable& table);
  size_t kernel_index(const std::string& name);

  bool data_pointers_ = false;
  std::vector<std::string> names_;
  std::vector<uint64_t> watched_;  ///< load addresses
  char* code_ = nullptr;           ///< where the next small function goes
  size_t code_left_ = 0;
};

/// True for what counts as a kernel call: generated kernels, and shims that compute.
bool is_kernel_symbol(std::string_view name, bool defined_by_the_package);

}  // namespace aotifuzz
