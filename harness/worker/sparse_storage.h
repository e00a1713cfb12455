#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

namespace aotifuzz {

/// Is a storage of `bytes`, of which views reach `reached`, better reserved than filled? From 1 GiB on, when views
/// reach less than a thousandth.
bool wants_sparse(int64_t bytes, int64_t reached);

/// Address space for `bytes`, all zero, which takes memory only where it is written. Its last byte lies against an
/// inaccessible page. Throws std::bad_alloc.
c10::Storage make_sparse_storage(int64_t bytes);

}  // namespace aotifuzz
