#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "package/kernel_texts.h"

namespace aotifuzz {

/// A check of an index in a generated kernel, and what can be read off the text around it.
struct IndexCheck {
  std::string kernel;
  std::string where;                  ///< "x.kernel.cpp:22"; of a text in the kernel map "triton_poi_fused_0:22"
  std::string check;                  ///< the line
  std::string access, access_where;   ///< the first load or store after it that uses the index; "" = none was found
  bool stores = false;                ///< `access` stores
  std::string accessed;               ///< pointer that it goes through: "in_ptr1"; "" = not known
  std::vector<std::string> made;      ///< lines that the index is computed by, in order
  std::vector<std::string> pointers;  ///< that it is read from: "in_ptr0"
  std::vector<std::string> sizes;     ///< names in the bound and in how the index is computed: "ks2"
};

/// Every check "index out of bounds: 0 <= `index` < `bound`" of the kernels. Several kernels, or loops of one, may have
/// the same text: one entry for each kernel, of its first loop. Reads text of any kind and never throws.
std::vector<IndexCheck> find_index_checks(const std::vector<KernelText>& kernels, std::string_view index,
                                          std::string_view bound);

}  // namespace aotifuzz
