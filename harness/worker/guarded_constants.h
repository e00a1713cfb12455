#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace torch::inductor {
class AOTIModelContainerRunner;
}

namespace aotifuzz {

class DeviceRuntime;

/// The weights of a loaded package, moved out of the one block that the loader puts them into: each into guarded memory
/// of its own, so that an access past one is not an access to the next. Values and layout stay. Needs the guard
/// allocator; without it nothing is moved. On a device the loader's block lies outside torch's allocator altogether.
///
/// Left where they are: constants of another device than the package's, those whose elements overlap or have gaps, and
/// those packed for a library. All of them when
///         the package's library cannot be told (older runtimes), or when they take more than kBytesMax together: the
///         loader's own block is not given back.
/// Threads: while nothing runs.
class GuardedConstants {
 public:
  static constexpr size_t kBytesMax = size_t{512} << 20;
  static constexpr size_t kDeviceBytesMax = size_t{4} << 30;

  /// Constants by FQN that the program may write; every other becomes read-only. `none_read_only`: it is not known.
  struct Writable {
    bool none_read_only = true;
    std::set<std::string> fqns;
  };
  /// `device`: what the package runs on, null = the CPU. `guarded`: there is a guard allocator on the device; on the
  /// CPU it is asked itself.
  GuardedConstants(torch::inductor::AOTIModelContainerRunner& runner, const Writable& writable,
                   DeviceRuntime* device = nullptr, bool guarded = true);

  /// Gives a constant its value again. False: it was not moved.
  bool reset(const std::string& fqn, const at::Tensor& value);
  bool holds(const std::string& fqn) const { return tensors_.contains(fqn); }
  /// The package uses the tensors here again, after its weights were updated.
  void put_back(torch::inductor::AOTIModelContainerRunner& runner);
  size_t moved() const { return tensors_.size(); }
  size_t left() const { return left_; }  ///< in the loader's block
  size_t read_only() const { return read_only_.size(); }

 private:
  std::unordered_map<std::string, at::Tensor> tensors_;  ///< by FQN; the package keeps pointers to them
  std::unordered_map<std::string, std::string> fqn_of_;  ///< by the package's own name for a moved constant
  std::set<std::string> read_only_;
  size_t left_ = 0;
};

}  // namespace aotifuzz
