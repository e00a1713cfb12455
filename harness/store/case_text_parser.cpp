#include <algorithm>
#include <charconv>
#include <set>

#include "store/case_text.h"
#include "store/text_cursor.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kMagic = "aotifuzz-case";
constexpr int64_t kVersion = 1;
// Far above anything a program takes; they bound what hostile text can make us allocate.
constexpr size_t kRankMax = 64;
constexpr size_t kInputsMax = 10000;
constexpr size_t kNumbersMax = 1 << 20;
constexpr size_t kFileNameMax = 4096;
constexpr int64_t kRunsMax = 1000;
constexpr int64_t kThreadsMax = 1024;
constexpr int64_t kCallersMax = 64;
constexpr size_t kCallsMax = 64;
constexpr int64_t kMisalignMax = 4096;

using Failure = std::optional<std::string>;  ///< what is wrong; nullopt = fine

Failure parse_file_arguments(TextCursor& cursor, ValueRecipe& recipe) {
  constexpr const char* kForm = "expected file(\"NAME.npy\",DTYPE,hash=16 HEXADECIMAL DIGITS)";
  if (!cursor.accept('(')) return kForm;
  FileValues file;
  std::optional<std::string> name = cursor.quoted();
  if (!name || name->size() > kFileNameMax || !cursor.accept(',')) return kForm;
  file.name = std::move(*name);
  const std::optional<Dtype> dtype = dtype_from_name(cursor.word());
  if (!dtype || !cursor.accept(',')) return kForm;
  file.dtype = *dtype;
  if (!cursor.accept_word("hash") || !cursor.accept('=')) return kForm;
  const std::string_view digits = cursor.word();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), file.hash, 16);
  if (digits.size() != 16 || error != std::errc{} || end != digits.data() + digits.size() || !cursor.accept(')'))
    return kForm;
  recipe.file = std::make_shared<const FileValues>(std::move(file));
  return std::nullopt;
}

Failure parse_recipe_arguments(TextCursor& cursor, ValueRecipe& recipe) {
  const std::string kind(value_kind_name(recipe.kind));
  recipe.numbers.clear();
  if (recipe.kind == ValueKind::kFile) return parse_file_arguments(cursor, recipe);
  bool seed_seen = false;
  if (!cursor.accept('(')) return "expected '(' after " + kind;
  if (!cursor.accept(')')) {
    do {
      if (cursor.accept_word("seed")) {
        if (!cursor.accept('=')) return "expected '=' after seed";
        if (!value_kind_has_seed(recipe.kind)) return kind + " takes no seed";
        if (seed_seen) return "seed given twice";
        const std::optional<uint64_t> seed = cursor.unsigned_integer();
        if (!seed) return "seed is not an integer from 0 to 2^64 - 1";
        recipe.seed = *seed;
        seed_seen = true;
        continue;
      }
      const std::optional<Number> number = cursor.number();
      if (!number) return "expected a number in " + kind + "(...)";
      if (recipe.numbers.size() >= kNumbersMax) return "too many numbers in " + kind + "(...)";
      recipe.numbers.push_back(*number);
    } while (cursor.accept(','));
    if (!cursor.accept(')')) return "expected ',' or ')' in " + kind + "(...)";
  }
  const auto [least, most] = value_kind_arity(recipe.kind);
  const int count = static_cast<int>(recipe.numbers.size());
  if (count < least || (most >= 0 && count > most)) {
    const std::string wanted = most < 0 ? "at least " + std::to_string(least) : std::to_string(least);
    return kind + " takes " + wanted + " numbers, not " + std::to_string(count);
  }
  return std::nullopt;
}

Failure parse_integer_list(TextCursor& cursor, std::vector<int64_t>& out) {
  out.clear();
  if (!cursor.accept('[')) return "expected '['";
  if (cursor.accept(']')) return std::nullopt;
  do {
    const std::optional<int64_t> value = cursor.integer();
    if (!value) return "expected an integer of 64 bits in [...]";
    if (out.size() >= kRankMax) return "more than " + std::to_string(kRankMax) + " dimensions";
    out.push_back(*value);
  } while (cursor.accept(','));
  if (!cursor.accept(']')) return "expected ',' or ']'";
  return std::nullopt;
}

Failure parse_patch(TextCursor& cursor, ValueRecipe& recipe) {
  if (!cursor.accept('(')) return "expected '(' after at";
  const std::optional<int64_t> index = cursor.integer();
  if (!index || !cursor.accept(')') || !cursor.accept('=')) return "expected at(INDEX)=VALUE";
  const std::optional<Number> value = cursor.number();
  if (!value) return "expected a number after at(...)=";
  if (recipe.patches.size() >= kNumbersMax) return "too many at(...)";
  recipe.patches.emplace_back(*index, *value);
  return std::nullopt;
}

