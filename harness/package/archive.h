#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace aotifuzz {

/// What an archive may ask of us before it is refused. Packages hold gigabytes of weights, which are stored (ratio 1)
/// and read on demand; text is read whole.
struct ArchiveLimits {
  uint64_t members_max = 100'000;
  uint64_t total_bytes_max = uint64_t{1} << 40;  ///< uncompressed, all members
  uint64_t ratio_max = 200;                      ///< uncompressed / compressed of a member; generated C++ reaches 20
  uint64_t ratio_free_bytes = 1 << 20;           ///< members up to this size may have any ratio
};

/// A zip archive opened for reading. Names are checked when it is opened: no absolute name, no "..", no backslash, no
/// duplicate. Nothing is ever written to disk. Not thread-safe.
class Archive {
 public:
  struct Member {
    std::string name;
    uint64_t bytes = 0;  ///< uncompressed
  };

  static Result<Archive> open(const std::string& path, const ArchiveLimits& limits = {});
  /// From bytes that must outlive the archive.
  static Result<Archive> from_bytes(std::string_view bytes, const ArchiveLimits& limits = {});

  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;
  ~Archive();

  const std::vector<Member>& members() const { return members_; }
  /// The one folder that everything lies in ("labeq/"), as torch writes it; "" when members lie at the top.
  const std::string& root() const { return root_; }
  /// By name below the root ("models/model.json").
  const Member* find(std::string_view name) const;

  /// `name`: below the root. An absent, encrypted, damaged or larger member is an error that names it.
  Result<std::string> read(std::string_view name, uint64_t bytes_max = uint64_t{1} << 29) const;

 private:
  struct Handle;
  explicit Archive(std::unique_ptr<Handle> handle);
  static Result<Archive> check(std::unique_ptr<Handle> handle, const std::string& where, const ArchiveLimits& limits);

  std::unique_ptr<Handle> handle_;
  std::vector<Member> members_;
  std::string root_;
};

}  // namespace aotifuzz
