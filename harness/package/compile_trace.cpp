#include "package/compile_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/guard_parser.h"
#include "package/size_relations.h"
#include "package/trace_kernels.h"
#include "package/trace_records.h"

namespace aotifuzz {
namespace {

using Kind = TraceRecord::Kind;
using Records = std::vector<const TraceRecord*>;

/// One export: what is recorded from its first input on, up to the next export.
struct Session {
  Records records;
  std::vector<std::string> inputs;             ///< "L['x']", in order
  std::map<std::string, std::string> symbols;  ///< to source
  size_t begin = 0;                            ///< in the log
};

/// A log taken apart. While inductor compiles, records belong to the compilation, not to the export before it.
struct Parted {
  std::vector<Session> sessions;
  std::vector<TracedCompilation> compilations;
};

Parted part(const TraceLog& log) {
  Parted out;
  bool compiling = false, written = false;
  for (size_t i = 0; i < log.records.size(); ++i) {
    const TraceRecord& record = log.records[i];
    const bool code = record.kind == Kind::kWrapperCode || record.kind == Kind::kKernelCode;
    const bool begins = record.kind == Kind::kGraph && record.name == "before_pre_grad_graph";
    if (record.kind == Kind::kVersion) continue;
    if (record.kind == Kind::kSymbol || (record.kind == Kind::kSource && record.text.starts_with("L["))) {
      compiling = false;
      const bool again =
          !out.sessions.empty() && record.kind == Kind::kSymbol && out.sessions.back().symbols.contains(record.symbol);
      const bool same =
          !out.sessions.empty() && record.kind == Kind::kSource && written && !out.sessions.back().symbols.empty();
      const bool repeated = !out.sessions.empty() && record.kind == Kind::kSource &&
                            std::find(out.sessions.back().inputs.begin(), out.sessions.back().inputs.end(),
                                      record.text) != out.sessions.back().inputs.end();
      if (out.sessions.empty() || again || same || repeated) out.sessions.push_back({{}, {}, {}, i});
      if (record.kind == Kind::kSource) out.sessions.back().inputs.push_back(record.text);
      if (record.kind == Kind::kSymbol) {
        out.sessions.back().symbols.emplace(record.symbol, record.text);
        out.sessions.back().records.push_back(&record);
      }
      written = false;
      continue;
    }
    if (begins || (!compiling && is_of_compiler(record, log.torch) && record.kind == Kind::kGuard)) compiling = true;
    if (!compiling && !code && record.kind != Kind::kKernelStacks) {
      if (!out.sessions.empty()) out.sessions.back().records.push_back(&record);
      continue;
    }
    if (out.compilations.empty() || begins ||
        (out.compilations.back().begin < i && record.kind == Kind::kWrapperCode && out.compilations.back().wrapper))
      out.compilations.push_back({i, {}, nullptr, nullptr, nullptr, nullptr});
    TracedCompilation& one = out.compilations.back();
    if (record.kind == Kind::kWrapperCode) one.wrapper = &record;
    if (record.kind == Kind::kKernelCode) one.kernel_code = &record;
    if (record.kind == Kind::kKernelStacks) one.stacks = &record;
    if (record.kind == Kind::kGraph && !begins) one.graph = &record;
    if (record.kind == Kind::kGuard) one.guards.push_back(&record);
    written |= code;
  }
  return out;
}

/// "x.size(0)" of "L['x'].size()[0]", with the contract's name of the input; "" = it is no dimension of an input.
class InputNames {
 public:
  InputNames(const Contract& contract, const std::vector<std::string>& sources) : contract_(contract) {
    std::vector<std::string> tensors;
    for (const InputSpec& input : contract.inputs)
      if (input.kind == CaseInput::Kind::kTensor) tensors.push_back(input.name);
    for (size_t i = 0; i < sources.size() && sources.size() == tensors.size(); ++i) position_[sources[i]] = tensors[i];
  }

  std::string dimension(const std::string& source) const {
    const size_t call = source.find("].size()[");
    if (call == std::string::npos) return "";
    const std::string path = source.substr(0, call + 1), input = name(path);
    const std::string dim = source.substr(call + 9, source.find(']', call + 9) - call - 9);
    return input.empty() ? "" : input + ".size(" + dim + ")";
  }

