#include "core/python_repro.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/value_recipe.h"

namespace aotifuzz {
namespace {

// More elements than that are quicker to read as a recipe.
constexpr int64_t kWrittenOutMax = 48;

/// What the formulas of core/element_source.h are in Python. Every maker gives a function of (index, count).
struct Helper {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;
};

const std::vector<Helper>& helpers() {
  static const std::vector<Helper> all = {
      {"_word", {}, R"(
def _word(key, i):  # SplitMix64 on a counter
    m = (1 << 64) - 1
    z = (key + (i + 1) * 0x9E3779B97F4A7C15) & m
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & m
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & m
    return z ^ (z >> 31)
)"},
      {"_int", {}, R"(
def _int(v, bits=64, signed=True):  # toward zero, within int64, wrapped to the width
    if isinstance(v, float):
        v = 0 if v != v else int(min(max(v, -2.0**63), 2.0**63))
        v = min(max(v, -(1 << 63)), (1 << 63) - 1)
    v &= (1 << bits) - 1
    return v - (1 << bits) if signed and v >> (bits - 1) else v
)"},
      {"_const", {}, R"(
def _const(v):
    return lambda i, n: v
)"},
      {"_ramp", {"_int"}, R"(
def _ramp(start, step):
    real = isinstance(start, float) or isinstance(step, float)
    return lambda i, n: start + step * float(i) if real else _int(start + step * i)
)"},
      {"_uniform", {"_word"}, R"(
def _uniform(lo, hi, seed):
    key, lo, hi = _word(seed, 0), float(lo), float(hi)
    def at(i, n):
        v = lo + (hi - lo) * ((_word(key, i) >> 11) * 2.0**-53)
        return lo if v >= hi else v
    return at
)"},
      {"_normal", {"_word"}, R"(
def _normal(mean, std, seed):  # a sum of twelve uniforms
    key = _word(seed, 0)
    def at(i, n):
        w = [_word(key, 3 * i + j) for j in range(3)]
        high = sum((x >> s) & 0xFFFF for x in w for s in (0, 16, 32, 48))
        low = ((sum(w) * 0x9E3779B97F4A7C15) >> 32) & 0xFFFFFFFF
        return float(mean) + float(std) * (((high << 32 | low) - (6 << 48)) * 2.0**-48)
    return at
)"},
      {"_ints", {"_word", "_int"}, R"(
def _ints(lo, hi, seed):
    key, lo, hi = _word(seed, 0), _int(lo), _int(hi)
    return lambda i, n: lo + (_word(key, i) * (max(hi - lo, 0) + 1) >> 64)
)"},
      {"_steps", {"_word", "_int"}, R"(
def _steps(lo, hi, step, seed):
    import math
    key, real, top = _word(seed, 0), any(isinstance(v, float) for v in (lo, hi, step)), 2.0**62
    def quotient(v):
        if step == 0:
            q = float(v) * math.copysign(math.inf, step)
        else:
            q = float(v) / float(step)
        return 0.0 if q != q else min(max(q, -top), top)
    first, last = math.ceil(quotient(lo)), math.floor(quotient(hi))
    count = max(last - first, 0) + 1
    def at(i, n):
        k = first + (_word(key, i) * count >> 64)
        return float(step) * float(k) if real else _int(step * k)
    return at
)"},
      {"_choice", {"_word"}, R"(
def _choice(values, seed):
    key = _word(seed, 0)
    return lambda i, n: values[_word(key, i) * len(values) >> 64]
)"},
      {"_list", {}, R"(
def _list(values):
    return lambda i, n: values[i % len(values)]
)"},
      {"_sorted", {"_word", "_int"}, R"(
def _sorted(lo, hi, seed):
    key, lo, hi = _word(seed, 0), _int(lo), _int(hi)
    hi, group = max(lo, hi), 1 << (_word(key, (1 << 64) - 2) & 3)
    def at(i, n):
        if i <= 0 or n <= 1:
            return lo
        if i >= n - 1:
            return hi
        groups, g, values = max(1, (max(n - 2, 1) + group - 1) // group), (i - 1) // group, hi - lo + 1
        begin, end = values * g // groups, values * (g + 1) // groups
        return lo + begin + (_word(key, g) * (end - begin) >> 64)
    return at
)"},
      {"_permutation", {"_word"}, R"(
def _permutation(seed):
    import math
    key = _word(seed, 0)
    def at(i, n):
        n = max(n, 1)
        a, b = _word(key, 0) % n, _word(key, 1) % n
        while math.gcd(a, n) != 1:
            a = (a + 1) % n
        return (a * i + b) % n
    return at
)"},
      {"_onehot", {"_int"}, R"(
def _onehot(index, value, rest):
    return lambda i, n: value if i == _int(index) % max(n, 1) else rest
)"},
      {"_file", {}, R"(
def _file(name, dtype):  # lies beside this script
    import numpy, os
    array = numpy.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), name))
    if array.dtype.kind == "V":  # NumPy has no name for these
        array = array.view(f"i{array.itemsize}")
    values = torch.from_numpy(array.copy()).view(dtype).flatten().tolist()
    at = lambda i, n: values[i % len(values)] if values else 0
    at.whole = True
    return at
)"},
      {"_tensor", {"_int"}, R"(
def _tensor(dtype, sizes, recipe, patches=(), strides=None, offset=0, elements=0, misaligned=0):
    import ctypes, itertools, math
    def fill(n):
        if dtype.is_complex and not hasattr(recipe, "whole"):
            values = [complex(recipe(i, n), recipe(i + 1, n) if i % 2 else 0) for i in range(n)]
        else:
            values = [recipe(i, n) for i in range(n)]
        for i, v in patches if n else ():
            values[i % n] = v
        return values
    if strides is None:
        strides = [math.prod(max(s, 1) for s in sizes[d + 1:]) for d in range(len(sizes))]
    numel = math.prod(sizes)
    if numel:
        elements = max(elements, offset + sum((s - 1) * t for s, t in zip(sizes, strides)) + 1)
    storage = fill(elements)  # between the elements lie further values of the recipe
    for index, v in zip(itertools.product(*map(range, sizes)), fill(numel)):
        storage[offset + sum(i * t for i, t in zip(index, strides))] = v
    if dtype == torch.bool:
        base = torch.tensor([bool(v) for v in storage], dtype=dtype)
    elif dtype.is_floating_point and dtype.itemsize < 4:
        base = torch.tensor([float(v) for v in storage], dtype=torch.float64).to(torch.float32)
        if dtype == torch.float8_e4m3fn:  # newer versions saturate what older ones made NaN of
            base = torch.where(base.abs() > 464, torch.full_like(base, math.nan).copysign(base), base)
        base = base.to(dtype)
    elif dtype == torch.complex32:
        base = torch.tensor(storage, dtype=torch.complex64).to(dtype)
    elif dtype.is_floating_point or dtype.is_complex:
        base = torch.tensor([v if dtype.is_complex else float(v) for v in storage], dtype=dtype)
    else:
        signed = getattr(torch, str(dtype)[6:].replace("uint", "int"))
        base = torch.tensor([_int(v, 8 * dtype.itemsize) for v in storage], dtype=signed).view(dtype)
    if misaligned:  # the storage starts that many bytes past a 64-byte boundary
        buffer = bytearray(elements * dtype.itemsize + 128)
        start = -ctypes.addressof(ctypes.c_char.from_buffer(buffer)) % 64 + misaligned
        base = torch.frombuffer(buffer, dtype=dtype, count=max(elements, 1), offset=start)[:elements].copy_(base)
    return base.as_strided(sizes, strides, offset)
)"},
  };
  return all;
}

