#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace aotifuzz {

/// Typed reading of a JSON document of unknown origin. A wrong type or a missing key throws JsonView::Failure, which
/// names the path ("graph_module.graph.nodes[3].target"); read_json() is the one place that catches it.
class JsonView {
 public:
  struct Failure {
    std::string what, path;
  };

  explicit JsonView(const nlohmann::json& root) : value_(&root), root_(&root) {}

  JsonView at(std::string_view key) const;                   ///< required
  std::optional<JsonView> find(std::string_view key) const;  ///< absent and null are the same
  size_t size() const;                                       ///< of an array
  JsonView operator[](size_t index) const { return {(*value_)[index], *root_}; }

  const std::string& string() const;
  int64_t integer() const;
  double real() const;  ///< also "Infinity", "-Infinity" and "NaN" as text, as export writes them
  bool boolean() const;
  bool is_object() const { return value_->is_object(); }
  bool is_null() const { return value_->is_null(); }
  bool is_text() const { return value_->is_string(); }

  /// An arm of a tagged union: an object with exactly one key.
  std::pair<std::string, JsonView> arm() const;

  template <class Visit>  ///< visit(const std::string& key, const JsonView& value)
  void for_each_member(Visit visit) const {
    require_object();
    for (auto it = value_->begin(); it != value_->end(); ++it) visit(it.key(), JsonView(it.value(), *root_));
  }

  [[noreturn]] void fail(std::string what) const;

 private:
  JsonView(const nlohmann::json& value, const nlohmann::json& root) : value_(&value), root_(&root) {}
  void require_object() const;

  const nlohmann::json* value_;
  const nlohmann::json* root_;
};

/// Parses `text` and reads it with `reader(JsonView)`. Errors name `where` and the path in the document.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& where);

template <class Reader>
auto read_json(std::string_view text, const std::string& where, Reader reader)
    -> Result<decltype(reader(std::declval<const JsonView&>()))> {
  const Result<nlohmann::json> document = parse_json(text, where);
  if (!document) return tl::unexpected(document.error());
  try {
    return reader(JsonView(*document));
  } catch (const JsonView::Failure& failure) {
    return parse_error(failure.what, failure.path.empty() ? where : where + ": " + failure.path);
  }
}

}  // namespace aotifuzz