 private:
  std::string name(const std::string& path) const {
    std::vector<std::string> parts;
    for (size_t at = path.find('['); at != std::string::npos; at = path.find('[', at + 1)) {
      const size_t end = path.find(']', at);
      if (end == std::string::npos) return "";
      std::string part = path.substr(at + 1, end - at - 1);
      if (part.size() > 1 && (part.front() == '\'' || part.front() == '"')) part = part.substr(1, part.size() - 2);
      parts.push_back(part);
    }
    if (parts.size() == 2 && parts[0] == "flat_args") {
      size_t at = 0;
      const auto [end, code] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), at);
      if (code == std::errc() && end == parts[1].data() + parts[1].size() && at < contract_.inputs.size())
        return contract_.inputs[at].name;
    }
    std::string joined;
    for (const std::string& part : parts) joined += (joined.empty() ? "" : "_") + part;
    if (contract_.find_input(joined) >= 0 || contract_.inputs.empty()) return joined;
    const auto at = position_.find(path);
    return at == position_.end() ? "" : at->second;
  }

  const Contract& contract_;
  std::map<std::string, std::string> position_;
};

/// The symbols by which an export is known: of the program, or of the generated wrapper.
std::map<std::string, std::string> known_symbols(const PackageInfo& package) {
  std::map<std::string, std::string> out;
  if (!package.contract.declared) return package.compiled ? package.compiled->symbol_dims : out;
  for (const SymbolSpec& symbol : package.contract.symbols)
    if (!symbol.unbacked && !symbol.dim.empty()) out[symbol.name] = symbol.dim;
  return out;
}

/// No package is at hand.
bool is_nothing(const PackageInfo& package) {
  return package.path.empty() && !package.compiled && package.contract.inputs.empty();
}

/// Is the export that of the package? Each symbol of the package must be a dimension there; and where the program tells
/// of which, that one (another, equal dimension may stand for it in known_symbols).
bool fits(const PackageInfo& package, const Session& session) {
  const InputNames names(package.contract, session.inputs);
  for (const auto& [symbol, dim] : known_symbols(package)) {
    const auto source = session.symbols.find(symbol);
    if (source == session.symbols.end()) return false;
    const std::string mine = names.dimension(source->second);
    bool same = !package.contract.declared && !mine.empty();
    for (const InputSpec& input : package.contract.inputs)
      for (size_t d = 0; d < input.sizes.size() && !same; ++d)
        same = input.name + ".size(" + std::to_string(d) + ")" == mine && input.sizes[d].op() == ExprOp::kSymbol &&
               input.sizes[d].name() == symbol;
    if (!same) return false;
  }
  const auto tensors = std::count_if(package.contract.inputs.begin(), package.contract.inputs.end(),
                                     [](const auto& input) { return input.kind == CaseInput::Kind::kTensor; });
  return static_cast<size_t>(tensors) == session.inputs.size() || is_nothing(package);
}

class Reader {
 public:
  Reader(const PackageInfo& package, CompileTrace& out)
      : package_(package), out_(out), known_(known_symbols(package)) {}

  void add_export(const Session& session, const TorchFolders& torch) {
    torch_ = torch;
    const InputNames names(package_.contract, session.inputs);
    for (const TraceRecord* record : session.records) {
      if (record->kind == Kind::kSymbol || record->kind == Kind::kUnbackedSymbol) {
        const std::string dim = names.dimension(record->text);
        if (!dim.empty()) dims_.emplace(record->symbol, dim);
        out_.symbols.push_back({record->symbol, record->text, dim, record->range, record->value,
                                record->text.empty() ? line(*record) : ""});
      } else if (record->kind == Kind::kGuard) {
        add_guard(*record, false);
      } else if (record->kind == Kind::kSpecialisation) {
        out_.specialisations.push_back(
            {record->symbol, names.dimension(record->text), record->value, record->reason, line(*record)});
      } else if (record->kind == Kind::kDataDependent) {
        out_.data_dependent.push_back({record->text, line(*record)});
      }
    }
    add_pinned();
  }

  void add_compilation(const TracedCompilation& compilation, const TorchFolders& torch) {
    torch_ = torch;
    for (const TraceRecord* record : compilation.guards) add_guard(*record, true);
    out_.kernels = traced_kernels(compilation, torch);
  }