std::string python_number(Number number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return std::to_string(*integer);
  const double value = std::get<double>(number);
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string text(buffer.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <class T, class Print>
std::string joined(const std::vector<T>& items, Print print) {
  std::string out;
  for (const T& item : items) out += (out.empty() ? "" : ", ") + print(item);
  return out;
}

std::string python_list(const std::vector<int64_t>& values) {
  return "[" + joined(values, [](int64_t v) { return std::to_string(v); }) + "]";
}

std::string python_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20)
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    else
      out += c;
  }
  return out + "\"";
}

class PythonWriter {
 public:
  explicit PythonWriter(const Case& c) : case_(c) {}

  std::string write() {
    std::string body;
    std::vector<std::string> names;
    for (const CaseInput& input : case_.inputs) {
      names.push_back(python_variable(input));
      body += names.back() + " = " + expression(input) + "\n";
    }
    body += "inputs = [" + joined(names, [](const std::string& name) { return name; }) + "]\n";
    std::string out;
    for (const Helper& helper : helpers())
      if (used_.contains(helper.name)) out += std::string(helper.text.substr(1)) + "\n";
    return out + body;
  }

 private:
  void use(std::string_view name) {
    for (const Helper& helper : helpers()) {
      if (helper.name != name) continue;
      used_.insert(helper.name);
      for (std::string_view other : helper.needs) use(other);
      return;
    }
    AOTIFUZZ_CHECK(false) << "no Python helper " << name;
  }

