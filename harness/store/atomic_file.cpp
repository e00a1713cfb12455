#include "store/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/error.h"

namespace aotifuzz {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw HarnessError(std::string(what) + ": " + std::strerror(errno), path,
                     "check that the disk has space and that you may write there");
}

/// Without this a rename may be lost with the power.
void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// As write_file_whole() names them, "state.json.4711.tmp": whoever has other files ending in .tmp there keeps them.
bool is_temporary(const std::filesystem::path& path) {
  const std::string number = path.stem().extension().string();
  return path.extension() == ".tmp" && number.size() > 1 && number.find_first_not_of("0123456789", 1) == number.npos;
}

}  // namespace

void write_file_whole(const std::string& path, std::string_view content) {
  // The process number keeps two writers of one file apart; which of them is last does not matter.
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) fail("cannot create a file", temporary);
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      ::close(fd);
      ::unlink(temporary.c_str());
      errno = error;
      fail("cannot write a file", temporary);
    }
    done += static_cast<size_t>(n);
  }
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  if (!synced || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    errno = error;
    fail("cannot put a file in place", path);
  }
  sync_folder(folder_of(path));
}

void rename_folder(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("cannot put a folder in place", to);
  sync_folder(folder_of(to));
}

void remove_leftovers(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (is_temporary(path) || path.filename().string().starts_with(kUnfinished)) leftovers.push_back(path);
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, error);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) throw HarnessError("cannot read a file", path, "check the path");
  std::string text;
  std::vector<char> piece(size_t{1} << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > kReadMax)
      throw HarnessError("the file has more than " + std::to_string(kReadMax >> 20) + " MiB", path,
                         "check that it is the right one");
  }
  if (in.bad()) throw HarnessError("cannot read a file", path, "check the path");
  return text;
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw HarnessError("cannot create a folder: " + error.message(), path, "check that you may write there");
}

}  // namespace aotifuzz
