#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// A file that the user wants a result in.
struct ResultFile {
  std::string flag;  ///< "--junit"
  std::string path;  ///< "" = not wanted
};

/// To be called before any work, so that hours of it do not end at a file that cannot be written. Throws UsageError
/// when two of `files` are one, when one of them is one of `inputs`, and when one holds what is no earlier result:
/// something other than XML or JSON, which would be lost. Throws HarnessError when one cannot be written.
/// `any_text`: whoever writes looks at what is there itself.
void require_result_files(const std::vector<ResultFile>& files, const std::vector<std::string>& inputs,
                          bool any_text = false);

/// The same of a folder that the work fills, made or yet to be made: a file in its place or on its way is a UsageError,
/// one that cannot be written to a HarnessError. Leaves nothing behind.
void require_result_folder(const ResultFile& folder);

/// Writes it whole, through a symbolic link to what that leads to; what is no regular file (a pipe, a device) is
/// written to itself. Throws HarnessError.
void write_result_file(const std::string& path, std::string_view text);

}  // namespace aotifuzz
