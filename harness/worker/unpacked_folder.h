#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// Folder that torch's loader made for the package that a mapped library belongs to, from the library's path:
/// "/tmp/aotinductor_AbCdEf/name/data/aotinductor/model/x.so" -> "/tmp/aotinductor_AbCdEf", and with older versions
/// "/tmp/AbCdEf". "" when the path has another form: only what
/// mkdtemp made for the loader may be removed, never a folder that a user unpacked.
std::string unpacked_folder_of(std::string_view library_path);

/// The folders of all packages that this process has loaded.
std::vector<std::string> unpacked_folders();

/// Removes the folders of all packages that this process has loaded. What is mapped stays usable, so a worker does this
/// right after loading, and nothing is left behind however it dies.
void remove_unpacked_folders();

}  // namespace aotifuzz
