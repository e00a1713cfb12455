#include "store/case_text.h"

#include <charconv>
#include <cmath>

#include "core/content_hash.h"
#include "store/text_cursor.h"

namespace aotifuzz {
namespace {

void print_integer(std::string& out, int64_t value) { out += std::to_string(value); }

void print_number(std::string& out, Number number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return print_integer(out, *integer);
  const double value = std::get<double>(number);
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void print_list(std::string& out, const std::vector<int64_t>& values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    print_integer(out, values[i]);
  }
  out += ']';
}

void print_recipe(std::string& out, const ValueRecipe& recipe) {
  out += ' ';
  out += value_kind_name(recipe.kind);
  out += '(';
  if (recipe.kind == ValueKind::kFile)
    out += in_quotes(recipe.file->name) + "," + std::string(dtype_name(recipe.file->dtype)) +
           ",hash=" + ContentHash::hash_text(recipe.file->hash);
  for (size_t i = 0; i < recipe.numbers.size(); ++i) {
    if (i != 0) out += ',';
    print_number(out, recipe.numbers[i]);
  }
  if (value_kind_has_seed(recipe.kind)) {
    if (!recipe.numbers.empty()) out += ',';
    out += "seed=";
    out += std::to_string(recipe.seed);
  }
  out += ')';
  for (const auto& [index, value] : recipe.patches) {
    out += " at(";
    print_integer(out, index);
    out += ")=";
    print_number(out, value);
  }
}

void print_option(std::string& out, std::string_view name, int64_t value) {
  out += ' ';
  out += name;
  out += '=';
  print_integer(out, value);
}

void print_tensor(std::string& out, const CaseInput& input) {
  out += dtype_name(input.dtype);
  print_list(out, input.sizes);
  // A view has its owner's values and a zero tensor has zeros, so a recipe is printed only where someone set one.
  const bool has_own_values = input.storage_of.empty() && !input.zero_tensor;
  if (has_own_values || !(input.values == ValueRecipe{})) print_recipe(out, input.values);
  if (!input.storage_of.empty()) out += " view-of=" + input.storage_of;
  if (input.strides) {
    out += " strides=";
    print_list(out, *input.strides);
  }
  if (input.offset != 0) print_option(out, "offset", input.offset);
  if (input.misalign_bytes != 0) print_option(out, "misaligned", input.misalign_bytes);
  if (input.zero_tensor) out += " zero-tensor";
  if (input.place != CasePlace::kDeclared) out += " device=" + std::string(case_place_name(input.place));
  if (input.surplus) out += " surplus";
}

void print_input(std::string& out, const CaseInput& input) {
  out += "input " + input.name + " ";
  switch (input.kind) {
    case CaseInput::Kind::kTensor:
      print_tensor(out, input);
      break;
    case CaseInput::Kind::kInt:
      out += "int ";
      print_integer(out, to_int64(input.scalar));
      break;
    case CaseInput::Kind::kFloat:
      out += "float ";
      print_number(out, to_double(input.scalar));
      break;
    case CaseInput::Kind::kBool:
      out += to_int64(input.scalar) != 0 ? "bool true" : "bool false";
      break;
    case CaseInput::Kind::kNone:
      out += "none";
      break;
  }
  out += '\n';
}

}  // namespace

std::string print_case(const Case& c) {
  std::string out = "aotifuzz-case 1\n";
  for (const CaseInput& input : c.inputs) print_input(out, input);
  for (const CaseCall& call : c.then) {
    out += "then";
    if (call.times != 1) print_option(out, "times", call.times);
    out += '\n';
    for (const CaseInput& input : call.inputs) print_input(out, input);
  }
  const Case defaults;
  std::string run;
  if (c.input_checks != defaults.input_checks) run += c.input_checks ? " checks=on" : " checks=off";
  if (c.runs != defaults.runs) print_option(run, "times", c.runs);
  if (c.threads != defaults.threads) print_option(run, "threads", c.threads);
  if (c.callers != defaults.callers) print_option(run, "callers", c.callers);
  if (c.constants != defaults.constants) run += " constants=" + std::string(case_constants_name(c.constants));
  if (!run.empty()) out += "run" + run + "\n";
  return out;
}

}  // namespace aotifuzz