Failure parse_option(TextCursor& cursor, std::string_view word, CaseInput& input) {
  if (!cursor.accept('=')) return "expected '=' after " + std::string(word);
  if (word == "strides") {
    std::vector<int64_t> strides;
    if (Failure failure = parse_integer_list(cursor, strides)) return failure;
    input.strides = std::move(strides);
    return std::nullopt;
  }
  if (word == "view-of") {
    const std::string_view name = cursor.identifier();
    if (name.empty()) return "expected the name of an input after view-of=";
    input.storage_of = name;
    return std::nullopt;
  }
  if (word == "device") {
    const std::optional<CasePlace> place = case_place_from_name(cursor.word());
    if (!place) return "device is none of declared, cpu, cuda";
    input.place = *place;
    return std::nullopt;
  }
  const std::optional<int64_t> value = cursor.integer();
  if (!value || *value < 0) return std::string(word) + " is not a non-negative integer";
  if (word == "misaligned" && *value > kMisalignMax) return "misaligned is above " + std::to_string(kMisalignMax);
  (word == "offset" ? input.offset : input.misalign_bytes) = *value;
  return std::nullopt;
}

Failure parse_tensor(TextCursor& cursor, Dtype dtype, CaseInput& input) {
  input.kind = CaseInput::Kind::kTensor;
  input.dtype = dtype;
  if (Failure failure = parse_integer_list(cursor, input.sizes)) return "sizes: " + *failure;
  bool recipe_seen = false;
  std::set<std::string, std::less<>> seen;
  while (!cursor.at_end()) {
    const std::string_view word = cursor.word();
    if (word.empty()) return "unexpected text: " + cursor.rest_for_message();
    if (word == "at") {
      if (Failure failure = parse_patch(cursor, input.values)) return failure;
      continue;
    }
    ValueKind kind;
    if (value_kind_from_name(word, &kind)) {
      if (recipe_seen) return "a second value recipe: " + std::string(word);
      recipe_seen = true;
      input.values.kind = kind;
      if (Failure failure = parse_recipe_arguments(cursor, input.values)) return failure;
      continue;
    }
    if (!seen.emplace(word).second) return std::string(word) + " given twice";
    if (word == "zero-tensor") {
      input.zero_tensor = true;
    } else if (word == "surplus") {
      input.surplus = true;
    } else if (word == "strides" || word == "offset" || word == "misaligned" || word == "view-of" || word == "device") {
      if (Failure failure = parse_option(cursor, word, input)) return failure;
    } else {
      return "unknown recipe or option: " + std::string(word);
    }
  }
  if (!recipe_seen && input.storage_of.empty() && !input.zero_tensor) return "no value recipe, for instance const(0)";
  return std::nullopt;
}

Failure parse_input(TextCursor& cursor, CaseInput& input) {
  input.name = cursor.identifier();
  if (input.name.empty()) return "expected the name of an input (letters, digits and '_')";
  const std::string_view type = cursor.word();
  // "bool[3] ..." is a tensor, "bool true" a scalar.
  const std::optional<Dtype> dtype = dtype_from_name(type);
  if (dtype && (type != "bool" || cursor.next_is('['))) return parse_tensor(cursor, *dtype, input);
  if (type == "int") {
    input.kind = CaseInput::Kind::kInt;
    const std::optional<int64_t> value = cursor.integer();
    if (!value) return "expected an integer of 64 bits after int";
    input.scalar = *value;
  } else if (type == "float") {
    input.kind = CaseInput::Kind::kFloat;
    const std::optional<Number> value = cursor.number();
    if (!value) return "expected a number after float";
    input.scalar = to_double(*value);
  } else if (type == "bool") {
    input.kind = CaseInput::Kind::kBool;
    const std::string_view value = cursor.word();
    if (value != "true" && value != "false") return "expected true or false after bool";
    input.scalar = int64_t{value == "true"};
  } else if (type == "none") {
    input.kind = CaseInput::Kind::kNone;
  } else {
    return "unknown dtype or kind of input: " + std::string(type);
  }
  if (!cursor.at_end()) return "unexpected text: " + cursor.rest_for_message();
  return std::nullopt;
}

/// What could not be run. Products saturate (core/case.cpp), so hostile sizes end here.
Failure check_tensor(const CaseInput& input, const std::vector<CaseInput>& earlier) {
  for (int64_t size : input.sizes)
    if (size < 0) return "a size is negative";
  if (input.strides) {
    if (input.strides->size() != input.sizes.size()) return "as many strides as sizes are needed";
    for (int64_t stride : *input.strides)
      if (stride < 0) return "a stride is negative";
  }
  const int64_t width = dtype_bytes(input.dtype);
  const bool sparse = input.numel() < kSparseElementsMax && input.misalign_bytes == 0;
  const int64_t bytes_max = sparse ? kCaseSpanMax : kCaseBytesMax, elements_max = bytes_max / width;
  if (input.numel() > elements_max || input.storage_elements() > elements_max || input.offset > elements_max)
    return "larger than " + std::to_string(bytes_max >> 30) + " GiB";
  if (input.zero_tensor && (!input.storage_of.empty() || input.offset != 0 || input.misalign_bytes != 0))
    return "a zero-tensor has no storage: view-of, offset and misaligned mean nothing";
  if (input.storage_of.empty()) return std::nullopt;
  if (input.place != CasePlace::kDeclared) return "a view lies where its owner lies: device belongs there";
  if (input.misalign_bytes != 0) return "a view lies where its owner lies: misaligned belongs there";
  for (const CaseInput& other : earlier) {
    if (other.name != input.storage_of) continue;
    if (other.kind != CaseInput::Kind::kTensor || other.zero_tensor)
      return "view-of " + other.name + ", which has no storage";
    if (!other.storage_of.empty()) return "view-of " + other.name + ", itself a view: name " + other.storage_of;
    return std::nullopt;
  }
  return "view-of " + input.storage_of + ", which is no earlier input";
}

