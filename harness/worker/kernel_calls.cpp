#include "worker/kernel_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace aotifuzz {

#if defined(__x86_64__)

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStubBytes = 32;

/// What a small function knows of its call. The thunk reads the first member.
struct CallSite {
  void* target;
  size_t kernel;
  const char* name;
  size_t name_length;
};

/// As the thunk lays it out on the stack.
struct CallFrame {
  uint64_t integers[6];
  double floats[8];
  const uint64_t* stack;
  const CallSite* site;
  uint64_t results[4];  ///< rax, rdx, xmm0, number of stack words
};
static_assert(sizeof(CallFrame) == 160, "the thunk knows the layout");

KernelObserver* current_observer = nullptr;

/// Words between `from` and the top of this thread's stack, at most kStackWords.
size_t words_above(const uint64_t* from) {
  static thread_local const char* top = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &size);
      pthread_attr_destroy(&attributes);
    }
    return static_cast<const char*>(low) + size;
  }();
  const char* begin = reinterpret_cast<const char*>(from);
  if (begin >= top) return 0;
  return std::min<size_t>((top - begin) / sizeof(uint64_t), KernelCalls::kStackWords);
}

KernelCall call_of(const CallFrame& frame, size_t words) {
  const CallSite& site = *frame.site;
  return {site.kernel, {site.name, site.name_length}, frame.integers, frame.floats, frame.stack, words};
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"), used)) uint64_t aotifuzz_before_call(const CallFrame* frame) {
  const size_t words = words_above(frame->stack);
  if (current_observer) current_observer->before(call_of(*frame, words));
  return words;
}

__attribute__((visibility("hidden"), used)) void aotifuzz_after_call(const CallFrame* frame) {
  if (current_observer) current_observer->after(call_of(*frame, frame->results[3]));
}

__attribute__((visibility("hidden"))) void aotifuzz_call_thunk();
}

// r11 holds the CallSite. The frame pointer is the unwinder's anchor: kernels throw, and crashes are traced, through
// here.
asm(R"(
.text
.p2align 4
.hidden aotifuzz_call_thunk
.globl aotifuzz_call_thunk
.type aotifuzz_call_thunk, @function
aotifuzz_call_thunk:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $160, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movsd %xmm0, 48(%rsp)
  movsd %xmm1, 56(%rsp)
  movsd %xmm2, 64(%rsp)
  movsd %xmm3, 72(%rsp)
  movsd %xmm4, 80(%rsp)
  movsd %xmm5, 88(%rsp)
  movsd %xmm6, 96(%rsp)
  movsd %xmm7, 104(%rsp)
  leaq 16(%rbp), %rax
  movq %rax, 112(%rsp)
  movq %r11, 120(%rsp)
  movq %rsp, %rdi
  call aotifuzz_before_call
  movq %rax, 152(%rsp)
  movq %rax, %rcx
  leaq 15(,%rax,8), %rax
  andq $-16, %rax
  subq %rax, %rsp
  leaq 16(%rbp), %rsi
  movq %rsp, %rdi
  rep movsq
  leaq -160(%rbp), %r10
  movq 0(%r10), %rdi
  movq 8(%r10), %rsi
  movq 16(%r10), %rdx
  movq 24(%r10), %rcx
  movq 32(%r10), %r8
  movq 40(%r10), %r9
  movsd 48(%r10), %xmm0
  movsd 56(%r10), %xmm1
  movsd 64(%r10), %xmm2
  movsd 72(%r10), %xmm3
  movsd 80(%r10), %xmm4
  movsd 88(%r10), %xmm5
  movsd 96(%r10), %xmm6
  movsd 104(%r10), %xmm7
  movq 120(%r10), %r11
  call *(%r11)
  leaq -160(%rbp), %rsp
  movq %rax, 128(%rsp)
  movq %rdx, 136(%rsp)
  movsd %xmm0, 144(%rsp)
  movq %rsp, %rdi
  call aotifuzz_after_call
  movq 128(%rsp), %rax
  movq 136(%rsp), %rdx
  movsd 144(%rsp), %xmm0
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size aotifuzz_call_thunk, .-aotifuzz_call_thunk
)");

/// The dynamic section of a loaded library.
struct LibraryTable {
  uint64_t base = 0;
  std::string path;
  uint64_t begin = 0, end = 0;  ///< of its segments
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  struct Part {
    const ElfW(Rela) * first = nullptr;
    size_t count = 0;
  };
  std::array<Part, 2> relocations;  ///< of the procedure linkage table, and the others

  static int collect(dl_phdr_info* info, size_t, void* into);
  static std::vector<LibraryTable> all();
};

int LibraryTable::collect(dl_phdr_info* info, size_t, void* into) {
  LibraryTable table;
  table.base = info->dlpi_addr;
  table.path = info->dlpi_name ? info->dlpi_name : "";
  const ElfW(Dyn)* dynamic = nullptr;
  table.begin = UINT64_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(table.base + header.p_vaddr);
    if (header.p_type != PT_LOAD) continue;
    table.begin = std::min<uint64_t>(table.begin, table.base + header.p_vaddr);
    table.end = std::max<uint64_t>(table.end, table.base + header.p_vaddr + header.p_memsz);
  }
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto value = dynamic->d_un.d_val;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        table.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
        break;
      case DT_STRTAB:
        table.strings = reinterpret_cast<const char*>(value);
        break;
      case DT_JMPREL:
        table.relocations[0].first = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_PLTRELSZ:
        table.relocations[0].count = value / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        table.relocations[1].first = reinterpret_cast<const ElfW(Rela)*>(value);
        break;
      case DT_RELASZ:
        table.relocations[1].count = value / sizeof(ElfW(Rela));
        break;
    }
  }
  if (table.symbols && table.strings) static_cast<std::vector<LibraryTable>*>(into)->push_back(std::move(table));
  return 0;
}

