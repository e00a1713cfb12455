#include "worker/number_functions.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace aotifuzz {
namespace {

using Values = std::vector<c10::IValue>;

[[noreturn]] void raise(const char* what) { throw std::runtime_error(what); }
constexpr const char* kOverflow = "integer beyond 64 bits in a symbolic expression";

bool is_integral(const c10::IValue& v) { return v.isInt() || v.isBool(); }
int64_t as_int(const c10::IValue& v) { return v.isBool() ? static_cast<int64_t>(v.toBool()) : v.toInt(); }
double as_double(const c10::IValue& v) { return v.isDouble() ? v.toDouble() : static_cast<double>(as_int(v)); }
bool as_bool(const c10::IValue& v) { return v.isDouble() ? v.toDouble() != 0 : as_int(v) != 0; }

const c10::IValue& number(const Values& values, size_t i) {
  if (i >= values.size()) raise("too few arguments for a function on numbers");
  const c10::IValue& v = values[i];
  if (!v.isInt() && !v.isDouble() && !v.isBool()) raise("argument is not a number");
  return v;
}

template <class IntFunction, class FloatFunction>
c10::IValue arithmetic(const Values& v, IntFunction on_ints, FloatFunction on_floats) {
  const c10::IValue &a = number(v, 0), &b = number(v, 1);
  if (is_integral(a) && is_integral(b)) {
    int64_t out = 0;
    if (on_ints(as_int(a), as_int(b), &out)) raise(kOverflow);
    return out;
  }
  return on_floats(as_double(a), as_double(b));
}

c10::IValue add(const Values& v) {
  return arithmetic(
      v, [](int64_t a, int64_t b, int64_t* r) { return __builtin_add_overflow(a, b, r); },
      [](double a, double b) { return a + b; });
}
c10::IValue sub(const Values& v) {
  return arithmetic(
      v, [](int64_t a, int64_t b, int64_t* r) { return __builtin_sub_overflow(a, b, r); },
      [](double a, double b) { return a - b; });
}
c10::IValue mul(const Values& v) {
  return arithmetic(
      v, [](int64_t a, int64_t b, int64_t* r) { return __builtin_mul_overflow(a, b, r); },
      [](double a, double b) { return a * b; });
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) raise("integer division or modulo by zero");
  if (b == -1) {
    if (a == std::numeric_limits<int64_t>::min()) raise(kOverflow);
    return -a;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) raise("integer division or modulo by zero");
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double float_mod(double a, double b) {
  if (b == 0) raise("float modulo by zero");
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
/// CPython's float_floor_div: from the remainder, not from the rounded quotient.
double float_floor_div(double a, double b) {
  if (b == 0) raise("float floor division by zero");
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

c10::IValue floordiv(const Values& v) {
  return arithmetic(
      v,
      [](int64_t a, int64_t b, int64_t* r) {
        *r = floor_div(a, b);
        return false;
      },
      float_floor_div);
}
c10::IValue mod(const Values& v) {
  return arithmetic(
      v,
      [](int64_t a, int64_t b, int64_t* r) {
        *r = floor_mod(a, b);
        return false;
      },
      float_mod);
}
c10::IValue truediv(const Values& v) {
  const double b = as_double(number(v, 1));
  if (b == 0) raise("division by zero");
  return as_double(number(v, 0)) / b;
}

c10::IValue power(const Values& v) {
  const c10::IValue &a = number(v, 0), &b = number(v, 1);
  if (is_integral(a) && is_integral(b) && as_int(b) >= 0) {
    int64_t base = as_int(a), result = 1;
    for (int64_t e = as_int(b); e > 0; e >>= 1) {
      if ((e & 1) && __builtin_mul_overflow(result, base, &result)) raise(kOverflow);
      if (e > 1 && __builtin_mul_overflow(base, base, &base)) raise(kOverflow);
    }
    return result;
  }
  const double x = as_double(a), y = as_double(b);
  if (x == 0 && y < 0) raise("0.0 cannot be raised to a negative power");
  const double r = std::pow(x, y);
  if (std::isinf(r) && std::isfinite(x) && std::isfinite(y)) raise("result too large");
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) raise("a negative number to a fractional power is complex");
  return r;
}

template <class Compare>
c10::IValue compare(const Values& v, Compare holds) {
  const c10::IValue &a = number(v, 0), &b = number(v, 1);
  if (is_integral(a) && is_integral(b)) return static_cast<bool>(holds(as_int(a), as_int(b)));
  return static_cast<bool>(holds(as_double(a), as_double(b)));
}
c10::IValue eq(const Values& v) {
  return compare(v, [](auto a, auto b) { return a == b; });
}
c10::IValue ne(const Values& v) {
  return compare(v, [](auto a, auto b) { return a != b; });
}
c10::IValue lt(const Values& v) {
  return compare(v, [](auto a, auto b) { return a < b; });
}
c10::IValue le(const Values& v) {
  return compare(v, [](auto a, auto b) { return a <= b; });
}
c10::IValue gt(const Values& v) {
  return compare(v, [](auto a, auto b) { return a > b; });
}
c10::IValue ge(const Values& v) {
  return compare(v, [](auto a, auto b) { return a >= b; });
}

c10::IValue neg(const Values& v) {
  const c10::IValue& a = number(v, 0);
  if (a.isDouble()) return -a.toDouble();
  return sub({int64_t{0}, a});
}
c10::IValue pos(const Values& v) { return v.at(0).isDouble() ? v[0] : c10::IValue(as_int(number(v, 0))); }
c10::IValue absolute(const Values& v) { return as_double(number(v, 0)) < 0 ? neg(v) : pos(v); }

template <class Bits>
c10::IValue bitwise(const Values& v, Bits bits) {
  const c10::IValue &a = number(v, 0), &b = number(v, 1);
  if (a.isDouble() || b.isDouble()) raise("unsupported operand type for a bitwise function: float");
  const int64_t r = bits(as_int(a), as_int(b));
  return a.isBool() && b.isBool() ? c10::IValue(r != 0) : c10::IValue(r);
}
c10::IValue and_(const Values& v) {
  return bitwise(v, [](int64_t a, int64_t b) { return a & b; });
}
c10::IValue or_(const Values& v) {
  return bitwise(v, [](int64_t a, int64_t b) { return a | b; });
}
c10::IValue xor_(const Values& v) {
  return bitwise(v, [](int64_t a, int64_t b) { return a ^ b; });
}
c10::IValue lshift(const Values& v) {
  return bitwise(v, [](int64_t a, int64_t b) {
    if (b < 0) raise("negative shift count");
    if (a == 0) return int64_t{0};
    if (b > 62 || (a << b) >> b != a) raise(kOverflow);
    return a << b;
  });
}
c10::IValue rshift(const Values& v) {
  return bitwise(v, [](int64_t a, int64_t b) {
    if (b < 0) raise("negative shift count");
    return a >> (b > 63 ? 63 : b);
  });
}

c10::IValue sym_not(const Values& v) { return !as_bool(number(v, 0)); }
/// Float to int the way int(), math.trunc, math.floor and math.ceil do it.
c10::IValue to_int(double x) {
  if (std::isnan(x)) raise("cannot convert float NaN to integer");
  if (!(x >= -0x1p63 && x < 0x1p63)) raise(std::isinf(x) ? "cannot convert float infinity to integer" : kOverflow);
  return static_cast<int64_t>(x);
}
template <class Round>
c10::IValue rounded(const Values& v, Round round) {
  const c10::IValue& a = number(v, 0);
  return a.isDouble() ? to_int(round(a.toDouble())) : c10::IValue(as_int(a));
}
c10::IValue trunc(const Values& v) {
  return rounded(v, [](double x) { return std::trunc(x); });
}
c10::IValue floor(const Values& v) {
  return rounded(v, [](double x) { return std::floor(x); });
}
c10::IValue ceil(const Values& v) {
  return rounded(v, [](double x) { return std::ceil(x); });
}
c10::IValue round_even(const Values& v) {
  return rounded(v, [](double x) { return std::nearbyint(x); });
}
c10::IValue sym_float(const Values& v) { return as_double(number(v, 0)); }
c10::IValue sym_ite(const Values& v) { return as_bool(number(v, 0)) ? number(v, 1) : number(v, 2); }

/// torch.sym_max and sym_min: a float as soon as one argument is.
template <class Better>
c10::IValue extreme(const Values& v, Better better) {
  const c10::IValue &a = number(v, 0), &b = number(v, 1);
  if (is_integral(a) && is_integral(b)) return better(as_int(b), as_int(a)) ? as_int(b) : as_int(a);
  return better(as_double(b), as_double(a)) ? as_double(b) : as_double(a);
}
c10::IValue sym_max(const Values& v) {
  return extreme(v, [](auto a, auto b) { return a > b; });
}
c10::IValue sym_min(const Values& v) {
  return extreme(v, [](auto a, auto b) { return a < b; });
}

c10::IValue sym_sum(const Values& v) {
  c10::IValue total = int64_t{0};
  if (v.size() == 1 && v[0].isIntList()) {
    for (int64_t item : v[0].toIntVector()) total = add({total, item});
    return total;
  }
  for (size_t i = 0; i < v.size(); ++i) total = add({total, number(v, i)});
  return total;
}

/// A function of the C library that raises where its result is no number although the argument was, as math.* does.
template <double (*function)(double)>
c10::IValue math_function(const Values& v) {
  const double x = as_double(number(v, 0));
  const double r = function(x);
  if (std::isnan(r) && !std::isnan(x)) raise("math domain error");
  if (std::isinf(r) && std::isfinite(x)) raise("math range error");
  return r;
}

constexpr std::pair<std::string_view, NumberFunction> kTable[] = {
    {"_operator.add", add},
    {"_operator.sub", sub},
    {"_operator.mul", mul},
    {"_operator.floordiv", floordiv},
    {"_operator.mod", mod},
    {"_operator.truediv", truediv},
    {"_operator.pow", power},
    {"_operator.eq", eq},
    {"_operator.ne", ne},
    {"_operator.lt", lt},
    {"_operator.le", le},
    {"_operator.gt", gt},
    {"_operator.ge", ge},
    {"_operator.neg", neg},
    {"_operator.pos", pos},
    {"_operator.abs", absolute},
    {"_operator.and_", and_},
    {"_operator.or_", or_},
    {"_operator.xor", xor_},
    {"_operator.lshift", lshift},
    {"_operator.rshift", rshift},
    {"_operator.not_", sym_not},
    {"builtins.round", round_even},
    {"builtins.abs", absolute},
    {"torch.sym_not", sym_not},
    {"torch.sym_int", trunc},
    {"torch.sym_float", sym_float},
    {"torch.sym_ite", sym_ite},
    {"torch.sym_max", sym_max},
    {"torch.sym_min", sym_min},
    {"torch.sym_sum", sym_sum},
    {"torch.sym_sqrt", math_function<std::sqrt>},
    {"torch._sym_sqrt", math_function<std::sqrt>},
    {"torch._sym_log2", math_function<std::log2>},
    {"torch._sym_exp", math_function<std::exp>},
    {"torch._sym_sin", math_function<std::sin>},
    {"torch._sym_cos", math_function<std::cos>},
    {"torch._sym_tan", math_function<std::tan>},
    {"torch._sym_asin", math_function<std::asin>},
    {"torch._sym_acos", math_function<std::acos>},
    {"torch._sym_atan", math_function<std::atan>},
    {"torch._sym_sinh", math_function<std::sinh>},
    {"torch._sym_cosh", math_function<std::cosh>},
    {"torch._sym_tanh", math_function<std::tanh>},
    {"math.trunc", trunc},
    {"math.floor", floor},
    {"math.ceil", ceil},
    {"math.sqrt", math_function<std::sqrt>},
    {"math.exp", math_function<std::exp>},
    {"math.log2", math_function<std::log2>},
    {"math.sin", math_function<std::sin>},
    {"math.cos", math_function<std::cos>},
    {"math.tan", math_function<std::tan>},
    {"math.asin", math_function<std::asin>},
    {"math.acos", math_function<std::acos>},
    {"math.atan", math_function<std::atan>},
    {"math.sinh", math_function<std::sinh>},
    {"math.cosh", math_function<std::cosh>},
    {"math.tanh", math_function<std::tanh>},
};

}  // namespace

NumberFunction find_number_function(std::string_view target) {
  for (const auto& [name, function] : kTable)
    if (name == target) return function;
  return nullptr;
}

}  // namespace aotifuzz
