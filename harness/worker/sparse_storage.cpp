#include "worker/sparse_storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace aotifuzz {
namespace {

struct Mapping {
  void* base = nullptr;
  size_t bytes = 0;
};

void unmap(void* context) {
  auto* mapping = static_cast<Mapping*>(context);
  munmap(mapping->base, mapping->bytes);
  delete mapping;
}

}  // namespace

bool wants_sparse(int64_t bytes, int64_t reached) {
  constexpr int64_t kLeast = int64_t{1} << 30, kShare = 1000;
  return bytes >= kLeast && reached < bytes / kShare;
}

c10::Storage make_sparse_storage(int64_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t whole = (static_cast<size_t>(bytes) + page - 1) / page * page;
  void* base = mmap(nullptr, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  auto* mapping = new Mapping{base, whole + page};
  char* data = static_cast<char*>(base) + (whole - static_cast<size_t>(bytes));
  c10::DataPtr owner(data, mapping, &unmap, c10::Device(c10::kCPU));
  if (mprotect(base, whole, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(bytes), std::move(owner), nullptr, false));
}

}  // namespace aotifuzz