std::vector<LibraryTable> LibraryTable::all() {
  std::vector<LibraryTable> tables;
  dl_iterate_phdr(&collect, &tables);
  return tables;
}

namespace {

/// Where a relocation's symbol is: in the library itself, or wherever the loader would find it.
void* target_of(const LibraryTable& table, const ElfW(Sym) & symbol, const char* name) {
  if (symbol.st_shndx != SHN_UNDEF) return reinterpret_cast<void*>(table.base + symbol.st_value);
  return dlsym(RTLD_DEFAULT, name);
}

/// Loads the site's address and jumps to the thunk: movabs $site, %r11; movabs $thunk, %rax; jmp *%rax.
void write_stub(char* at, const CallSite* site) {
  const auto put = [&](std::initializer_list<uint8_t> opcode, const void* value) {
    for (const uint8_t byte : opcode) *at++ = static_cast<char>(byte);
    std::memcpy(at, &value, sizeof(value));
    at += sizeof(value);
  };
  put({0x49, 0xBB}, site);
  put({0x48, 0xB8}, reinterpret_cast<const void*>(&aotifuzz_call_thunk));
  *at++ = static_cast<char>(0xFF);
  *at++ = static_cast<char>(0xE0);
}

bool set_table_entry(void** entry, void* value) {
  // Full RELRO makes the table read-only after loading.
  const uintptr_t page = reinterpret_cast<uintptr_t>(entry) & ~(kPage - 1);
  if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE) != 0) return false;
  *entry = value;
  return true;
}

}  // namespace

size_t KernelCalls::watch_table(const LibraryTable& table) {
  if (std::find(watched_.begin(), watched_.end(), table.base) != watched_.end()) return 0;
  watched_.push_back(table.base);
  size_t replaced = 0;
  for (const LibraryTable::Part& part : table.relocations)
    for (size_t i = 0; i < part.count; ++i) {
      const ElfW(Rela)& relocation = part.first[i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const ElfW(Sym)& symbol = table.symbols[ELF64_R_SYM(relocation.r_info)];
      const char* name = table.strings + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const bool asks_for_data = data_pointers_ && std::string_view(name) == "aoti_torch_get_data_ptr";
      if (!asks_for_data && !is_kernel_symbol(name, symbol.st_shndx != SHN_UNDEF)) continue;
      void* target = target_of(table, symbol, name);
      if (!target) continue;
      if (code_left_ < kStubBytes) {
        void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return replaced;
        code_ = static_cast<char*>(page);
        code_left_ = kPage;
      }
      const size_t kernel = kernel_index(name);
      // Lives as long as the library, which is never unloaded.
      const CallSite* site = new CallSite{target, kernel, strdup(name), std::strlen(name)};
      char* page = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(code_) & ~(kPage - 1));
      mprotect(page, kPage, PROT_READ | PROT_WRITE);
      write_stub(code_, site);
      if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) return replaced;
      if (set_table_entry(reinterpret_cast<void**>(table.base + relocation.r_offset), code_)) ++replaced;
      code_ += kStubBytes;
      code_left_ -= kStubBytes;
    }
  return replaced;
}

size_t KernelCalls::watch_loaded_packages() {
  size_t replaced = 0;
  // The loader unpacks each library into TMP/aotinductor-folder/data/aotinductor/MODEL/.
  for (const LibraryTable& table : LibraryTable::all())
    if (table.path.find("/data/aotinductor/") != std::string::npos) replaced += watch_table(table);
  return replaced;
}

size_t KernelCalls::watch_library_of(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  for (const LibraryTable& table : LibraryTable::all())
    if (at >= table.begin && at < table.end) return watch_table(table);
  return 0;
}

void KernelCalls::set_observer(KernelObserver* to) { current_observer = to; }
KernelObserver* KernelCalls::observer() const { return current_observer; }

#else  // another processor: nothing is observed, and watch() says so

size_t KernelCalls::watch_loaded_packages() { return 0; }
size_t KernelCalls::watch_library_of(const void*) { return 0; }
void KernelCalls::set_observer(KernelObserver*) {}
KernelObserver* KernelCalls::observer() const { return nullptr; }

#endif

KernelCalls& KernelCalls::instance() {
  static KernelCalls* calls = new KernelCalls();  // its code is called until the process ends
  return *calls;
}

size_t KernelCalls::kernel_index(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return known - names_.begin();
  names_.push_back(name);
  return names_.size() - 1;
}

bool is_kernel_symbol(std::string_view name, bool defined_by_the_package) {
  if (defined_by_the_package) return name.starts_with("cpp_");
  return name.starts_with("aoti_torch_cpu_") || name.starts_with("aoti_torch_cuda_") ||
         name == "aoti_torch_proxy_executor_call_function" || name == "aoti_torch_copy_";
}

}  // namespace aotifuzz
