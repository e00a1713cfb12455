#include "gate/fake_client.h"

#include <ATen/core/jit_type.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "core/error.h"
#include "gate/size_formula.h"
#include "gate/size_tree.h"
#include "worker/dtype_map.h"
#include "worker/error_text.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using Kind = SpecValue::Kind;

const char* const kRunNames[] = {"symbolic", "meta", "kernel"};                                    ///< by RunKind
const char* const kValueNames[] = {"any", "below", "offsets", "lengths", "const", "permutation"};  ///< by Values

/// What Python sees of a size: an expression as fake_calls.py computes it, over the symbols' indices.
json size_json(const SpecSize& size, const std::vector<SpecSymbol>& symbols) {
  if (size.formula) return formula_tree(*size.formula, symbols);
  return {size.symbol, size.factor, size.add};
}

json tensor_json(const SpecTensor& tensor, const std::vector<SpecSymbol>& symbols) {
  json sizes = json::array();
  for (const SpecSize& size : tensor.sizes) sizes.push_back(size_json(size, symbols));
  return {{"dtype", c10::toString(to_scalar_type(tensor.dtype))},
          {"sizes", std::move(sizes)},
          {"values", kValueNames[static_cast<int>(tensor.values)]},
          {"limit", size_json(tensor.limit, symbols)},
          {"constant", tensor.constant}};
}

/// JSON has no infinity.
json number_json(double number) {
  if (std::isfinite(number)) return {{"kind", "value"}, {"value", number}};
  return {{"kind", "number"}, {"value", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
}

at::ScalarType scalar_type(const std::string& name) {
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i)
    if (name == c10::toString(static_cast<at::ScalarType>(i))) return static_cast<at::ScalarType>(i);
  return at::ScalarType::Undefined;
}

SizeExprPtr size_of(const json& tree) {
  auto size = size_from_tree(tree);
  if (!size) throw HarnessError(size.error().what, size.error().where, "report it");
  return *size;
}

SourcePlace place_of(const json& in) { return {in.value("file", ""), in.value("line", 0), in.value("function", "")}; }

TensorFacts facts_of(const json& in) {
  TensorFacts facts;
  facts.defined = !in.is_null();
  if (!facts.defined) return facts;
  for (const json& size : in.at("sizes")) facts.sizes.push_back(size_of(size));
  for (const json& stride : in.at("strides")) facts.strides.push_back(size_of(stride));
  facts.offset = size_of(in.at("offset"));
  facts.dtype = scalar_type(in.at("dtype"));
  facts.alias = in.at("alias");
  return facts;
}

CallResult result_of(const json& answer) {
  CallResult result;
  result.not_followed = answer.value("not_followed", "");
  result.path_known = !answer.contains("path_not_followed");
  result.error = answer.value("error", "");
  result.read_data = answer.value("reads_data", "");
  result.without_meta = answer.value("without_meta", "");
  result.throw_place = place_of(answer.value("place", json::object()));
  result.finished = answer.contains("outputs");
  result.out_of_memory = !result.finished && is_out_of_memory(result.error);
  if (result.finished)
    for (const json& output : answer["outputs"]) result.facts.push_back(facts_of(output));
  for (const json& range : answer.value("unbacked", json::array()))
    result.unbacked.push_back({range.at(0).get<int64_t>(), range.at(1).get<int64_t>()});
  for (const json& in : answer.value("numbers", json::array())) {
    SizeEvent event{.kind = SizeEvent::Kind::kNumber,
                    .expression = size_of(in.at("tree")),
                    .result = in.at("value"),
                    .call = in.at("call"),
                    .aten = "",
                    .frames = {},
                    .place = place_of(in.at("place"))};
    if (event.call.empty()) event.call = "int()";
    result.events.push_back(std::move(event));
  }
  for (const json& tree : answer.value("guards", json::array()))
    result.events.push_back({.kind = SizeEvent::Kind::kBranch,
                             .expression = size_of(tree),
                             .result = 1,
                             .call = "",
                             .aten = "",
                             .frames = {},
                             .place = {}});
  return result;
}

}  // namespace

FakeClient::~FakeClient() {
  if (fd_ >= 0) close(fd_);
}

void FakeClient::end(const std::string& cause) {
  GateCrumb::set(crumb_->python_death, cause);
  _exit(kExitWorld);
}

json FakeClient::ask(const json& request) {
  const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = send(fd_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) end(strsignal(SIGKILL));  // the server of all is gone, and it holds our socket too
    at += static_cast<size_t>(n);
  }
  for (;;) {
    if (const size_t newline = pending_.find('\n'); newline != std::string::npos) {
      json answer = json::parse(pending_.substr(0, newline), nullptr, false);
      pending_.erase(0, newline + 1);
      if (!answer.is_object()) end("its answer is not understood");
      if (answer.contains("died")) end(answer.value("died", ""));
      // A fake that forks has two processes that answer.
      if (answer.value("id", int64_t{-1}) != asked_) end("it answers what was not asked");
      return answer;
    }
    char buffer[1 << 14];
    const ssize_t n = read(fd_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) end(strsignal(SIGKILL));  // the server of all is gone, and it holds our socket too
    pending_.append(buffer, static_cast<size_t>(n));
  }
}