 private:
  /// A guard "dimension == number" pins the dimension; not each torch says so in an entry of its own, or with the line.
  void add_pinned() {
    for (const TracedGuard& guard : out_.guards) {
      const Expr e = canonical(guard.expr);
      if (e.op() != ExprOp::kEq) continue;
      const Expr &a = e.args()[0], &b = e.args()[1], &dim = a.is_constant() ? b : a, &number = a.is_constant() ? a : b;
      if (dim.op() != ExprOp::kSymbol || !number.is_constant()) continue;
      const auto told = std::find_if(out_.specialisations.begin(), out_.specialisations.end(),
                                     [&](const auto& one) { return one.dimension == dim.name(); });
      if (told == out_.specialisations.end())
        out_.specialisations.push_back({"", dim.name(), number.text(), "", guard.line});
      else if (told->line.empty() && told->value == number.text())
        told->line = guard.line;
    }
  }

  std::string line(const TraceRecord& record) const {
    const TraceFrame* frame = model_frame(record, torch_);
    return frame ? frame_text(*frame) : "";
  }

  void add_guard(const TraceRecord& record, bool compiler) {
    const Result<Expr> parsed = parse_size_text(record.text);
    TracedGuard guard;
    if (parsed) {
      guard.expr = parsed->substitute([&](const std::string& name) {
        for (const auto* dims : {&dims_, &known_})
          if (const auto dim = dims->find(name); dim != dims->end()) return std::optional(Expr::symbol(dim->second));
        return std::optional<Expr>();
      });
      guard.text = guard.expr.text();
    } else {
      guard.expr = Expr::opaque(record.text);
      guard.text = record.text;
    }
    guard.line = line(record);
    guard.compiler = compiler;
    const auto [seen, fresh] = guard_of_.try_emplace({guard.text, guard.line, compiler}, out_.guards.size());
    if (fresh)
      out_.guards.push_back(std::move(guard));
    else
      ++out_.guards[seen->second].times;
  }

  const PackageInfo& package_;
  CompileTrace& out_;
  std::map<std::tuple<std::string, std::string, bool>, size_t> guard_of_;  ///< by text, line and whether the compiler's
  std::map<std::string, std::string> dims_;                                ///< by symbol, as this export made them
  std::map<std::string, std::string> known_;
  TorchFolders torch_;
};

std::string joined(const std::set<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out.empty() ? "none" : out;
}

[[noreturn]] void refuse(const std::string& path, const PackageInfo& package, const std::vector<Parted>& logs) {
  std::set<std::string> kernels, inputs;
  for (const Parted& log : logs) {
    for (const TracedCompilation& one : log.compilations)
      for (const std::string& name : kernel_names(one)) kernels.insert(name);
    for (const Session& session : log.sessions) inputs.insert(session.inputs.begin(), session.inputs.end());
  }
  throw HarnessError("the compile-time trace is of another model or another compilation: its kernels are " +
                         joined(kernels) + ", the package's are " + joined(kernel_names(package)) +
                         "; inputs of its exports: " + joined(inputs),
                     "--trace " + path + ", " + package.path,
                     "export and compile the package in one process with TORCH_TRACE=FOLDER, and give that folder");
}

}  // namespace

