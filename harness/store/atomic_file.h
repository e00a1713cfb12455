#pragma once

#include <string>
#include <string_view>

namespace aotifuzz {

/// Writes a file whole: temporary file beside it, fsync, rename, fsync of the folder. Whoever is killed at any moment
/// leaves the old file or the new one. Throws HarnessError.
void write_file_whole(const std::string& path, std::string_view content);

/// Throws HarnessError when it cannot be read.
std::string read_file(const std::string& path);

/// Creates the folder and its parents. Throws HarnessError.
void make_folder(const std::string& path);

}  // namespace aotifuzz
