#include "package/shared_library.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace aotifuzz {
namespace {

constexpr uint64_t kEntriesMax = 1 << 22;
constexpr size_t kNameMax = 1 << 14;  ///< templates have long ones

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::optional<std::string_view> part(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return std::nullopt;
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

/// Name at `offset` of a string table; "" for one that is not there.
std::string name_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return "";
  const std::string_view rest = table.substr(offset, kNameMax);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

bool is_elf(std::string_view bytes) { return bytes.starts_with(std::string_view(ELFMAG, SELFMAG)); }

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    case EM_RISCV:
      return "riscv64";
    default:
      return "machine " + std::to_string(machine);
  }
}

Result<SharedLibrary> parse_shared_library(std::string_view bytes) {
  const auto fail = [](std::string what) { return parse_error(std::move(what), "ELF"); };
  const Reader reader(bytes);
  const auto header = reader.at<Elf64_Ehdr>(0);
  if (!is_elf(bytes)) return fail("it is no ELF file");
  if (!header) return fail("it is cut off");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("it is not of 64 bits and little-endian");
  SharedLibrary out;
  out.machine = header->e_machine;
  if (header->e_type != ET_DYN) return fail("it is no shared library (an object file, or a program)");
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0) return fail("it has no table of sections");
  std::vector<Elf64_Shdr> sections;
  for (uint64_t s = 0; s < header->e_shnum; ++s) {
    uint64_t offset = 0;
    if (__builtin_add_overflow(header->e_shoff, s * sizeof(Elf64_Shdr), &offset)) return fail("it is cut off");
    const auto section = reader.at<Elf64_Shdr>(offset);
    if (!section) return fail("it is cut off");
    sections.push_back(*section);
  }
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    if (section.sh_link >= sections.size()) return fail("a section names a table that is not there");
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto table = reader.part(strings.sh_offset, strings.sh_size);
    const auto content = reader.part(section.sh_offset, section.sh_size);
    if (!table || !content) return fail("it is cut off");
    const Reader entries(*content);
    if (section.sh_type == SHT_DYNAMIC) {
      for (uint64_t i = 0; i < std::min(content->size() / sizeof(Elf64_Dyn), kEntriesMax); ++i) {
        const auto entry = entries.at<Elf64_Dyn>(i * sizeof(Elf64_Dyn));
        if (entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_NEEDED) out.needed.insert(name_at(*table, entry->d_un.d_val));
      }
      continue;
    }
    for (uint64_t i = 1; i < std::min(content->size() / sizeof(Elf64_Sym), kEntriesMax); ++i) {
      const auto symbol = entries.at<Elf64_Sym>(i * sizeof(Elf64_Sym));
      if (std::string name = name_at(*table, symbol->st_name); !name.empty())
        (symbol->st_shndx == SHN_UNDEF ? out.wanted : out.defined).insert(std::move(name));
    }
  }
  return out;
}

}  // namespace aotifuzz
