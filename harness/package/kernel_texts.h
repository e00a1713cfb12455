#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "package/package_info.h"

namespace aotifuzz {

/// The generated text of one kernel.
struct KernelText {
  std::string kernel;     ///< "cpp_fused_add_0"
  std::string where;      ///< member of the archive, "x.kernel.cpp"; of a text in the kernel map the kernel's name
  size_t first_line = 0;  ///< in that member; 0 = the text is the map's
  std::string text;
};

/// A generated source file of the compiled model.
struct GeneratedFile {
  std::string name;  ///< below the model's folder: "x.wrapper.cpp"
  std::string text;
};

/// The model's .cpp files, in the archive's order. Empty when the archive cannot be read. Never throws.
std::vector<GeneratedFile> generated_files(const PackageInfo& package);

/// Every kernel whose text is known: C++ functions and Triton's in comments of the generated files, else in the kernel
/// map. Each kernel once. Never throws.
std::vector<KernelText> kernel_texts(const PackageInfo& package);

/// The same of one file's text.
std::vector<KernelText> kernel_texts(const GeneratedFile& file);

std::vector<std::string_view> lines_of_text(std::string_view text);

}  // namespace aotifuzz
