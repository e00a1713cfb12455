#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace aotifuzz {

/// Source lines of code addresses in packages, from the line tables that torch compiles into them from 2.15 on. The
/// files may be removed after add(): they are held open. Asks addr2line (binutils), once for each address; without it,
/// or without line tables, nothing is known. Threads: one at a time.
class PackageLines {
 public:
  PackageLines() = default;
  ~PackageLines();
  PackageLines(const PackageLines&) = delete;
  PackageLines& operator=(const PackageLines&) = delete;

  /// A loaded library: its file, what its addresses are counted from, and where its code lies.
  void add(const std::string& path, uint64_t base, uint64_t begin, uint64_t end);

  /// Looks up those of `addresses` that lie in packages and are not known yet.
  void resolve(const std::vector<uint64_t>& addresses);
  /// "kernel.cpp:17", without the hash that the file's name begins with; "" = not known.
  std::string line_of(uint64_t address) const;

 private:
  struct Library {
    uint64_t base = 0, begin = 0, end = 0;
    int fd = -1;
  };
  std::vector<Library> libraries_;
  std::map<uint64_t, std::string> lines_;
};

}  // namespace aotifuzz