const TracedKernel* CompileTrace::find_kernel(const std::string& name) const {
  for (const TracedKernel& kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

CompileTrace read_compile_trace(const std::string& path, const PackageInfo& package) {
  return compile_trace_of(read_trace_folder(path), path, package);
}

CompileTrace compile_trace_of(const std::vector<TraceLog>& logs, const std::string& path, const PackageInfo& package) {
  CompileTrace out;
  out.path = path;
  std::vector<Parted> parted;
  size_t cut = 0;
  for (const TraceLog& log : logs) {
    parted.push_back(part(log));
    out.lines += log.lines;
    out.unreadable += log.unreadable;
    for (const TraceRecord& record : log.records) {
      cut += record.payload_cut;
      if (record.kind == Kind::kVersion && out.torch.empty()) out.torch = torch_version_of(record);
    }
  }
  const TracedCompilation* compilation = nullptr;
  const Session* session = nullptr;
  size_t of = 0;
  bool any_code = false;
  if (is_nothing(package))
    for (size_t i = 0; i < parted.size(); ++i)
      for (const TracedCompilation& one : parted[i].compilations) {
        compilation = &one;
        of = i;
        out.match = "no package to compare with: the last compilation of the trace";
      }
  for (const bool by_file : {true, false})
    for (size_t i = 0; i < parted.size() && !compilation; ++i)
      for (const TracedCompilation& one : parted[i].compilations) {
        if (one.wrapper) any_code = true;
        if (!one.wrapper || !(by_file ? is_wrapper_of(one, package) : kernel_names(one) == kernel_names(package)))
          continue;
        compilation = &one;
        of = i;
        out.match = by_file ? "the package holds the wrapper that the trace names"
                            : "by kernel names: another compilation of this model, or of one like it";
      }
  if (any_code && !compilation) refuse(path, package, parted);
  for (size_t i = 0; i < parted.size(); ++i)
    for (const Session& one : parted[i].sessions) {
      if (!fits(package, one) || (compilation && (i != of || one.begin > compilation->begin))) continue;
      session = &one;
      if (!compilation) of = i;
    }
  if (!session && !compilation && !is_nothing(package)) refuse(path, package, parted);
  Reader reader(package, out);
  if (session) reader.add_export(*session, logs[of].torch);
  if (compilation) reader.add_compilation(*compilation, logs[of].torch);
  if (!compilation && is_nothing(package)) {
    out.match = "no package to compare with: the last export of the trace";
  } else if (!compilation) {
    out.match = "by its symbols: the trace has an export and no compilation";
    out.notes.push_back("no generated code in the trace: nothing is said of kernels");
  }
  if (!session) out.notes.push_back("the export is not in the trace: where symbols and guards come from is not known");
  if (out.unreadable > 0)
    out.notes.push_back(std::to_string(out.unreadable) + " of " + std::to_string(out.lines) +
                        " entries cannot be read (cut short?)");
  if (cut > 0) out.notes.push_back(std::to_string(cut) + " entries lack the text that they announce");
  return out;
}

std::string guard_with_line(const TracedGuard& guard) {
  if (!guard.line.empty()) return guard.text + " at " + guard.line;
  return guard.text + (guard.compiler ? ", which inductor assumed while it compiled" : ", no model line recorded");
}

namespace {

/// Texts of what does not hold under `lookup`.
std::vector<std::string> broken(const CompileTrace& trace, const Expr::Lookup& lookup) {
  std::vector<std::string> model, compiler;
  for (const TracedGuard& guard : trace.guards)
    if (const auto value = guard.expr.evaluate(lookup); value && *value == 0)
      (guard.compiler ? compiler : model).push_back(guard_with_line(guard));
  for (const TracedSymbol& symbol : trace.symbols) {
    const std::optional<int64_t> value = symbol.dimension.empty() ? std::nullopt : lookup(symbol.dimension);
    int64_t least = 0;
    const char* begin = symbol.range.data() + 1;
    if (!value || symbol.range.size() < 2 ||
        std::from_chars(begin, symbol.range.data() + symbol.range.size(), least).ec != std::errc() || *value >= least)
      continue;
    model.push_back(symbol.dimension + " >= " + std::to_string(least) + ", the range " + symbol.range +
                    " that export gave " + symbol.name + " (it specialises 0 and 1)");
  }
  model.insert(model.end(), compiler.begin(), compiler.end());
  return model;
}

}  // namespace

std::vector<std::string> broken_guards(const CompileTrace& trace, const Case& c) {
  return broken(trace, [&](const std::string& name) { return dimension_value(c, name); });
}

std::vector<std::string> broken_guards(const CompileTrace& trace, const std::string& dimension, int64_t value) {
  return broken(trace,
                [&](const std::string& name) { return name == dimension ? std::optional(value) : std::nullopt; });
}

std::vector<std::string> guards_of(const CompileTrace& trace, const Expr& condition) {
  const Expr wanted = canonical(condition);
  const std::optional<LinearBound> bound = linear_bound(condition);
  std::vector<std::string> out;
  for (const TracedGuard& guard : trace.guards) {
    bool same = canonical(guard.expr) == wanted;
    if (const auto other = linear_bound(guard.expr); bound && other)
      same |= other->dimension == bound->dimension && other->lower == bound->lower && other->limit == bound->limit;
    if (same) out.push_back(guard_with_line(guard));
  }
  return out;
}

}  // namespace aotifuzz
