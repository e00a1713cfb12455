#include "gate/stack_frames.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace aotifuzz {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_users(std::string_view path) {
  constexpr std::array<std::string_view, 11> others = {
      "libtorch", "libc10",     "libc.so", "libstdc++",           "libgcc_s", "libm.so", "libgomp",
      "ld-linux", "libpthread", "libdl",   "aotifuzz-gate-worker"};
  const std::string_view name = file_name(path);
  if (name.find(".so") == std::string_view::npos) return false;  // a program: us
  for (const std::string_view other : others)
    if (name.substr(0, other.size()) == other) return false;
  return true;
}

std::string demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : name;
  std::free(text);
  return out;
}

}  // namespace

std::vector<GateFrame> frames_in_libraries(const std::vector<uint64_t>& addresses, bool first_is_exact) {
  std::vector<GateFrame> out;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint64_t address = addresses[i] - (i == 0 && first_is_exact ? 0 : 1);
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || !info.dli_fname || !is_users(info.dli_fname)) continue;
    out.push_back({info.dli_fname, address - reinterpret_cast<uint64_t>(info.dli_fbase),
                   info.dli_sname ? demangled(info.dli_sname) : ""});
  }
  return out;
}

std::vector<GateFrame> frames_in_libraries(const std::vector<void*>& addresses) {
  std::vector<uint64_t> numbers;
  for (void* address : addresses) numbers.push_back(reinterpret_cast<uint64_t>(address));
  return frames_in_libraries(numbers, false);
}

}  // namespace aotifuzz
