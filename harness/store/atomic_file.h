#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aotifuzz {

/// Writes a file whole: temporary file beside it, fsync, rename, fsync of the folder. Whoever is killed at any moment
/// leaves the old file or the new one. Throws HarnessError.
void write_file_whole(const std::string& path, std::string_view content);

/// Puts a finished folder into place under another name, which no folder may have yet, as write_file_whole() does with
/// a file. Throws HarnessError.
void rename_folder(const std::string& from, const std::string& to);

/// Removes what a killed writer left in `folder`: temporary files of write_file_whole(), and folders that start with
/// kUnfinished. Nobody else may be writing there. No error when there is no such folder.
void remove_leftovers(const std::string& folder);
inline constexpr std::string_view kUnfinished = ".unfinished-";

/// Throws HarnessError when it cannot be read, or has more than kReadMax bytes (a device has no end).
inline constexpr size_t kReadMax = size_t{256} << 20;
std::string read_file(const std::string& path);

/// Creates the folder and its parents. Throws HarnessError.
void make_folder(const std::string& path);

}  // namespace aotifuzz
