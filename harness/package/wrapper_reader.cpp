#include "package/wrapper_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "package/json_view.h"

namespace aotifuzz {
namespace {

constexpr size_t kRankMax = 64;         // ranks past this are not torch's
constexpr size_t kEntriesMax = 10'000;  // inputs, outputs, constants: the text is not trusted with our memory

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view leading_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

/// Takes `prefix` off the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_word(std::string_view& text) {
  const std::string_view word = leading_word(text);
  text.remove_prefix(word.size());
  return word;
}

/// An integer with an optional C++ suffix ("4L").
std::optional<int64_t> take_integer(std::string_view& text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (!text.empty() && (text[0] == 'L' || text[0] == 'U')) text.remove_prefix(1);
  return value;
}

std::string_view quoted(std::string_view text) {
  const size_t begin = text.find('"');
  const size_t end = text.rfind('"');
  return begin == std::string_view::npos || end <= begin ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

Dtype dtype_of(std::string_view torch_name) {
  const std::string full = "torch." + std::string(torch_name);
  for (int64_t code = 1; code < 64; ++code)
    if (const std::optional<Dtype> dtype = dtype_from_schema(code); dtype && dtype_torch_name(*dtype) == full)
      return *dtype;
  return Dtype::kUnknown;
}

// Shims that handle tensors without computing anything; every other aoti_torch_* call is an extern kernel.
bool is_bookkeeping(std::string_view shim) {
  static constexpr std::array kPrefixes = {
      "aoti_torch_empty_strided", "aoti_torch_get_",      "aoti_torch_delete_",   "aoti_torch_item_",
      "aoti_torch_dtype_",        "aoti_torch_device_",   "aoti_torch_layout_",   "aoti_torch_memory_format_",
      "aoti_torch_create_",       "aoti_torch_new_",      "aoti_torch_assign_",   "aoti_torch_as_strided",
      "aoti_torch_scalar_to_",    "aoti_torch_grad_mode", "aoti_torch_check",     "aoti_torch_warn",
      "aoti_torch_print_",        "aoti_torch_clone",     "aoti_torch_free_",     "aoti_torch__reinterpret_tensor",
      "aoti_torch_current_",      "aoti_torch_load_",     "aoti_torch_save_",     "aoti_torch_set_current",
      "aoti_torch_list_",         "aoti_torch_unwrap",    "aoti_torch_dispatcher"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* prefix) { return shim.starts_with(prefix); });
}

class Reader {
 public:
  explicit Reader(CompiledModel& model) : model_(model) {}

  void line(std::string_view raw) {
    const std::string_view text = trimmed(raw);
    if (raw.starts_with("}")) {  // a function ends
      check_input_ = -1;
      in_run_ = false;
      return;
    }
    if (text.empty() || text.starts_with("//")) return;
    if (read_table(text)) return;
    if (const size_t at = text.find("void check_input_"); at != std::string_view::npos) {
      std::string_view rest = text.substr(at + 17);
      const std::optional<int64_t> index = take_integer(rest);
      check_input_ = index && *index >= 0 && *index < static_cast<int64_t>(kEntriesMax) ? static_cast<int>(*index) : -1;
      return;
    }
    if (text.find("AOTInductorModel::run_impl(") != std::string_view::npos) in_run_ = true;
    if (check_input_ >= 0)
      read_check(text);
    else if (in_run_)
      read_run(text);
  }

 private:
  static std::string& entry(std::vector<std::string>& names, int64_t index) {
    if (static_cast<size_t>(index) >= names.size()) names.resize(index + 1);
    return names[index];
  }

  // inputs_info_[0].name = "arg1_1";
  bool read_table(std::string_view text) {
    const bool input = take(text, "inputs_info_[");
    const bool output = !input && take(text, "outputs_info_[");
    if (!input && !output && !take(text, "constants_info_[")) return false;
    const std::optional<int64_t> index = take_integer(text);
    if (!index || *index < 0 || *index >= static_cast<int64_t>(kEntriesMax) || !take(text, "].")) return true;
    const std::string_view field = take_word(text);
    if (!take(text, " = ")) return true;
    if (input || output) {
      if (field == "name") entry(input ? model_.input_names : model_.output_names, *index) = quoted(text);
      return true;
    }
    if (static_cast<size_t>(*index) >= model_.constants.size()) model_.constants.resize(*index + 1);
    CompiledModel::Constant& constant = model_.constants[*index];
    if (field == "name") constant.name = quoted(text);
    if (field == "original_fqn") constant.fqn = quoted(text);
    if (field == "dtype" && take(text, "cached_torch_dtype_")) constant.dtype = dtype_of(leading_word(text));
    if (field == "data_size") constant.bytes = take_integer(text).value_or(0);
    if (field == "shape" && take(text, "{")) {
      while (const std::optional<int64_t> size = take_integer(text)) {
        if (constant.sizes.size() < kRankMax) constant.sizes.push_back(*size);
        if (!take(text, ", ")) break;
      }
    }
    return true;
  }

