#include "worker/package_lines.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "store/tool_output.h"

namespace aotifuzz {
namespace {

bool has_line_table(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(ElfW(Shdr))) return false;
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  in.seekg(static_cast<std::streamoff>(header.e_shoff));
  if (!in.read(reinterpret_cast<char*>(sections.data()),
               static_cast<std::streamsize>(sections.size() * sizeof(ElfW(Shdr)))) ||
      header.e_shstrndx >= sections.size())
    return false;
  constexpr std::string_view kName = ".debug_line";
  for (const ElfW(Shdr) & section : sections) {
    char name[kName.size() + 1] = "";
    in.seekg(static_cast<std::streamoff>(sections[header.e_shstrndx].sh_offset + section.sh_name));
    if (in.read(name, sizeof name) && std::string_view(name, sizeof name) == std::string_view(".debug_line\0", 12))
      return true;
    in.clear();
  }
  return false;
}

/// A line "file:line" for each of `offsets`; "" without addr2line.
std::string ask(int fd, const std::vector<uint64_t>& offsets) {
  std::vector<std::string> words = {"addr2line", "-e",
                                    "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd)};
  for (const uint64_t offset : offsets) {
    std::ostringstream text;
    text << "0x" << std::hex << offset;
    words.push_back(text.str());
  }
  return tool_output(std::move(words));
}

/// "FOLDER/cabc...xyz.kernel.cpp:17 (discriminator 3)" -> "kernel.cpp:17"; "" for what is not known, or not generated.
std::string short_line(std::string text) {
  text.resize(std::min(text.find(" ("), text.size()));
  text.erase(0, text.rfind('/') + 1);
  const size_t colon = text.rfind(':');
  if (colon == text.npos || text.starts_with('?') || text.substr(colon + 1) == "?" || text.substr(colon + 1) == "0")
    return "";
  for (const char* kind : {".kernel.cpp", ".wrapper.cpp"})
    if (const size_t at = text.find(kind); at != text.npos) return text.substr(at + 1);
  return "";
}

}  // namespace

PackageLines::~PackageLines() {
  for (const Library& library : libraries_) ::close(library.fd);
}

void PackageLines::add(const std::string& path, uint64_t base, uint64_t begin, uint64_t end) {
  if (!has_line_table(path)) return;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) libraries_.push_back({base, begin, end, fd});
}

void PackageLines::resolve(const std::vector<uint64_t>& addresses) {
  for (const Library& library : libraries_) {
    std::vector<uint64_t> wanted, offsets;
    for (const uint64_t address : addresses)
      if (address >= library.begin && address < library.end && !lines_.contains(address)) {
        wanted.push_back(address);
        offsets.push_back(address - library.base);
      }
    if (wanted.empty()) continue;
    std::istringstream answer(ask(library.fd, offsets));
    for (const uint64_t address : wanted) {
      std::string line;
      std::getline(answer, line);
      lines_[address] = short_line(line);
    }
  }
}

std::string PackageLines::line_of(uint64_t address) const {
  const auto known = lines_.find(address);
  return known == lines_.end() ? "" : known->second;
}

}  // namespace aotifuzz