json FakeClient::argument(const DrawnArguments& drawn, size_t index, const SpecValue& value) const {
  c10::TypePtr type = schema_.arguments()[index].real_type();
  if (const auto* optional = type->castRaw<c10::OptionalType>()) type = optional->getElementType();
  const auto* list = type->castRaw<c10::ListType>();
  const auto is_symbolic = [](const c10::Type& t) { return t.kind() == c10::TypeKind::SymIntType; };
  switch (value.kind) {
    case Kind::kNone:
      return {{"kind", "none"}};
    case Kind::kTensor:
    case Kind::kTensors: {
      json tensors = json::array();
      for (const SpecTensor& tensor : value.tensors) tensors.push_back(tensor_json(tensor, drawn.symbols));
      return {{"kind", value.kind == Kind::kTensor ? "tensor" : "tensors"}, {"tensors", std::move(tensors)}};
    }
    case Kind::kSymbol:
      return {
          {"kind", "size"}, {"sizes", {size_json(value.sizes[0], drawn.symbols)}}, {"symbolic", is_symbolic(*type)}};
    case Kind::kSizes: {
      json sizes = json::array();
      for (const SpecSize& size : value.sizes) sizes.push_back(size_json(size, drawn.symbols));
      const bool symbolic = list && is_symbolic(*list->getElementType());
      return {{"kind", "sizes"}, {"sizes", std::move(sizes)}, {"symbolic", symbolic}};
    }
    case Kind::kInt:
      if (type->kind() == c10::TypeKind::FloatType)
        return {{"kind", "value"}, {"value", static_cast<double>(value.integer)}};
      return {{"kind", "value"}, {"value", value.integer}};
    case Kind::kFloat:
      return number_json(value.real);
    case Kind::kBool:
      return {{"kind", "value"}, {"value", value.integer != 0}};
    case Kind::kText:
      return {{"kind", "value"}, {"value", value.text}};
    case Kind::kDtype:
      return {{"kind", "dtype"}, {"value", c10::toString(to_scalar_type(value.dtype))}};
    case Kind::kList: {
      json items = json::array();
      for (const SpecValue& item : value.items) items.push_back(argument(drawn, index, item));
      return {{"kind", "list"}, {"items", std::move(items)}};
    }
  }
  return {{"kind", "none"}};
}

CallResult FakeClient::run(const DrawnArguments& drawn, const CallPoint& point, RunKind kind) {
  json arguments = json::array(), names = json::array(), least = json::array();
  for (size_t a = 0; a < drawn.alternatives.size(); ++a)
    arguments.push_back(argument(drawn, a, drawn.alternatives[a][(*point.alternative)[a]]));
  for (const SpecSymbol& symbol : drawn.symbols) {
    names.push_back(symbol.name);
    least.push_back(symbol.min);
  }
  const json answer = ask({{"id", ++asked_},
                           {"op", op_name_},
                           {"kind", kRunNames[static_cast<int>(kind)]},
                           {"values", point.values},
                           {"names", std::move(names)},
                           {"least", std::move(least)},
                           {"layout", layout_name(point.layout)},
                           {"seed", point.value_seed},
                           {"arguments", std::move(arguments)}});
  try {
    changed_ = answer.value("changed", std::vector<int>());
    CallResult result = result_of(answer);
    if (result.without_meta == op_name_) result.without_meta.clear();
    return result;
  } catch (const std::exception&) {
    end("its answer is not understood");
  }
}

CallResult FakeClient::run_kernel(const OperatorCall& call, const DrawnArguments& drawn, const CallPoint& point,
                                  const FindingSink& sink) {
  CallResult result = run(drawn, point, RunKind::kKernel);
  if (!result.finished) return result;
  const torch::jit::Stack stack = call.builder().build(point, RunKind::kMeta);
  const std::vector<bool> written = call.builder().declared_written(stack);
  const std::vector<bool> may_alias = call.builder().declared_aliased(stack);
  const std::vector<std::string> names = call.builder().tensor_names(stack);
  for (const int input : changed_)
    if (static_cast<size_t>(input) < written.size() && !written[input])
      sink(point, KernelChecks::changed_input(names[input]));
  for (size_t i = 0; i < result.facts.size(); ++i)
    if (const int alias = result.facts[i].alias; alias >= 0 && !may_alias[alias])
      sink(point, KernelChecks::shared_input(static_cast<int>(i), names[alias]));
  return result;
}

}  // namespace aotifuzz
