#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/contract.h"
#include "core/outcome.h"
#include "worker/guarded_constants.h"
#include "worker/subject.h"

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace aotifuzz {

/// Runs the package under test through torch's own loader, or a bare library through torch's own runner.
///
/// Checks:  a model library reads AOTI_RUNTIME_CHECK_INPUTS once, at its first run. Each loader unpacks a library of
///          its own, so a process can hold both: one instance runs first with the variable unset, the other with it
///          set. Constructing loads only; a fork server constructs before it forks and runs nothing.
/// Inputs:  what Python's loader passes: the tensors among the flat user inputs. Numbers fixed at export and None are
///          not passed; surplus inputs are, after the others. A number that the program keeps symbolic has no way in:
///          the constructor refuses such a program (torch 2.11 does not compile one).
/// Constants: in guarded memory where the loader allows it (GuardedConstants); notes() says where it does not.
/// Buffers: a package keeps what it wrote into its buffers; those named by reset_before_runs() start each run as
///          exported.
/// Threads: on the CPU two calls run at the same time, further ones wait, as in a program that loads a package for two
///          callers; on a device one. See Subject.
class PackageExecutor final : public Subject {
 public:
  struct Request {
    std::string package;
    std::string model;                   ///< "" = "model"
    bool is_library = false;             ///< a bare .so, not an archive
    const Contract* contract = nullptr;  ///< used by the constructor only
    GuardedConstants::Writable writable;
    DeviceRuntime* device = nullptr;  ///< null: the CPU
    bool guarded = true;  ///< constants of a device go into memory of their own; on the CPU the allocator decides
  };
  /// Loads both instances. Throws HarnessError when the package cannot be loaded.
  explicit PackageExecutor(const Request& request);
  ~PackageExecutor() override;
  PackageExecutor(const PackageExecutor&) = delete;
  PackageExecutor& operator=(const PackageExecutor&) = delete;

  /// What cannot be watched, one line each: "kernels by name: ...".
  const std::vector<std::string>& notes() const { return notes_; }

  void reset_before_runs(const std::string& fqn, const at::Tensor& value) override {
    written_buffers_.emplace(fqn, value);
  }
  Results run(std::span<const c10::IValue> inputs, bool input_checks, StderrCapture* errors) override;
  std::map<std::string, at::Tensor> constants() const override;
  void update_constants(const std::map<std::string, at::Tensor>& values, bool swap) override;
  void restore_constants() override;

 private:
  struct Instance;
  void reset_buffers(Instance& instance);
  void note_limits(const Request& request);

  std::unique_ptr<Instance> plain_, checking_;
  std::vector<size_t> passed_;                         ///< positions of the contract's inputs that the package takes
  size_t taken_ = 0;                                   ///< inputs of the contract; what comes after is surplus
  std::map<std::string, at::Tensor> written_buffers_;  ///< by FQN
  std::vector<std::string> notes_;
};

}  // namespace aotifuzz