Failure parse_run(TextCursor& cursor, Case& c) {
  while (!cursor.at_end()) {
    const std::string_view word = cursor.word();
    if (!cursor.accept('=')) return "expected FIELD=VALUE after run";
    if (word == "checks") {
      const std::string_view value = cursor.word();
      if (value != "on" && value != "off") return "checks is neither on nor off";
      c.input_checks = value == "on";
      continue;
    }
    if (word == "constants") {
      const std::optional<CaseConstants> constants = case_constants_from_name(cursor.word());
      if (!constants) return "constants is none of exported, updated, swapped";
      c.constants = *constants;
      continue;
    }
    const std::optional<int64_t> value = cursor.integer();
    if (word == "times") {
      if (!value || *value < 1 || *value > kRunsMax) return "times is not from 1 to " + std::to_string(kRunsMax);
      c.runs = static_cast<int>(*value);
    } else if (word == "threads") {
      if (!value || *value < 1 || *value > kThreadsMax)
        return "threads is not from 1 to " + std::to_string(kThreadsMax);
      c.threads = static_cast<int>(*value);
    } else if (word == "callers") {
      if (!value || *value < 1 || *value > kCallersMax)
        return "callers is not from 1 to " + std::to_string(kCallersMax);
      c.callers = static_cast<int>(*value);
    } else {
      return "unknown field of run: " + std::string(word);
    }
  }
  return std::nullopt;
}

/// What follows "then".
Failure parse_call(TextCursor& cursor, CaseCall& call) {
  if (cursor.at_end()) return std::nullopt;
  constexpr const char* kForm = "expected then, or then times=COUNT";
  if (cursor.word() != "times" || !cursor.accept('=')) return kForm;
  const std::optional<int64_t> value = cursor.integer();
  if (!value || !cursor.at_end()) return kForm;
  if (*value < 1 || *value > kRunsMax) return "times is not from 1 to " + std::to_string(kRunsMax);
  call.times = static_cast<int>(*value);
  return std::nullopt;
}

Failure parse_header(TextCursor& cursor) {
  if (cursor.word() != kMagic) return "the first line is not \"aotifuzz-case 1\"";
  const std::optional<int64_t> version = cursor.integer();
  if (!version || !cursor.at_end()) return "no format version after aotifuzz-case";
  if (*version != kVersion) return "format version " + std::to_string(*version) + " is not known to this aotifuzz";
  return std::nullopt;
}

}  // namespace

Result<Case> parse_case(std::string_view text) {
  Case c;
  bool header_seen = false, run_seen = false;
  std::set<std::string, std::less<>> names;  // of the call that inputs belong to now
  std::vector<CaseInput>* inputs = &c.inputs;
  int line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    line = line.substr(0, std::min(line.find('#'), line.size()));
    TextCursor cursor(line);
    if (cursor.at_end()) continue;
    const auto fail = [&](const std::string& what) { return parse_error(what, "line " + std::to_string(line_number)); };
    if (!header_seen) {
      if (Failure failure = parse_header(cursor)) return fail(*failure);
      header_seen = true;
      continue;
    }
    const std::string_view keyword = cursor.word();
    if (keyword == "input") {
      CaseInput input;
      if (Failure failure = parse_input(cursor, input)) return fail(*failure);
      if (input.kind == CaseInput::Kind::kTensor)
        if (Failure failure = check_tensor(input, *inputs)) return fail("input " + input.name + ": " + *failure);
      if (!input.surplus && !inputs->empty() && inputs->back().surplus)
        return fail("input " + input.name + " follows one that is surplus: those come last");
      if (!names.insert(input.name).second) return fail("two inputs are named " + input.name);
      if (inputs->size() >= kInputsMax) return fail("more than " + std::to_string(kInputsMax) + " inputs");
      inputs->push_back(std::move(input));
    } else if (keyword == "then") {
      if (c.then.size() >= kCallsMax) return fail("more than " + std::to_string(kCallsMax) + " further calls");
      if (Failure failure = parse_call(cursor, c.then.emplace_back())) return fail(*failure);
      inputs = &c.then.back().inputs;
      names.clear();
    } else if (keyword == "run") {
      if (run_seen) return fail("a second run line");
      run_seen = true;
      if (Failure failure = parse_run(cursor, c)) return fail(*failure);
    } else {
      return fail("expected input, then or run, not: " + TextCursor(line).rest_for_message());
    }
  }
  if (!header_seen) return parse_error("the text is empty: the first line of a case is \"aotifuzz-case 1\"", "line 1");
  return c;
}

}  // namespace aotifuzz
