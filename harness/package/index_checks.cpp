#include "package/index_checks.h"

#include <algorithm>
#include <optional>
#include <set>

namespace aotifuzz {
namespace {

constexpr size_t kMadeMax = 12;  // lines of how an index is made: more is no explanation

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.emplace_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

bool is_pointer(std::string_view word) {
  return word.starts_with("in_ptr") || word.starts_with("out_ptr") || word.starts_with("in_out_ptr");
}
bool is_value(std::string_view word) { return word.starts_with("tmp"); }
bool is_size(std::string_view word) {
  return word.starts_with("ks") && word.size() > 2 && word.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

void add(std::vector<std::string>& list, const std::string& one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

/// "tmp4 = ..." or "auto tmp4 = ...;": the name and what stands right of it.
std::optional<std::pair<std::string, std::string_view>> definition(std::string_view line) {
  line = trimmed(line);
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view left = line.substr(0, equals);
  size_t begin = left.size();
  while (begin > 0 && is_word(left[begin - 1])) --begin;
  const std::string_view name = left.substr(begin);
  if (!is_value(name)) return std::nullopt;
  // In front of the name only its type may stand.
  if (left.substr(0, begin).find_first_of("([") != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(name), line.substr(equals + 3));
}

/// Where the address that begins at `at`, behind a pointer's name, ends.
size_t end_of_address(std::string_view line, size_t at) {
  int depth = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth < 0 || (depth == 0 && (c == ',' || c == ';' || c == '='))) break;
  }
  return at;
}

/// The pointer of `line` whose address uses one of `values`; "" = none.
std::string accessed_with(std::string_view line, const std::set<std::string>& values) {
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end == i) {
      ++i;
      continue;
    }
    const std::string_view word = line.substr(i, end - i);
    i = end;
    if (!is_pointer(word)) continue;
    const std::vector<std::string> address = words_of(line.substr(end, end_of_address(line, end) - end));
    for (const std::string& name : address)
      if (values.contains(name)) return std::string(word);
  }
  return {};
}

bool stores_through(std::string_view line, std::string_view pointer) {
  line = trimmed(line);
  return line.starts_with(pointer) || line.starts_with("tl.store(") || line.starts_with("tl.atomic_") ||
         line.starts_with("atomic_add") || line.find(".store(") != std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(const KernelText& kernel) : kernel_(kernel), lines_(lines_of_text(kernel.text)) {}

  std::optional<IndexCheck> read(const std::string& text, const std::string& index, std::string_view bound) {
    size_t at = 0;
    while (at < lines_.size() && lines_[at].find(text) == std::string_view::npos) ++at;
    if (at == lines_.size()) return std::nullopt;
    IndexCheck out;
    out.kernel = kernel_.kernel;
    out.where = place(at);
    out.check = trimmed(lines_[at]);
    for (const std::string& word : words_of(bound))
      if (is_size(word)) add(out.sizes, word);
    trace(out, at, index);
    find_access(out, at);
    return out;
  }

 private:
  std::string place(size_t line) const {
    return kernel_.where + ":" + std::to_string((kernel_.first_line ? kernel_.first_line : 1) + line);
  }

  /// What the index is computed from, backwards from the check.
  void trace(IndexCheck& out, size_t at, const std::string& index) {
    std::set<std::string> needed = {index};
    aliases_ = needed;
    std::vector<std::string> made;
    while (at-- > 0) {
      const std::string_view line = lines_[at];
      std::string_view right;
      if (const auto found = definition(line); found && needed.contains(found->first)) {
        needed.erase(found->first);
        right = found->second;
      } else if (const std::string stored = stored_pointer(line); !stored.empty() && needed.contains(stored)) {
        needed.erase(stored);  // written and read in one kernel: go on with what was written
        std::erase(out.pointers, stored);
        right = line;
      } else {
        continue;
      }
      if (made.size() < kMadeMax) made.emplace_back(trimmed(line));
      for (const std::string& word : words_of(right)) {
        if (is_value(word)) needed.insert(word);
        if (is_value(word) && only_copied_) aliases_.insert(word);
        if (is_size(word)) add(out.sizes, word);
        if (!is_pointer(word) || (right == line && word == stored_pointer(line))) continue;
        add(out.pointers, word);
        if (!word.starts_with("in_ptr")) needed.insert(word);
        only_copied_ = false;
      }
    }
    out.made.assign(made.rbegin(), made.rend());
  }

  /// "out_ptr0[...] = ..." or "tmp3.store(out_ptr0 + ...)" or "tl.store(out_ptr0 + ...": the pointer; "" = no store.
  static std::string stored_pointer(std::string_view line) {
    line = trimmed(line);
    for (std::string& word : words_of(line)) {
      if (!is_pointer(word)) continue;
      return !word.starts_with("in_ptr") && stores_through(line, word) ? word : std::string();
    }
    return {};
  }

  void find_access(IndexCheck& out, size_t at) {
    for (size_t i = at + 1; i < lines_.size(); ++i) {
      // The next kernel loop has values of its own of the same names.
      if (trimmed(lines_[i]).starts_with("for(")) return;
      const std::string pointer = accessed_with(lines_[i], aliases_);
      if (pointer.empty()) continue;
      out.accessed = pointer;
      out.access = trimmed(lines_[i]);
      out.access_where = place(i);
      out.stores = stores_through(lines_[i], pointer);
      return;
    }
  }

  const KernelText& kernel_;
  std::vector<std::string_view> lines_;
  std::set<std::string> aliases_;  ///< values that are the index, or that it was copied or wrapped from
  bool only_copied_ = true;
};

}  // namespace

std::vector<IndexCheck> find_index_checks(const std::vector<KernelText>& kernels, std::string_view index,
                                          std::string_view bound) {
  std::vector<IndexCheck> out;
  const std::string text = "\"index out of bounds: 0 <= " + std::string(index) + " < " + std::string(bound) + "\"";
  for (const KernelText& kernel : kernels)
    if (std::optional<IndexCheck> check = Reader(kernel).read(text, std::string(index), bound))
      out.push_back(std::move(*check));
  return out;
}

}  // namespace aotifuzz
