#include "store/python_reproducer.h"

#include <algorithm>
#include <sstream>

#include "store/python_calls.h"

namespace aotifuzz {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

std::string comment(const std::string& text) {
  std::istringstream lines(text);
  std::string line, out;
  while (std::getline(lines, line)) out += "# " + line + "\n";
  return out;
}

constexpr const char* kOwnErrors = R"py(
def end_with_3(*error):
    """An error of this program must not look like a difference."""
    traceback.print_exception(*error)
    os._exit(3)


sys.excepthook = end_with_3
)py";

// Reads of the source must not depend on what it imports under which name.
constexpr const char* kExport = R"py(
torch.manual_seed(0)  # weights as packed
made = %FUNCTION%()
if isinstance(made, torch.export.ExportedProgram):
    program = made
elif isinstance(made, dict):
    program = torch.export.export(**made)
else:
    program = torch.export.export(**dict(zip(("mod", "args", "dynamic_shapes"), made)))
package_path = os.path.join(tempfile.mkdtemp(), "model.pt2")
torch._inductor.aoti_compile_and_package(program, package_path=package_path)
)py";

constexpr const char* kCompare = R"py(
def flat(values):
    return torch.utils._pytree.tree_flatten(values)[0]


def described(value):
    if not isinstance(value, torch.Tensor):
        return repr(value)
    return f"{value.dtype} size {tuple(value.size())} stride {value.stride()} {value.device}"


def differences(name, eager, compiled):
    """Lines that say where two values differ; NaN equals NaN."""
    if not isinstance(eager, torch.Tensor) or not isinstance(compiled, torch.Tensor):
        return [] if eager == compiled else [f"{name}: eager {eager!r}, compiled {compiled!r}"]
    lines = []
    if (eager.dtype, eager.size()) != (compiled.dtype, compiled.size()):
        return [f"{name}: eager {described(eager)}, compiled {described(compiled)}"]
    real = [n for n in range(eager.dim()) if eager.size(n) > 1]
    if eager.numel() and [eager.stride(n) for n in real] != [compiled.stride(n) for n in real]:
        lines.append(f"{name}: eager {described(eager)}, compiled {described(compiled)}")
    same = eager == compiled
    if eager.dtype.is_floating_point or eager.dtype.is_complex:
        same |= eager.isnan() & compiled.isnan()
    if not bool(same.all()):
        at = tuple((~same).nonzero()[0].tolist())
        values = f"eager {eager[at].item()!r}, compiled {compiled[at].item()!r}"
        lines.append(f"{name}{list(at)}: {values} ({int((~same).sum())} of {same.numel()} elements differ)")
    return lines


def attempt(name, run):
    """What a run gives: ("values", outputs, inputs afterwards) or ("error", text)."""
    inputs = make_inputs()
    print(f"{name} ...", flush=True)
    try:
        outputs = flat(run(*inputs))
    except Exception as error:
        print(f"{name} raises {type(error).__name__}: {str(error).strip().splitlines()[:1]}")
        return "error", None, None
    return "values", outputs, inputs
)py";

constexpr const char* kMain = R"py(
found = []
runs = {}
%EAGER%%BEFORE%for number in range(%RUNS%):
%BETWEEN%    runs[f"compiled run {number + 1}"] = attempt(f"compiled run {number + 1}", compiled)  # a crash ends the program here
%CALLERS%
names = list(runs)
for name in names[1:]:
    kind, outputs, inputs = runs[name]
    first_kind, first_outputs, first_inputs = runs[names[0]]
    if kind != first_kind:
        found.append(f"{names[0]}: {first_kind}, {name}: {kind}")
    elif kind == "values":
        for n, (a, b) in enumerate(zip(first_outputs, outputs)):
            found += [f"{names[0]} against {name}: {line}" for line in differences(f"output {n}", a, b)]
        for n, (a, b) in enumerate(zip(first_inputs, inputs)):
            found += [f"{names[0]} against {name}: {line}" for line in differences(f"input {n} afterwards", a, b)]
%MANY%print("\n".join(found) if found else "%NOTHING%")
sys.exit(1 if found else 0)
)py";

constexpr const char* kOnDevices = R"py(

def on_devices(inputs, devices):
    """Layouts are kept, and what shares memory shares it there."""
    moved = {}

    def there(value, device):
        if not isinstance(value, torch.Tensor) or device == "cpu":
            return value
        storage = value.untyped_storage()
        if storage.data_ptr() not in moved:
            flat = torch.empty(0, dtype=torch.uint8).set_(storage)
            moved[storage.data_ptr()] = flat.to(device).untyped_storage()
        place = moved[storage.data_ptr()]
        empty = torch.empty(0, dtype=value.dtype, device=device)
        return empty.set_(place, value.storage_offset(), value.size(), value.stride())

    return [there(value, device) for value, device in zip(inputs, devices)]
)py";

/// Where each input of `c` goes; empty: all stay on the CPU.
std::vector<std::string> devices_of(const Case& c, std::vector<std::string> declared) {
  const auto is_placed = [](const CaseInput& input) { return input.place == CasePlace::kDevice; };
  if (declared.empty() && std::none_of(c.inputs.begin(), c.inputs.end(), is_placed)) return {};
  const std::string surplus = declared.empty() ? "cpu" : declared.back();
  declared.resize(c.inputs.size(), surplus);
  for (size_t i = 0; i < declared.size(); ++i)
    if (c.inputs[i].place != CasePlace::kDeclared) declared[i] = case_place_name(c.inputs[i].place);
  return declared;
}