  std::string expression(const CaseInput& input) {
    switch (input.kind) {
      case CaseInput::Kind::kNone:
        return "None";
      case CaseInput::Kind::kInt:
        return std::to_string(to_int64(input.scalar));
      case CaseInput::Kind::kFloat:
        return python_number(to_double(input.scalar));
      case CaseInput::Kind::kBool:
        return to_int64(input.scalar) != 0 ? "True" : "False";
      case CaseInput::Kind::kTensor:
        break;
    }
    if (input.zero_tensor)
      return "torch._efficientzerotensor(" + python_list(input.sizes) + ", dtype=" + dtype(input) + ")";
    if (!input.storage_of.empty()) return view(input);
    const int64_t elements = storage_elements(input);
    if (input.values.kind != ValueKind::kFile && is_plain(input, elements)) return written_out(input);
    return from_recipe(input, elements);
  }

  static std::string dtype(const CaseInput& input) { return std::string(dtype_torch_name(input.dtype)); }

  /// Elements of the storage that this input owns: as many as its furthest view needs.
  int64_t storage_elements(const CaseInput& owner) const {
    const int64_t width = dtype_bytes(owner.dtype);
    int64_t bytes = owner.storage_elements() * width;
    for (const CaseInput& other : case_.inputs)
      if (other.storage_of == owner.name) bytes = std::max(bytes, other.storage_elements() * dtype_bytes(other.dtype));
    return (bytes + width - 1) / width;
  }

  static bool is_plain(const CaseInput& input, int64_t elements) {
    const bool simple_dtype = dtype_bytes(input.dtype) <= 8 && !dtype_is_complex(input.dtype) &&
                              input.dtype != Dtype::kU64 &&
                              (!dtype_is_floating(input.dtype) || dtype_bytes(input.dtype) >= 2);
    return simple_dtype && !input.strides && input.offset == 0 && input.misalign_bytes == 0 &&
           elements == input.numel() && elements <= kWrittenOutMax;
  }

  /// A number as an element of an integral dtype.
  static int64_t wrapped(Number number, Dtype dtype) {
    const uint64_t bits = static_cast<uint64_t>(dtype_bytes(dtype)) * 8;
    const uint64_t raw = static_cast<uint64_t>(to_int64(number));
    if (bits == 64) return static_cast<int64_t>(raw);
    const uint64_t low = raw & ((uint64_t{1} << bits) - 1);
    const bool negative = dtype_integral_range(dtype).min < 0 && (low >> (bits - 1)) != 0;
    return static_cast<int64_t>(low) - (negative ? int64_t{1} << bits : 0);
  }

