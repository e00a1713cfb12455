#include "campaign/scratch_folder.h"

#include <stdlib.h>

#include <filesystem>

#include "core/error.h"

namespace aotifuzz {

ScratchFolder::ScratchFolder(const std::string& name)
    : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
  if (!::mkdtemp(path_.data()))
    throw HarnessError("no temporary folder can be made", path_, "set TMPDIR to a folder that may be written");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace aotifuzz
