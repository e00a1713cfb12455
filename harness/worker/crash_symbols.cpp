#include "worker/crash_symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace aotifuzz {
namespace {

/// Deeper frames are the worker's own.
constexpr size_t kFramesShown = 16;
constexpr size_t kNameMax = 160;

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  std::string name = status == 0 && text ? text.get() : symbol;
  if (name.size() > kNameMax) name = name.substr(0, kNameMax - 3) + "...";
  return name;
}

struct Library {
  std::string path;
  uint64_t base = 0, begin = 0, end = 0;
};

/// The code address that a frame stands for: of a return address the call, which may be the last instruction of its
/// function.
uint64_t code_address(uint64_t address, bool is_return) { return is_return && address > 0 ? address - 1 : address; }

int collect(dl_phdr_info* info, size_t, void* into) {
  const std::string path = info->dlpi_name ? info->dlpi_name : "";
  if (path.find("/data/aotinductor/") == std::string::npos) return 0;
  Library library{path, info->dlpi_addr, UINT64_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    library.begin = std::min<uint64_t>(library.begin, library.base + header.p_vaddr);
    library.end = std::max<uint64_t>(library.end, library.base + header.p_vaddr + header.p_memsz);
  }
  static_cast<std::vector<Library>*>(into)->push_back(library);
  return 0;
}

/// A library with its weights may have gigabytes: only headers and symbols are read.
template <class T>
std::vector<T> read_at(std::ifstream& in, uint64_t offset, size_t count) {
  std::vector<T> out(count);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) out.clear();
  return out;
}

}  // namespace

void CrashSymbols::remember_loaded_packages() {
  constexpr size_t kSymbolsMax = 1 << 20, kStringsMax = 64 << 20;
  std::vector<Library> libraries;
  dl_iterate_phdr(&collect, &libraries);
  for (const Library& library : libraries) {
    lines_.add(library.path, library.base, library.begin, library.end);
    std::ifstream in(library.path, std::ios::binary);
    const auto header = read_at<ElfW(Ehdr)>(in, 0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) continue;
    const auto sections = read_at<ElfW(Shdr)>(in, header[0].e_shoff, header[0].e_shnum);
    for (const ElfW(Shdr) & section : sections) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
      const ElfW(Shdr)& strings_section = sections[section.sh_link];
      if (section.sh_size / sizeof(ElfW(Sym)) > kSymbolsMax || strings_section.sh_size > kStringsMax) continue;
      std::vector<char> strings = read_at<char>(in, strings_section.sh_offset, strings_section.sh_size);
      strings.push_back('\0');
      for (const ElfW(Sym) & symbol : read_at<ElfW(Sym)>(in, section.sh_offset, section.sh_size / sizeof(ElfW(Sym))))
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 && symbol.st_name < strings.size())
          functions_.push_back({library.base + symbol.st_value, library.base + symbol.st_value + symbol.st_size,
                                &strings[symbol.st_name]});
    }
  }
  std::sort(functions_.begin(), functions_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

std::string CrashSymbols::name_of(uint64_t address, bool is_return) const {
  const uint64_t at = code_address(address, is_return);
  auto next = std::upper_bound(functions_.begin(), functions_.end(), at,
                               [](uint64_t a, const Function& function) { return a < function.begin; });
  if (next != functions_.begin() && at < std::prev(next)->end) {
    const std::string line = lines_.line_of(at);
    return readable(std::prev(next)->name.c_str()) + (line.empty() ? " (package)" : " (package, " + line + ")");
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(at), &info) == 0 || !info.dli_fname) return "?";
  const char* slash = std::strrchr(info.dli_fname, '/');
  const std::string file = slash ? slash + 1 : info.dli_fname;
  return (info.dli_sname ? readable(info.dli_sname) : "?") + " (" + file + ")";
}

std::string CrashSymbols::stack_text(std::span<const uint64_t> frames, bool first_returns, size_t bytes_max) {
  frames = frames.first(std::min(frames.size(), kFramesShown));
  std::vector<uint64_t> addresses;
  for (const uint64_t& frame : frames)
    addresses.push_back(code_address(frame, first_returns || &frame != frames.data()));
  lines_.resolve(addresses);
  std::string text;
  for (const uint64_t& frame : frames) {
    const std::string line = name_of(frame, first_returns || &frame != frames.data()) + "\n";
    if (line.starts_with("? (aotifuzz-worker")) continue;  // ours, without names
    if (text.size() + line.size() > bytes_max) break;
    text += line;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

void CrashSymbols::write_stack_text(FlightRecorder& recorder) {
  FaultEntry& fault = recorder.fault;
  const size_t count = static_cast<size_t>(std::clamp<int>(fault.frame_count, 0, FaultEntry::kFramesMax));
  const std::string text = stack_text({fault.frames, count}, false, FaultEntry::kStackTextMax);
  std::memcpy(fault.stack_text, text.data(), text.size());
  fault.stack_text[text.size()] = '\0';
}

}  // namespace aotifuzz