  static std::string element(Number number, Dtype dtype) {
    if (dtype == Dtype::kBool) return to_double(number) != 0 ? "True" : "False";
    if (dtype_is_floating(dtype)) return python_number(to_double(number));
    return std::to_string(wrapped(number, dtype));
  }

  static std::string written_out(const CaseInput& input) {
    const int64_t numel = input.numel();
    std::string values;
    for (int64_t i = 0; i < numel; ++i)
      values += (i == 0 ? "" : ", ") + element(value_at(input.values, i, numel), input.dtype);
    // 16-bit floats round through float32, as the worker does.
    const bool half = dtype_is_floating(input.dtype) && dtype_bytes(input.dtype) == 2;
    std::string out = "torch.tensor([" + values + "], dtype=" + (half ? "torch.float32" : dtype(input)) + ")";
    if (half) out += ".to(" + dtype(input) + ")";
    if (input.sizes.size() != 1) out += ".reshape(" + python_list(input.sizes) + ")";
    return out;
  }

  std::string recipe_call(const ValueRecipe& recipe) {
    const std::string name = "_" + std::string(value_kind_name(recipe.kind));
    use(name);
    if (recipe.kind == ValueKind::kFile)
      return name + "(" + python_string(recipe.file->name.substr(recipe.file->name.rfind('/') + 1)) + ", " +
             std::string(dtype_torch_name(recipe.file->dtype)) + ")";
    std::string numbers = joined(recipe.numbers, python_number);
    if (recipe.kind == ValueKind::kChoice || recipe.kind == ValueKind::kList) numbers = "[" + numbers + "]";
    if (value_kind_has_seed(recipe.kind)) numbers += (numbers.empty() ? "" : ", ") + std::to_string(recipe.seed);
    return name + "(" + numbers + ")";
  }

  std::string from_recipe(const CaseInput& input, int64_t elements) {
    use("_tensor");
    std::string out = "_tensor(" + dtype(input) + ", " + python_list(input.sizes) + ", " + recipe_call(input.values);
    if (!input.values.patches.empty()) {
      out += ", patches=[" +
             joined(input.values.patches,
                    [](const std::pair<int64_t, Number>& patch) {
                      return "(" + std::to_string(patch.first) + ", " + python_number(patch.second) + ")";
                    }) +
             "]";
    }
    if (input.strides) out += ", strides=" + python_list(*input.strides);
    if (input.offset != 0) out += ", offset=" + std::to_string(input.offset);
    if (elements != input.storage_elements()) out += ", elements=" + std::to_string(elements);
    if (input.misalign_bytes != 0) out += ", misaligned=" + std::to_string(input.misalign_bytes);
    return out + ")";
  }

  std::string view(const CaseInput& input) const {
    std::string owner = input.storage_of;
    bool same_dtype = true;
    for (const CaseInput& other : case_.inputs) {
      if (other.name != input.storage_of) continue;
      owner = python_variable(other);
      same_dtype = other.dtype == input.dtype;
    }
    const std::string sizes = python_list(input.sizes), strides = python_list(input.effective_strides());
    if (same_dtype) return owner + ".as_strided(" + sizes + ", " + strides + ", " + std::to_string(input.offset) + ")";
    return "torch.empty(0, dtype=" + dtype(input) + ").set_(" + owner + ".untyped_storage(), " +
           std::to_string(input.offset) + ", " + sizes + ", " + strides + ")";
  }

  const Case& case_;
  std::set<std::string_view> used_;
};

}  // namespace

std::string python_variable(const CaseInput& input) {
  static const std::set<std::string_view> taken = {"torch", "inputs"};
  const bool hides = taken.contains(input.name) || input.name.starts_with("_");
  return hides ? "input_" + input.name : input.name;
}

std::string python_inputs(const Case& c) { return PythonWriter(c).write(); }

}  // namespace aotifuzz