std::string python_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + quoted(word);
  return "[" + out + "]";
}

std::string with(std::string text, const std::string& key, const std::string& value) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
    text.replace(at, key.size(), value);
  return text;
}

}  // namespace

std::string print_python_reproducer(const Finding& finding, const FindingContext& context) {
  const Verdict& verdict = finding.verdict;
  // With a library of operators loaded, the model may not export again: what defines them for export may not be there.
  const bool from_source = !context.recipe_source.empty() && !context.recipe_function.empty() && context.ops.empty();
  const bool has_eager = from_source || context.has_reference;
  std::string out = comment((verdict.cls ? std::string(verdict_class_name(*verdict.cls)) : "finding") + ": " +
                            (verdict.reason.empty() ? verdict.signature : verdict.reason));
  out += "# Needs only torch. Prints where eager and the compiled package differ, and then ends with 1.\n";
  out += "import os\nimport sys\nimport tempfile\nimport traceback\n\n";
  out += kOwnErrors;
  if (finding.minimal.input_checks) out += "os.environ[\"AOTI_RUNTIME_CHECK_INPUTS\"] = \"1\"\n";
  out += "import torch\nimport torch._inductor.package\nimport torch.utils._pytree\n\n";
  for (const std::string& library : context.ops) out += "torch.ops.load_library(" + quoted(library) + ")\n";
  out += "torch.set_num_threads(" + std::to_string(finding.minimal.threads) + ")\n";

  if (from_source) {
    out += "\n# --- the model\n" + context.recipe_source;
    if (out.back() != '\n') out += '\n';
    out += "# --- end of the model\n\n";
    out += with(kExport, "%FUNCTION%", context.recipe_function);
  } else {
    out += "\npackage_path = " + quoted(finding.package) + "\n";
    if (has_eager)
      out += "program = torch.export.load(" + (context.reference.empty() ? "package_path" : quoted(context.reference)) +
             ")\n";
  }
  const std::string model = finding.model.empty() || from_source ? "model" : finding.model;
  const std::string callers = finding.minimal.callers > 1 ? ", num_runners=2" : "";
  out += "package = torch._inductor.package.load_package(package_path, " + quoted(model) + callers + ")\n";
  std::string result = "    return inputs\n";
  const std::vector<std::string> devices = devices_of(finding.minimal, context.input_devices);
  if (!devices.empty()) result = "    return on_devices(inputs, " + python_list(devices) + ")\n";
  const PythonCalls calls = python_calls(finding.minimal, context.then_python, result, has_eager);
  out += calls.constants + "\n\n";
  if (context.flat_arguments) {
    out += "def compiled(*inputs):\n    return package(*inputs)\n";
  } else {
    out +=
        "def nested(inputs):\n    return torch.utils._pytree.tree_unflatten(inputs, program.call_spec.in_spec)\n\n\n";
    out += "def compiled(*inputs):\n    args, kwargs = nested(inputs)\n    return package(*args, **kwargs)\n";
  }
  std::string eager;
  if (has_eager) {
    // Guards off: what the program computes is wanted, also where the inputs break a guard.
    out += "\n\ndef eager(*inputs):\n";
    if (context.flat_arguments)
      out += "    return program.module(check_guards=False)(*inputs)\n";
    else
      out += "    args, kwargs = nested(inputs)\n    return program.module(check_guards=False)(*args, **kwargs)\n";
    eager = "runs[\"eager\"] = attempt(\"eager\", eager)\n";
  }
  if (!devices.empty()) out += kOnDevices;
  for (size_t n = 0; n < context.before_python.size(); ++n)
    out += "\n\ndef make_inputs_before_" + std::to_string(n) + "():\n" + indented(context.before_python[n]) + result;
  out += calls.makers;
  out += "\n\ndef make_inputs():\n" + indented(context.inputs_python) + result + "\n" + kCompare;
  // Many runs are made for the memory's sake, below.
  const int wanted = calls.many.empty() ? finding.minimal.runs : 2;
  const int runs = std::max(wanted, verdict.cls == VerdictClass::kUnstable || !calls.between.empty() ? 2 : 1);
  std::string before;
  if (!context.before_python.empty())
    before += "# these must run first: they leave memory behind that the next one trips over\n";
  for (size_t n = 0; n < context.before_python.size(); ++n)
    before += "compiled(*make_inputs_before_" + std::to_string(n) + "())\n";
  std::string main = with(kMain, "%EAGER%", eager);
  main = with(main, "%BEFORE%", before);
  main = with(main, "%BETWEEN%", calls.between);
  main = with(main, "%CALLERS%", calls.callers);
  main = with(main, "%MANY%", calls.many);
  main = with(main, "%NOTHING%",
              calls.callers.empty()
                  ? "no difference"
                  : "no difference, but threads of Python may have made these calls one after the other: "
                    "aotifuzz replay makes them at the same time");
  return out + with(main, "%RUNS%", std::to_string(runs));
}

}  // namespace aotifuzz
