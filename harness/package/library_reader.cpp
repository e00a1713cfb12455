#include "package/library_reader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/error.h"
#include "package/shared_library.h"
#include "package/wrapper_reader.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kWrapperMax = uintmax_t{1} << 29;
#if defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#else
constexpr uint16_t kThisMachine = EM_X86_64;
#endif

/// A file in memory without a copy: weights may be in it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd >= 0 && ::fstat(fd, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) ::close(fd);
    if (data_ == MAP_FAILED) throw HarnessError("the library cannot be read", path, "check that you may read it");
  }
  ~MappedFile() { ::munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = MAP_FAILED;
  size_t size_ = 0;
};

/// By what it calls; a library for the CPU calls nothing of a device.
std::string device_of(const SharedLibrary& library) {
  const auto wants = [&](std::string_view prefix) {
    const auto at = library.wanted.lower_bound(std::string(prefix));
    return at != library.wanted.end() && at->starts_with(prefix);
  };
  for (const char* prefix : {"aoti_torch_get_current_cuda_stream", "aoti_torch_create_cuda_", "aoti_torch_cuda_",
                             "cuLaunch", "cuModule", "cudaMalloc", "cudaMemcpy"})
    if (wants(prefix)) return "cuda";
  for (const char* prefix : {"aoti_torch_get_current_xpu_stream", "aoti_torch_xpu_"})
    if (wants(prefix)) return "xpu";
  for (const std::string& needed : library.needed) {
    if (needed.starts_with("libtorch_cuda") || needed.starts_with("libcuda")) return "cuda";
    if (needed.starts_with("libtorch_xpu")) return "xpu";
  }
  return "cpu";
}

std::string text_of(const fs::path& path) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes > kWrapperMax) return "";
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool is_library_file(const std::string& path) {
  std::string start(SELFMAG, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), SELFMAG);
  return in.gcount() == SELFMAG && is_elf(start);
}

CompiledModel read_library(const std::string& path, std::vector<std::string>& missing) {
  const MappedFile file(path);
  const Result<SharedLibrary> library = parse_shared_library(file.bytes());
  if (!library)
    throw HarnessError("the library cannot be read: " + library.error().what, path,
                       "give a .pt2, or the whole .so that aot_compile wrote");
  if (library->machine != kThisMachine)
    throw HarnessError("the library was built for " + machine_name(library->machine) + ", and this machine is " +
                           machine_name(kThisMachine),
                       path, "compile the model on a machine like this one, or run aotifuzz on one like that");
  if (!library->defined.contains("AOTInductorModelContainerRun"))
    throw HarnessError("the library holds no model: it defines no AOTInductorModelContainerRun", path,
                       "give a .pt2, or the .so that aot_compile wrote; a library of operators is given with --ops");
  CompiledModel model;
  model.name = "model";
  model.so_member = fs::path(path).filename().string();
  model.device = device_of(*library);
  const fs::path stem = fs::path(path).replace_extension();
  std::string wrapper;
  for (const char* ending : {".wrapper.cpp", ".cpp"})
    if (wrapper.empty()) wrapper = text_of(stem.string() + ending);
  if (wrapper.empty())
    missing.push_back("inputs, input checks, kernels: no " + stem.filename().string() + ".cpp beside the library");
  else
    read_wrapper(wrapper, model);
  if (const std::string metadata = text_of(stem.string() + "_metadata.json"); !metadata.empty()) {
    CompiledModel said;
    if (read_compiled_metadata(metadata, path, said)) {
      model.cpu_isa = said.cpu_isa;
      model.compute_capability = said.compute_capability;
    }
  }
  return model;
}

}  // namespace aotifuzz
