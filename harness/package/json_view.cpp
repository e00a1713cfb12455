#include "package/json_view.h"

#include <limits>

namespace aotifuzz {
namespace {

using nlohmann::json;

// Export nests a dozen levels per sub-graph; what is deeper is an attack on the stack.
constexpr int kDepthMax = 256;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// Paths are needed only when something is wrong, so they are searched for then. Depth is bounded by parse_json.
bool find_path(const json& tree, const json* wanted, std::string& path) {
  if (&tree == wanted) return true;
  const size_t length = path.size();
  if (tree.is_object()) {
    for (auto it = tree.begin(); it != tree.end(); ++it) {
      path += (length == 0 ? "" : ".") + it.key();
      if (find_path(it.value(), wanted, path)) return true;
      path.resize(length);
    }
  } else if (tree.is_array()) {
    for (size_t i = 0; i < tree.size(); ++i) {
      path += "[" + std::to_string(i) + "]";
      if (find_path(tree[i], wanted, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

}  // namespace

void JsonView::fail(std::string what) const {
  std::string path;
  find_path(*root_, value_, path);
  throw Failure{std::move(what), std::move(path)};
}

void JsonView::require_object() const {
  if (!value_->is_object()) fail(std::string("expected an object, found ") + value_->type_name());
}

JsonView JsonView::at(std::string_view key) const {
  require_object();
  const auto it = value_->find(std::string(key));
  if (it == value_->end()) fail("key '" + std::string(key) + "' is missing");
  return {*it, *root_};
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  require_object();
  const auto it = value_->find(std::string(key));
  if (it == value_->end() || it->is_null()) return std::nullopt;
  return JsonView(*it, *root_);
}

size_t JsonView::size() const {
  if (!value_->is_array()) fail(std::string("expected an array, found ") + value_->type_name());
  return value_->size();
}

const std::string& JsonView::string() const {
  if (!value_->is_string()) fail(std::string("expected a string, found ") + value_->type_name());
  return value_->get_ref<const std::string&>();
}

int64_t JsonView::integer() const {
  if (!value_->is_number_integer()) fail(std::string("expected an integer, found ") + value_->type_name());
  if (value_->is_number_unsigned() &&
      value_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail("integer does not fit into 64 bits");
  return value_->get<int64_t>();
}

double JsonView::real() const {
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    const std::string& text = value_->get_ref<const std::string&>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  fail(std::string("expected a number, found ") + value_->type_name());
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail(std::string("expected true or false, found ") + value_->type_name());
  return value_->get<bool>();
}

std::pair<std::string, JsonView> JsonView::arm() const {
  require_object();
  if (value_->size() != 1) fail("expected an object with one key, found " + std::to_string(value_->size()));
  return {value_->begin().key(), JsonView(value_->begin().value(), *root_)};
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& where) {
  if (too_deep(text)) return parse_error("JSON is nested deeper than " + std::to_string(kDepthMax) + " levels", where);
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    return parse_error(std::string("not valid JSON: ") + error.what(), where);
  }
}

}  // namespace aotifuzz
