#include "package/error_patterns.h"

namespace aotifuzz {
namespace {

using Row = ErrorPattern;
using Route = ErrorRoute;

// Commands that several rows give.
constexpr const char* kInspect = "aotifuzz inspect PACKAGE";
constexpr const char* kKernels = "aotifuzz inspect PACKAGE --kernels";
constexpr const char* kWithCase = "aotifuzz explain --package PACKAGE --case CASE";
constexpr const char* kReplay = "aotifuzz replay CASE --package PACKAGE";
constexpr const char* kTrace = "aotifuzz trace PACKAGE CASE --level stats";
constexpr const char* kFuzz = "aotifuzz fuzz PACKAGE --for 10m";
constexpr const char* kGate = "aotifuzz gate --ops libmyops.so";
constexpr const char* kSanitize = "aotifuzz sanitize CASE --package PACKAGE";
constexpr const char* kDoctor = "aotifuzz doctor";

constexpr const char* kCompileThere =
    "compile the package for the device type that it is loaded on: AOTInductor has no cross-device loading (the index "
    "may differ, the type may not)";
constexpr const char* kCallerOrExport =
    "give the package such an input; if this one should be legal, export with a dynamic dimension (or without the "
    "wrong assumption) and compile again";
constexpr const char* kSameTorch =
    "run with the torch that compiled the package or a newer one, or compile the package again with the torch that "
    "runs it";

// clang-format off
const std::vector<ErrorPattern> kRows = {
    {.id = "index-out-of-bounds", .title = "an index lies outside the tensor that it indexes", .route = Route::kIndex,
     .texts = {"Assertion `index out of bounds: 0 <= {index~} < {bound*}` failed", "index out of bounds: 0 <= {index~} < {bound*}"},
     .meaning = "a generated kernel checks each index before it loads or stores; this one was negative or not below the size",
     .culprit = "whoever makes the index: an input's values, or an earlier kernel that computes it from an input that is empty, too short or too long",
     .change = "correct the input; or clamp or check the index in the model (torch._check), export and compile again",
     .commands = {kKernels, kWithCase},
     .examples = {{"Error: index out of bounds: 0 <= tmp2 < 100L", "torch 2.11.0 and 2.15.0, CPU"},
                  {"unknown:0: unknown: block: [0,0,0], thread: [213,0,0] Assertion `index out of bounds: 0 <= tmp4 < 32000` failed.", "litgpt#774, CUDA"},
                  {"unknown:0: unknown: block: [0,0,0], thread: [3,0,0] Assertion `index out of bounds: 0 <= tmp7 < ks2` failed.", "form of the same with a symbolic size"}}},
    {.id = "index-out-of-bounds-in-aten", .title = "an index lies outside the tensor that an ATen operator indexes",
     .texts = {"Assertion `index >= -sizes[i] && index < sizes[i] && \"index out of bounds\"` failed", "Assertion `-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"` failed",
               "index {index#} is out of bounds for dimension {dim#} with size {size#}", "index out of range in self$"},
     .meaning = "an operator of ATen, in eager code or called by the package, was given an index that its tensor does not have",
     .culprit = "whoever makes the index: an input's values, or what the model computes from them",
     .change = "correct the input; or clamp or check the index in the model (torch._check)",
     .commands = {kKernels, kWithCase},
     .examples = {{"IndexError: index 9 is out of bounds for dimension 0 with size 4", "torch 2.15.0, CPU"}, {"IndexError: index out of range in self", "torch 2.15.0, CPU"},
                  {"/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:92: operator(): block: [3,0,0], thread: [126,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"` failed.", "01-ai/Yi#100, CUDA"}}},
    {.id = "input-dtype", .title = "an input has another dtype than the package was compiled for", .route = Route::kInput,
     .texts = {"input_handles[{input#}]: unmatched dtype, expected: {expected*}, but got: {got#}"},
     .meaning = "the input check of the package (AOTI_RUNTIME_CHECK_INPUTS=1) refuses it; without the check its bytes are read as the other type",
     .culprit = "the caller, or the example inputs of the export", .change = "convert the input (x.to(dtype)), or export with an example of that dtype", .commands = {kInspect},
     .examples = {{"Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7", "torch 2.15.0, CPU; 2.11.0 generates the same"}}},
    {.id = "input-device", .title = "an input lies on another device than the package was compiled for", .route = Route::kInput,
     .texts = {"input_handles[{input#}]: unmatched device type, expected: {expected*}, but got: {got*}"},
     .meaning = "the input check of the package (AOTI_RUNTIME_CHECK_INPUTS=1) refuses it; without the check the pointer of another device is used as it is",
     .culprit = "the caller: an input was not moved", .change = "move the input to the package's device (x.to(device)), or compile for the device that inputs lie on", .commands = {kInspect},
     .examples = {{"Error: input_handles[0]: unmatched device type, expected: 00(cpu), but got: 14", "torch 2.15.0, CPU"}, {"Error: input_handles[0]: unmatched device type, expected: 10(cuda), but got: 0(cpu)", "form of torch 2.11.0, CUDA"}}},
    {.id = "input-size", .title = "an input has a size that the package's checks refuse", .route = Route::kInput,
     .texts = {"input_handles[{input#}]: unmatched dim value at {dim#}, expected: {expected#}, but got: {got#}", "input_handles[{input#}]: dim value is too small at {dim#}, expected it to be >= {least#}, but got: {got#}",
               "input_handles[{input#}]: dim value is too large at {dim#}, expected to be <= {most#}, but got: {got#}"},
     .meaning = "the input check of the package (AOTI_RUNTIME_CHECK_INPUTS=1) refuses it: the size is fixed, or outside the range that the compiler assumed",
     .culprit = "the caller, or an export that fixed the dimension or assumed too small a range", .change = kCallerOrExport, .commands = {kInspect, kWithCase},
     .examples = {{"Error: input_handles[0]: unmatched dim value at 2, expected: 16, but got: 15", "torch 2.15.0, CPU; 2.11.0 generates the same"}, {"Error: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1", "torch 2.11.0 and 2.15.0, CPU"},
                  {"Error: input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 65", "torch 2.11.0 and 2.15.0, CPU"}}},
    {.id = "input-stride", .title = "an input has another layout than the package was compiled for", .route = Route::kInput,
     .texts = {"input_handles[{input#}]: unmatched stride value at {dim#}, expected: {expected#}, but got: {got#}"},
     .meaning = "the input check of the package (AOTI_RUNTIME_CHECK_INPUTS=1) refuses it; without the check elements are read at the wrong places",
     .culprit = "the caller: a transposed, sliced or expanded view was passed", .change = "pass x.contiguous(), or export with an example of that layout", .commands = {kInspect},
     .examples = {{"Error: input_handles[0]: unmatched stride value at 1, expected: 16, but got: 1", "torch 2.11.0 and 2.15.0, CPU"}}},
    {.id = "input-count", .title = "the package takes another number of inputs", .route = Route::kLayout,
     .texts = {"expected inputs vector size to be {expected#}, but got {got#}"},
     .meaning = "the package is called with too few or too many inputs: each tensor of the flattened arguments is one",
     .culprit = "the caller", .change = "pass the inputs that the program was exported with, in its order", .commands = {kInspect},
     .examples = {{"Error: expected inputs vector size to be 2, but got 1", "torch 2.15.0, CPU"}}},
    {.id = "input-layout", .title = "an input's sizes or strides do not fit those of the other inputs", .route = Route::kLayout,
     .texts = {"expected size {got#}=={expected#}, stride {gotstride#}=={expectedstride#} at dim={dim#}", "expected ndim {expected#} but got {got#}"}, .then = "Error in op: input",
     .meaning = "the second layer of input checks (torch 2.13 and later) refuses it: a size that must equal another input's, or a stride, differs; what comes after `Error in op` speaks of custom operators and does not apply",
     .culprit = "the caller: two inputs that must agree in a size do not, or a view was passed", .change = "pass inputs that agree (torch._check(a.size(0) == b.size(0)) in the model says so early), contiguous where the example was", .commands = {kInspect, kWithCase},
     .examples = {{"Error: expected size 4==4, stride 9==7 at dim=0; expected size 9==7, stride 1==1 at dim=1\nError in op: input", "torch 2.15.0, CPU"}}},
    {.id = "custom-op-fake", .title = "an operator returns another tensor than its fake (meta) kernel declares", .route = Route::kOperator,
     .texts = {"expected size {got#}=={expected#}, stride {gotstride#}=={expectedstride#} at dim={dim#}", "expected ndim {expected#} but got {got#}", "expected dtype {expected*} but got dtype code {got#}"}, .then = "Error in op: {op~}",
     .meaning = "the package was compiled for the sizes, strides and dtype that the fake kernel gave; the real kernel made others, and every later access would be wrong",
     .culprit = "the fake (meta) kernel of the operator, or its real one", .change = "make both compute the same; with SymInt sizes to the end (sym_size, not size)", .commands = {kGate, kReplay},
     .examples = {{"Error: expected size 5==4, stride 1==1 at dim=0\nError in op: torch.ops.my.halve.default\nThis error most often comes from an incorrect fake (aka meta) kernel for a custom op.", "form of torch 2.15.0"}}},
    {.id = "size-or-stride", .title = "a tensor has another size or stride than the package was compiled for", .route = Route::kOperator,
     .texts = {"expected size {got#}=={expected#}, stride {gotstride#}=={expectedstride#} at dim={dim#}", "expected ndim {expected#} but got {got#}", "expected dtype {expected*} but got dtype code {got#}"},
     .meaning = "an assertion of the package; the line after it, `Error in op: ...`, would say whether it is about an input or an operator's output", .culprit = "an input, or an operator whose fake (meta) kernel declares another tensor", .change = "look for `Error in op:` below this line", .commands = {kInspect, kWithCase, kGate},
     .examples = {{"expected size 4==5, stride 3==3 at dim=0", "torch 2.15.0, CPU"}}},
    {.id = "custom-op-no-fake", .title = "an operator has no fake (meta) kernel, so that nothing can be exported", .route = Route::kOperator,
     .texts = {"{op~}: attempted to run this operator with Meta tensors", "There was no fake impl registered for {op*}. ", "UnsupportedOperatorException: {op~}"},
     .meaning = "export runs the model on tensors without data, and the operator has no implementation for them", .culprit = "the operator's library", .change = "register one: torch.library.register_fake, or a kernel for the Meta key in C++", .commands = {kGate},
     .examples = {{"NotImplementedError: my::halve: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered for this operator.", "form of torch 2.15.0"},
                  {"torch._subclasses.fake_tensor.UnsupportedOperatorException: my.halve.default", "torch 2.15.0, export"},
                  {"RuntimeError: There was no fake impl registered for <CustomOpDef(my::halve)>. This is necessary for torch.compile/export/fx tracing to work.", "torch 2.15.0, export"}}},
    {.id = "data-dependent", .title = "a size or a branch depends on values", .texts = {"Could not guard on data-dependent expression {expression*} (", "Could not extract specialized integer from data-dependent expression {expression*} ("},
     .meaning = "export cannot decide the condition, as it depends on what tensors hold", .culprit = "the model, or a fake kernel that asks a symbolic size for a number", .change = "say what holds with torch._check, or avoid the branch; in a meta use sym_size and TORCH_SYM_*", .commands = {kGate},
     .examples = {{"torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: u0)", "form of torch 2.15.0"}}},
    {.id = "export-constraint", .title = "the model does not allow the sizes that were declared", .texts = {"Constraints violated ({names*})"},
     .meaning = "export found a condition on a dimension that the declaration contradicts", .culprit = "dynamic_shapes, or the operation of the model that asks for the condition", .change = "declare what the model allows (the message suggests it), or change the operation", .commands = {},
     .examples = {{"torch._dynamo.exc.UserError: Constraints violated (n)! For more information, run with TORCH_LOGS=\"+dynamic\".", "torch 2.15.0, export"}}},
    {.id = "size-assertion", .title = "a size that depends on values breaks an assertion of the program", .texts = {"Expected {what~} >= {least#} but received {got#}", "Expected {what~} <= {most#} but received {got#}", "Expected {what~} == {equal#} but received {got#}"},
     .meaning = "the compiled program checks sizes that it learns while it runs (u0: rows that a mask or nonzero keeps)", .culprit = "the input's values; or the compiler, where the declared range allows that size", .change = "declare the range with torch._check, and see with `inspect` whether the declaration allows the size that came", .commands = {kInspect, kReplay},
     .examples = {{"Error: Expected u0 >= 1 but received 0", "torch 2.11.0, CPU, pytorch#184454"}}},
    {.id = "program-refuses", .title = "the exported program refuses the input", .texts = {"Guard failed: {guard*}", "Expected input at {where*} to be {rule*}, but got {got*}"},
     .meaning = "the ExportedProgram (not the package) checks its guards: the input lies outside what was declared", .culprit = "the caller, or dynamic_shapes of the export", .change = kCallerOrExport, .commands = {kInspect},
     .examples = {{"AssertionError: Guard failed: x.size()[0] % 2 == 0", "torch 2.15.0, CPU"}, {"RuntimeError: Expected input at *args[0].shape[0] to be <= 64, but got 65", "form of torch 2.11.0"}}},
    {.id = "device-mismatch", .title = "the package was compiled for another device than it runs on", .route = Route::kDevice,
     .texts = {"pointer resides on host memory and is not registered with any CUDA device", "Expected out tensor to have device {expected~}, but got {got~} instead", "Mixed-device constants are only supported when the secondary device is CPU",
               "Cannot load AOTInductor package for device '{device*}' because", "Incorrect device passed to aoti_runner", "Expected all tensors to be on the same device, but found at least two devices, {a~} and {b~}",
               "Expected all tensors to be on the same device, but got {what~} is on {b~}, different from other tensors on {a~}"},
     .meaning = "constants, inputs or buffers lie on one kind of device and the generated code was made for another", .culprit = "how the package is loaded: compile device and load device differ, or an input was not moved", .change = kCompileThere, .commands = {kInspect},
     .examples = {{"RuntimeError: The specified pointer resides on host memory and is not registered with any CUDA device.", "aoti-debug guide, CUDA"}, {"RuntimeError: Expected out tensor to have device cuda:0, but got cpu instead", "aoti-debug guide, CUDA"},
                  {"RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when checking argument for argument index in method wrapper_CUDA__index_select)", "ComfyUI_YuE#30, CUDA"},
                  {"RuntimeError: Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm)", "torch 2.11.0, CUDA"}}},
    {.id = "constants-crash", .title = "the process died while it copied the package's constants", .route = Route::kDevice, .texts = {"AOTInductorModelBase{rest*}::load_constants"},
     .meaning = "weights are copied to the device when the package is loaded; a crash there means another device or a damaged package", .culprit = "compile device and load device differ, or the file is cut short", .change = kCompileThere, .commands = {kInspect, kDoctor},
     .examples = {{"#3 0x7f0c in torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>::load_constants()", "aoti-debug guide, CUDA"}}},
    {.id = "wrong-architecture", .title = "the package's GPU code is for another GPU architecture", .route = Route::kArchitecture, .texts = {"no kernel image is available for execution on the device", "device kernel image is invalid", "CUDA_ERROR_NO_BINARY_FOR_GPU"},
     .meaning = "the cubins in the package were compiled for one compute capability and do not run on this GPU", .culprit = "the machine that the package was compiled on has another GPU", .change = "compile on a GPU of that architecture (or with aot_inductor.emit_multi_arch_kernel=True)", .commands = {kInspect, kDoctor},
     .examples = {{"RuntimeError: CUDA error: no kernel image is available for execution on the device", "nunchaku#27, CUDA"}}},
    {.id = "cubin-missing", .title = "the package's GPU code is not where it is looked for", .texts = {"CUDA driver error: file not found"},
     .meaning = "kernels are loaded from cubin files beside the library", .culprit = "a library that was copied without its cubins, or their folder was removed while the model was in use", .change = "load the whole .pt2 with aoti_load_package, or compile with aot_inductor.embed_kernel_binary=True", .commands = {kInspect},
     .examples = {{"Error: CUDA driver error: file not found", "pytorch#152067, CUDA"}}},
    {.id = "illegal-memory-access", .title = "a kernel touched device memory that is not its own", .texts = {"an illegal memory access was encountered", "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory was accessed"},
     .meaning = "the report comes later than the access, and the kernel named in it need not be the one", .culprit = "a kernel whose sizes, strides or indices do not fit its buffers; most often an input that no check refused", .change = "find kernel and condition with the commands below; then check the condition in the model or before the call", .commands = {kWithCase, kSanitize, kFuzz},
     .examples = {{"RuntimeError: CUDA error: an illegal memory access was encountered", "vllm#6976, CUDA"}}},
    {.id = "misaligned-address", .title = "a kernel loads several elements at once from an address that is not aligned", .texts = {"CUDA error: misaligned address", "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address$", "Expect the tensor to be {alignment#} bytes aligned"},
     .meaning = "generated kernels assume that inputs begin at a multiple of 16 bytes", .culprit = "an input that is a slice with an offset, or a custom operator's output", .change = "pass x.clone(), or export with an example that has the offset", .commands = {kWithCase, kSanitize},
     .examples = {{"RuntimeError: CUDA error: misaligned address", "CUDA runtime"}}},
    {.id = "launch-failure", .title = "a kernel could not be started or ended with an error", .texts = {"unspecified launch failure", "CUDA_ERROR_LAUNCH_FAILED", "too many resources requested for launch", "invalid configuration argument"},
     .meaning = "a grid of size 0 or beyond 65,535 blocks in y or z, too many registers, or a fault inside the kernel", .culprit = "a size at a launch limit (0 included), or the kernel", .change = "see with `explain --case` which launch it was; check the size before the call", .commands = {kWithCase, kSanitize},
     .examples = {{"RuntimeError: CUDA error: unspecified launch failure", "CUDA runtime"}, {"Error: CUDA driver error: invalid configuration argument", "CUDA driver"}}},
    {.id = "out-of-memory", .title = "memory ran out", .texts = {"CUDA out of memory", "can't allocate memory: you tried to allocate", "instance of 'std::bad_alloc'", "bad_alloc$"},
     .meaning = "the input asks for more memory than there is; or memory grows from call to call", .culprit = "the input's sizes, or a leak (refused calls of torch 2.11 leak their inputs)", .change = "bound the sizes; look at memory over repeated runs", .commands = {kInspect},
     .examples = {{"RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000000000000 bytes.", "torch 2.15.0, CPU"}}},
    {.id = "division-by-zero", .title = "an integer division by zero, or of the least integer by -1", .texts = {"ZeroDivisionError$", "ZeroDivisionError: ", "Floating point exception", "signal SIGFPE", "of SIGFPE", "by SIGFPE", "(SIGFPE", "Signals.SIGFPE", "exit code 136", "killed by signal 8"},
     .meaning = "integer division traps on the processor; torch 2.13 and later check the divisor and raise instead", .culprit = "the divisor, an input's values or what the model computes of them", .change = "check the divisor in the model (torch.where), or compile with torch 2.13 or later", .commands = {kWithCase, kTrace},
     .examples = {{"Floating point exception (core dumped)", "torch 2.11.0, CPU, pytorch#184406"}, {"Error: ZeroDivisionError", "text of torch 2.15.0"}}},
    {.id = "segfault", .title = "the process died of an access to memory that is not mapped", .texts = {"Segmentation fault", "signal SIGSEGV", "of SIGSEGV", "by SIGSEGV", "(SIGSEGV", "Signals.SIGSEGV", "signal SIGBUS", "of SIGBUS", "by SIGBUS", "(SIGBUS", "Signals.SIGBUS", "segfault at {address~}", "exit code 139", "killed by signal 11", "killed by signal 7"},
     .meaning = "the kernel that dies need not be the culprit: an earlier one may have made its index, or an input is shorter than the package assumes", .culprit = "check first: device of load and compile, inputs' devices, dtypes and sizes; then a kernel whose sizes do not fit its buffers", .change = "find kernel and condition with the commands below; then check the condition in the model or before the call", .commands = {kInspect, kWithCase, kFuzz},
     .examples = {{"Segmentation fault (core dumped)", "torch 2.15.0, CPU, faults.md"}, {"kernel: python[2811]: segfault at 7f3a10000000 ip 00007f3a9c sp 00007ffd error 4", "Linux"}, {"worker 3 was killed by signal 11", "form of process managers"}}},
    {.id = "illegal-instruction", .title = "the package uses instructions that this processor does not have", .route = Route::kArchitecture, .texts = {"Illegal instruction", "signal SIGILL", "of SIGILL", "by SIGILL", "(SIGILL", "Signals.SIGILL", "exit code 132", "killed by signal 4"},
     .meaning = "packages are compiled with -march=native: for the processor of the machine that compiled them", .culprit = "another machine compiled the package", .change = "compile on a processor of the oldest kind that must run it, or set cpp.simdlen and ATEN_CPU_CAPABILITY", .commands = {kInspect},
     .examples = {{"Illegal instruction (core dumped)", "Linux"}}},
    {.id = "heap-damage", .title = "the allocator found its own bookkeeping overwritten", .texts = {"free(): invalid", "double free or corruption (", "corrupted size vs. prev_size", "munmap_chunk(): invalid pointer", "malloc(): {what*}", "malloc_consolidate()"},
     .meaning = "something wrote outside its buffer earlier; the call that aborts is the victim", .culprit = "a kernel, or a custom operator whose kernel makes fewer elements than its fake declares", .change = "find the write with guarded memory (below); then correct the operator or check the size", .commands = {kWithCase, kGate, kFuzz},
     .examples = {{"free(): invalid next size (fast)", "glibc"}, {"malloc(): corrupted top size", "glibc"}}},
    {.id = "abort", .title = "the process aborted itself", .consequence = true, .texts = {"Aborted (core dumped)", "signal SIGABRT", "of SIGABRT", "by SIGABRT", "(SIGABRT", "Signals.SIGABRT", "exit code 134", "killed by signal 6", "terminate called after throwing an instance of"},
     .meaning = "an exception that nobody caught (the lines before say which), a failed assertion, or damaged memory", .culprit = "see the lines before", .change = "catch exceptions around the call of the package; if none is named, look for damaged memory as below", .commands = {kWithCase, kFuzz},
     .examples = {{"Aborted (core dumped)", "Linux"}}},
    {.id = "nan", .title = "a tensor holds NaN or infinities", .route = Route::kNan, .texts = {"At least one NaN in {buffer~}", "At least one INF in {buffer~}", "assert not {buffer~}.isnan().any().item()", "aoti_torch_check_inf_and_nan(\"{buffer~}\", "},
     .meaning = "the package was compiled with NaN assertions (nan_asserts), or a check after it found them", .culprit = "the first kernel that makes NaN of inputs without: not the one that reports it", .change = "see with `trace --nan` which kernel makes it; correct its input's range", .commands = {"aotifuzz trace PACKAGE CASE --nan", kWithCase},
     .examples = {{"Error: At least one NaN in buf0", "text of torch 2.11.0 and 2.15.0"}, {"RuntimeError: At least one INF in buf1", "text of torch 2.15.0"},
                  {"Error: aoti_torch_check_inf_and_nan(\"buf0\", buf0) API call failed at model.wrapper.cpp, line 600", "torch 2.11.0, CUDA"}}},
    {.id = "wrong-numbers", .title = "results differ from eager's", .texts = {"Tensor-likes are not close!", "Tensor-likes are not equal!", "Scalars are not close!"},
     .meaning = "rounding, or a fault: a comparison with fixed tolerances cannot tell", .culprit = "not known yet: the first kernel whose outputs are not what eager makes of the kernel's own inputs", .change = "let the referee judge it (below); a fault comes with kernel and smallest input, for an issue", .commands = {kWithCase, kTrace, kFuzz},
     .examples = {{"AssertionError: Tensor-likes are not close!\n\nMismatched elements: 1 / 12 (8.3%)", "torch 2.15.0, CPU"}}},
    {.id = "hang", .title = "the call does not end", .texts = {"does not end within the limit", "TimeoutExpired: Command", "DUE TO TIME LIMIT", "exit code 124", "Watchdog caught collective operation timeout"},
     .meaning = "a loop of the model whose condition stays true, a kernel that waits, or a device that hangs after an earlier fault", .culprit = "a while_loop's condition on this input, or the kernel that `explain --case` names", .change = "bound the loop in the model", .commands = {kWithCase, "aotifuzz replay CASE --package PACKAGE"},
     .examples = {{"subprocess.TimeoutExpired: Command '['python', 'serve.py']' timed out after 60 seconds", "Python 3.11"}, {"the package does not end within the limit, on inputs that the reference accepts", "aotifuzz"}}},
    {.id = "python-custom-op", .title = "the package calls an operator that exists in Python only", .route = Route::kOperator, .texts = {"Custom operators created via torch.library.custom_op cannot be run via AOTI without Python environment"},
     .meaning = "torch.library.custom_op registers a Python function; C++ programs have no such operator", .culprit = "how the operator is registered", .change = "write it with TORCH_LIBRARY in C++ and load that library before the package, or call the package from Python", .commands = {kInspect, kGate},
     .examples = {{"Error: Could not find schema for my::halve.. Custom operators created via torch.library.custom_op cannot be run via AOTI without Python environment.", "text of torch 2.15.0"}}},
    {.id = "missing-operator", .title = "the package calls an operator that is not registered", .route = Route::kOperator, .texts = {"Could not find schema for {op~}", "Could not find schema: {op~}", "No such operator {op~}", "'_OpNamespace' '{library~}' object has no attribute '{op~}'", "Could not run '{op~}' with arguments from the '{backend~}' backend", "Unable to find a proxy executor to run custom ops"},
     .meaning = "operators that are not torch's own must be loaded before the package: the package names them, it does not hold them", .culprit = "the library of the operator is not loaded, or has no kernel for this device", .change = "load it first: torch.ops.load_library(\"libmyops.so\"), dlopen in C++, `--ops libmyops.so` here", .commands = {"aotifuzz replay CASE --package PACKAGE --ops libmyops.so", kGate},
     .examples = {{"Error: Could not find schema for my::halve.", "torch 2.15.0, CPU"}, {"NotImplementedError: Could not run 'my::halve' with arguments from the 'CUDA' backend.", "form of the dispatcher's text"}}},
    {.id = "missing-shim", .title = "the package calls a function that this torch does not have", .texts = {"undefined symbol: {symbol~}", "it calls {symbol~}, which torch {version~} does not have", "it calls {symbol~}, which no loaded library has", "symbol lookup error: {symbol*}", "symbol not found in .so", "Error in dlopen or dlsym: {what*}", "rebuild your model with the latest AOTInductor", "version `GLIBC{version~}' not found"},
     .meaning = "package and torch are of different versions (or different C++ ABI): the interface grows, a newer package asks an older torch for what it lacks", .culprit = "the torch that runs the package is older than the one that compiled it, or a library is of another build", .change = kSameTorch, .commands = {kInspect, kDoctor},
     .examples = {{"OSError: /tmp/x.wrapper.so: undefined symbol: aoti_torch_cpu_new_thing", "form of dlopen"}, {"ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found", "Linux"}}},
    {.id = "missing-library", .title = "a shared library is not found", .texts = {"{library~}: cannot open shared object file"},
     .meaning = "the loader looked for it in LD_LIBRARY_PATH and the program's own search path", .culprit = "the custom operators' library or a library of torch or CUDA is not installed where it is looked for", .change = "give its whole path, or add its folder to LD_LIBRARY_PATH", .commands = {kDoctor},
     .examples = {{"OSError: libmyops.so: cannot open shared object file: No such file or directory", "torch 2.15.0, CPU"}}},
    {.id = "package-not-found", .title = "the package's file cannot be opened",
     .texts = {"Failed to initialize zip archive: file open failed", "Failed to initialize zip archive: file not found", "PytorchStreamReader failed reading zip archive: file open failed"},
     .meaning = "there is no file at that path, or this process may not read it: the loader does not say which", .culprit = "the path (a relative one is looked up in the folder that the process runs in, not beside the script), the file's rights, or a mount that this machine or container lacks",
     .change = "look with `ls -l` as the same user and in the same folder; give the absolute path", .commands = {kInspect},
     .examples = {{"RuntimeError: Failed to initialize zip archive: file open failed", "torch 2.15.0, CPU"}}},
    {.id = "package-damaged", .title = "the package's file is cut short, damaged or no package",
     .texts = {"Failed to initialize zip archive: {problem*}", "PytorchStreamReader failed reading zip archive: {problem*}", "cannot open as a zip archive: {problem*}"},
     .meaning = "a .pt2 is a zip archive with its table of contents at the end: a copy that stopped early has none", .culprit = "how the file came here: a download or copy that broke off, a full disk, a load while it is still written, or a pointer file of Git LFS in its place",
     .change = "compare size and sha256sum with the file that was compiled and test it with `unzip -t`; copy it again (write beside it, then rename) or compile again", .commands = {kInspect},
     .examples = {{"RuntimeError: Failed to initialize zip archive: failed finding central directory", "text of torch 2.15.0"}, {"RuntimeError: Failed to initialize zip archive: invalid header or archive is corrupted", "torch 2.15.0, CPU"},
                  {"RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", "text of torch 2.15.0"}}},
    {.id = "unresolved-constants", .title = "the package has no weights, and none were given", .route = Route::kConstants, .texts = {"Cannot find constants {name~} in constants_map", "constants_map_ was not ready", "{name~} in model, but not provided by user", "Failed to open external weights", "is not found in weights, it's likely a constant"},
     .meaning = "a package compiled with package_constants_in_so=False must be given its constants before the first call", .culprit = "the caller, or how the package was compiled", .change = "call load_constants(state, check_full_update=True) first, or compile with the constants inside", .commands = {kInspect},
     .examples = {{"Error: Cannot find constants lin_weight in constants_map!", "text of torch 2.11.0 and 2.15.0"}}},
    {.id = "deprecated-api", .title = "the package is compiled or loaded through an interface that is being removed", .texts = {"torch._export.aot_compile()/torch._export.aot_load() is being deprecated"},
     .meaning = "a bare .so has neither reference nor metadata: its device is not checked at load", .culprit = "the script that compiles or loads", .change = "use torch._inductor.aoti_compile_and_package and aoti_load_package", .commands = {},
     .examples = {{"torch._export.aot_compile()/torch._export.aot_load() is being deprecated, please switch to directly calling torch._inductor.aoti_compile_and_package", "torch 2.11.0 and 2.15.0"}}},
    {.id = "device-assert", .title = "an assertion in a kernel failed, and nothing says which", .consequence = true, .texts = {"device-side assert triggered", "CUDA_ERROR_ASSERT"},
     .meaning = "the assertion's own text goes to stderr of the process before this one: `index out of bounds: ...` in nearly all cases", .culprit = "an index, see stderr", .change = "look for `Assertion` in stderr, and give that line to `explain`", .commands = {kWithCase},
     .examples = {{"RuntimeError: CUDA error: device-side assert triggered", "tr3d#14, CUDA"}}},
    {.id = "asynchronous", .title = "an error of the device, reported by a later call", .consequence = true, .texts = {"asynchronously reported at some other API call"},
     .meaning = "the call that reports it is not the one that failed", .culprit = "an earlier launch", .change = "run with CUDA_LAUNCH_BLOCKING=1, or let `explain --case` do it", .commands = {kWithCase},
     .examples = {{"CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.", "text of torch, CUDA"}}},
    {.id = "refused", .title = "the package refused the call, and nothing says why", .consequence = true, .texts = {"{function~}( {arguments*}API call failed at "},
     .meaning = "torch 2.11 puts the cause on stderr, in a line that begins with `Error:`, and raises this", .culprit = "see stderr", .change = "give stderr of the process to `explain`", .commands = {kWithCase},
     .examples = {{"RuntimeError: run_func_( container_handle_, input_handles.data(), input_handles.size()) API call failed at /pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144", "torch 2.11.0, CPU"}}},
};
// clang-format on

}  // namespace

const std::vector<ErrorPattern>& error_patterns() { return kRows; }

const ErrorPattern* find_error_pattern(std::string_view id) {
  for (const ErrorPattern& row : kRows)
    if (id == row.id) return &row;
  return nullptr;
}

}  // namespace aotifuzz