  void add_check(InputCheck::Kind kind, int dim, int64_t value) {
    InputCheck check{check_input_, kind, dim, value, ""};
    const bool known = static_cast<size_t>(check_input_) < model_.input_names.size();
    check.text = check_text(check, known ? model_.input_names[check_input_] : "input");
    model_.checks.push_back(std::move(check));
  }

  /// "arg1_1_size[2]" or "arg1_1_stride[2]" at the front: its dimension and which of the two.
  static std::optional<std::pair<char, int>> take_dimension(std::string_view& text) {
    const std::string_view word = take_word(text);
    const char part = word.ends_with("_size") ? 's' : word.ends_with("_stride") ? 't' : 0;
    if (part == 0 || !take(text, "[")) return std::nullopt;
    const std::optional<int64_t> dim = take_integer(text);
    if (!dim || *dim < 0 || *dim >= static_cast<int64_t>(kRankMax) || !take(text, "]")) return std::nullopt;
    return std::pair(part, static_cast<int>(*dim));
  }

  void read_check(std::string_view text) {
    if (take(text, "int32_t ")) {
      const std::string_view name = take_word(text);
      if (name.ends_with("_expected_dtype") && take(text, " = aoti_torch_dtype_"))
        add_check(InputCheck::Kind::kDtype, -1, static_cast<int64_t>(dtype_of(leading_word(text))));
      if (name.ends_with("_expected_device_type") && take(text, " = "))
        if (const std::optional<int64_t> device = take_integer(text))
          add_check(InputCheck::Kind::kDeviceType, -1, *device);
      return;
    }
    if (!take(text, "if (")) return;
    if (const std::optional<int64_t> value = take_integer(text)) {  // if (4 != arg1_1_size[2])
      if (!take(text, " != ")) return;
      if (const auto dimension = take_dimension(text))
        add_check(dimension->first == 's' ? InputCheck::Kind::kStaticSize : InputCheck::Kind::kStaticStride,
                  dimension->second, *value);
      return;
    }
    const auto dimension = take_dimension(text);  // if (arg1_1_size[0] < 2)
    if (!dimension || dimension->first != 's') return;
    const bool lower = take(text, " < ");
    if (!lower && !take(text, " > ")) return;
    const std::optional<int64_t> value = take_integer(text);
    constexpr int64_t kUnlimited = int64_t{1} << 62;  // such a bound is generated too, and says nothing
    if (value && (lower || *value < kUnlimited))
      add_check(lower ? InputCheck::Kind::kMinSize : InputCheck::Kind::kMaxSize, dimension->second, *value);
  }

  void read_run(std::string_view text) {
    if (read_symbol(text)) return;
    if (const size_t at = text.find("assert_size_stride("); at != std::string_view::npos) {
      read_second_layer(text.substr(at + 19));
      return;
    }
    count_calls(text);
  }

  // int64_t s58 = arg1_1_size[0];   and, later versions:   int64_t s95 = s77;
  bool read_symbol(std::string_view text) {
    if (!take(text, "int64_t ")) return false;
    const std::string symbol(take_word(text));
    if (symbol.empty() || !take(text, " = ")) return false;
    std::string_view rest = text;
    const std::string_view source = leading_word(rest);
    if (const auto dimension = take_dimension(rest); dimension && rest == ";") {
      const bool size = dimension->first == 's';
      const std::string_view input = source.substr(0, source.size() - (size ? 5 : 7));
      model_.symbol_dims[symbol] =
          std::string(input) + (size ? ".size(" : ".stride(") + std::to_string(dimension->second) + ")";
      return true;
    }
    const auto alias = model_.symbol_dims.find(std::string(source));
    if (alias == model_.symbol_dims.end() || text.substr(source.size()) != ";") return false;
    const std::string dim = alias->second;
    model_.symbol_dims[symbol] = dim;
    return true;
  }

  // assert_size_stride(arg1_1, {s17, s94}, {s94, 1L}, "input"): the second layer of checks, since 2.13
  void read_second_layer(std::string_view text) {
    const std::string_view name = leading_word(text);
    const auto it = std::find(model_.input_names.begin(), model_.input_names.end(), name);
    if (it == model_.input_names.end()) return;
    const size_t open = text.find('{');
    const size_t close = text.substr(0, text.find('"')).rfind('}');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
    InputCheck check;
    check.input = static_cast<int>(it - model_.input_names.begin());
    check.kind = InputCheck::Kind::kLayer2;
    check.text = "assert_size_stride " + std::string(text.substr(open, close - open + 1));
    read_assumed_sizes(check.input, text.substr(open + 1, text.find('}', open) - open - 1));
    model_.checks.push_back(std::move(check));
  }

