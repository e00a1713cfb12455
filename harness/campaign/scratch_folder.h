#pragma once

#include <string>

namespace aotifuzz {

/// A folder for what nobody keeps, among the temporary files; removed with what is in it.
class ScratchFolder {
 public:
  /// `name`: begins the folder's name. Throws HarnessError.
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace aotifuzz
