#pragma once

#include <string>

#include "core/case.h"

namespace aotifuzz {

/// The .npy files that cases take values from (ValueKind::kFile). They lie beside the case text and are named without a
/// folder there; in memory and between processes names are absolute paths. What a file must hold is known by its hash.

/// Reads the values of every file() of `c`, and makes the names absolute: a plain name lies in `folder`. Throws
/// HarnessError for a name with a relative folder in it, and for a file that is not there, is no .npy, or holds other
/// values than the case says.
void load_case_files(Case& c, const std::string& folder);

/// `c` as it is to be written to `folder`: its files are put there, where they are not yet, and named without a folder.
/// A name that another file has there already is avoided. Every file() of `c` must be loaded, none of the result is.
/// Throws HarnessError.
Case keep_case_files(const Case& c, const std::string& folder);

/// `c` with the files that lie in `folder` named without it, as a text there has them.
Case with_names_in(const Case& c, const std::string& folder);

}  // namespace aotifuzz