  // "s17, 4L, 4L*s94": a symbol, a number, and an expression that is passed over
  void read_assumed_sizes(int input, std::string_view sizes) {
    for (int dim = 0; !sizes.empty() && dim < static_cast<int>(kRankMax); ++dim) {
      const size_t comma = std::min(sizes.find(','), sizes.size());
      std::string_view one = trimmed(sizes.substr(0, comma));
      sizes.remove_prefix(std::min(comma + 1, sizes.size()));
      AssumedSize size{input, dim, std::nullopt, ""};
      std::string_view rest = one;
      if (const std::optional<int64_t> value = take_integer(rest); value && (rest.empty() || rest == "L"))
        size.value = value;
      else if (leading_word(one) == one && model_.symbol_dims.contains(std::string(one)))
        size.symbol = one;
      else
        continue;
      model_.assumed_sizes.push_back(std::move(size));
    }
  }

  KernelInfo& kernel(std::string_view name) {
    const auto [it, added] = index_.try_emplace(std::string(name), model_.kernels.size());
    if (added) {
      model_.kernels.emplace_back();
      model_.kernels.back().name = name;
    }
    return model_.kernels[it->second];
  }

  // CPU: `cpp_fused_add_0(...);`   CUDA: `call_triton_poi_fused_add_0(...)` or `launchKernel(kernels.triton_poi_...,
  // ...)`
  void count_calls(std::string_view text) {
    std::string_view rest = text;
    take(rest, "call_");
    const std::string_view statement = leading_word(rest);
    if ((statement.starts_with("cpp_") || statement.starts_with("triton_")) &&
        rest.substr(statement.size()).starts_with("(")) {
      ++kernel(statement).calls;
      return;
    }
    if (const size_t at = text.find("launchKernel(kernels."); at != std::string_view::npos) {
      ++kernel(leading_word(text.substr(at + 21))).calls;
      return;
    }
    for (size_t at = text.find("aoti_torch_"); at != std::string_view::npos; at = text.find("aoti_torch_", at)) {
      const std::string_view shim = leading_word(text.substr(at));
      if ((at == 0 || !is_word(text[at - 1])) && text.substr(at + shim.size()).starts_with("(") &&
          !is_bookkeeping(shim)) {
        KernelInfo& found = kernel(shim);
        found.is_extern = true;
        ++found.calls;
      }
      at += shim.size();
    }
  }

  CompiledModel& model_;
  std::map<std::string, size_t> index_;
  int check_input_ = -1;
  bool in_run_ = false;
};

std::vector<std::string> read_strings(const JsonView& view, std::string_view key) {
  std::vector<std::string> out;
  const std::optional<JsonView> list = view.find(key);
  if (!list) return out;
  for (size_t i = 0; i < list->size(); ++i) out.push_back((*list)[i].string());
  return out;
}

}  // namespace

void read_wrapper(std::string_view text, CompiledModel& model) {
  Reader reader(model);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    reader.line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string check_text(const InputCheck& check, std::string_view name) {
  const std::string size = std::string(name) + ".size(" + std::to_string(check.dim) + ")";
  const std::string value = std::to_string(check.value);
  switch (check.kind) {
    case InputCheck::Kind::kDtype:
      return std::string(name) + ".dtype == " + std::string(dtype_name(static_cast<Dtype>(check.value)));
    case InputCheck::Kind::kDeviceType:
      return std::string(name) + ".device == " + (check.value == 0 ? "cpu" : check.value == 1 ? "cuda" : value);
    case InputCheck::Kind::kStaticSize:
      return size + " == " + value;
    case InputCheck::Kind::kMinSize:
      return size + " >= " + value;
    case InputCheck::Kind::kMaxSize:
      return size + " <= " + value;
    case InputCheck::Kind::kStaticStride:
      return std::string(name) + ".stride(" + std::to_string(check.dim) + ") == " + value;
    case InputCheck::Kind::kLayer2:
      return std::string(name) + ": " + check.text;
  }
  return {};
}

Result<bool> read_compiled_metadata(std::string_view json_text, const std::string& where, CompiledModel& model) {
  return read_json(json_text, where, [&](const JsonView& root) {
    const auto text = [&](const char* key) {
      const std::optional<JsonView> value = root.find(key);
      return value ? value->string() : std::string();
    };
    model.device = text("AOTI_DEVICE_KEY");
    model.cpu_isa = text("AOTI_CPU_ISA");
    model.compute_capability = text("AOTI_COMPUTE_CAPABILITY");
    return true;
  });
}

Result<bool> read_kernel_information(std::string_view json_text, const std::string& where, CompiledModel& model) {
  return read_json(json_text, where, [&](const JsonView& root) {
    root.for_each_member([&](const std::string& key, const JsonView& facts) {
      const std::string name = key.substr(0, key.rfind(':'));  // "name:handle", one per call
      for (KernelInfo& kernel : model.kernels) {
        if (kernel.name != name) continue;
        for (const auto& [field, out] : {std::pair("post_grad_nodes", &kernel.post_grad_nodes),
                                         std::pair("pre_grad_nodes", &kernel.pre_grad_nodes)})
          for (std::string& node : read_strings(facts, field))
            if (std::find(out->begin(), out->end(), node) == out->end()) out->push_back(std::move(node));
      }
    });
    return true;
  });
}

}  // namespace aotifuzz
