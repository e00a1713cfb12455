#pragma once

#include <string>
#include <string_view>

namespace aotifuzz {

/// Text as it stands between tags or in double quotes, whatever is in it.
std::string html_text(std::string_view raw);

/// A page that opens offline: CSS in it, no script, no resource from elsewhere, dark and light as the reader's system
/// is. Well-formed XML when `body` is. `title` is raw text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace aotifuzz
