"""Watches inductor while it lowers a program. All that depends on a version of torch is in this file.

Nothing is changed: two methods of GraphLowering (and, where it fits, one function that names the parts of a kernel) are
wrapped for the time of one compilation, and what they saw is copied into a Lowering. A torch that does not fit gives a
message and no Lowering; the compilation itself never notices.
"""

import contextlib
import re

import sympy
import torch

from .lowering_record import Buffer, Extern, Kernel, KernelArgument, Layout, Lowering, Stored
from .post_grad_graph import dtype_name, lift_constants, plain, result_names
from .prims_as_aten import replace_prims
from .split_bias import split_biases
from .without_mutation import remove_mutation

# Extern nodes of the IR that are no call of a library function.
_NO_CALLS = {"MultiOutput", "AssertScalar", "DynamicScalar", "DynamicSliceSize", "DynamicSelectStorageOffset"}

_NO_RESULTS = {"philox_seed", "philox_offset", "rng_state", "unused", "debug_attn_mask"}


class Recorder:
    """Use as a context around one compilation; then `lowering`, or `failure` if there is none."""

    def __init__(self):
        self.lowering = None
        self.failure = "inductor generated no code: its cache had the program, or this torch works in another way"
        self.notes = []
        self._results = {}  # graph -> {fx node: what lowering gave}
        self._operations = {}  # graph -> {operation: fx node}
        self._schedules = []  # (kernel, operations)
        self._undo = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._wrap_lowering()
            self._wrap_schedule()
        except Exception as error:
            self._undo.close()
            self.failure = f"this torch ({torch.__version__}) does not fit: {type(error).__name__}: {error}"
        return self

    def __exit__(self, *exception):
        self._undo.close()
        self._results.clear()
        self._operations.clear()

    def _replace(self, owner, name, new):
        old = getattr(owner, name)
        setattr(owner, name, new)
        self._undo.callback(setattr, owner, name, old)

    def _wrap_lowering(self):
        from torch._inductor.graph import GraphLowering

        run_node, codegen = GraphLowering.run_node, GraphLowering.codegen

        def watched_run_node(graph, node):
            before = len(graph.operations)
            result = run_node(graph, node)
            self._results.setdefault(graph, {})[node.name] = result
            made = self._operations.setdefault(graph, {})
            for operation in graph.operations[before:]:
                made[operation.get_operation_name()] = node.name
            return result

        def watched_codegen(graph):
            self._schedules.clear()
            code = codegen(graph)
            if graph.cpp_wrapper and graph.aot_mode:
                self._record(graph, code)
            return code

        self._replace(GraphLowering, "run_node", watched_run_node)
        self._replace(GraphLowering, "codegen", watched_codegen)

    def _wrap_schedule(self):
        """Optional: which operations a kernel joins. Without it they are found from the buffers that it writes."""
        try:
            import torch._inductor.codegen.cpp as cpp
            import torch._inductor.codegen.triton as triton
            import torch._inductor.debug as debug

            original = debug.set_kernel_post_grad_provenance_tracing
        except (ImportError, AttributeError):
            self.notes.append("this torch does not tell which operations a kernel joins: found from the buffers instead")
            return

        def watched(node_schedule, kernel_name, *rest, **named):
            handle = original(node_schedule, kernel_name, *rest, **named)
            if isinstance(node_schedule, (list, tuple)):
                names = [node.get_name() for node in node_schedule if hasattr(node, "get_name")]
                self._schedules.append((kernel_name, names))
            return handle

        for module in (debug, cpp, triton):
            if getattr(module, "set_kernel_post_grad_provenance_tracing", None) is original:
                self._replace(module, "set_kernel_post_grad_provenance_tracing", watched)

    def _record(self, graph, code):
        try:
            if getattr(graph, "is_const_graph", False):
                self.notes.append("constants that are folded at run time are not covered")
                return
            self.lowering = _LoweringReader(graph, self._results.get(graph, {}), self._operations.get(graph, {})).read(
                self._schedules, code[0].value
            )
        except Exception as error:
            self.lowering = None
            self.failure = f"this torch ({torch.__version__}) does not fit: {type(error).__name__}: {error}"


class _LoweringReader:
    """Copies what the map needs out of a GraphLowering that has just generated its code."""

    def __init__(self, graph, results, operations):
        self.graph, self.results, self.node_of = graph, results, operations
        self.lifted, self.attributes = lift_constants(graph.module)
        self.same_memory, self.lost = remove_mutation(self.lifted.graph)
        self.lost |= replace_prims(self.lifted.graph)
        self.names = result_names(self.lifted)

    def read(self, schedules, wrapper):
        graph = self.graph
        order, writes, mutators = self._schedule()
        inputs = [name for name, value in graph.graph_inputs.items() if _stored(value) is not None]
        buffers = self._buffers()
        symbols, sources, multiples = self._symbols()
        externs, stored = self._externs(), self._stored()
        split_biases(self.lifted.graph, externs, buffers, stored)
        return Lowering(
            graph=self.lifted,
            constants=self.attributes,
            fqns=self._fqns(),
            inputs=inputs,
            stored=stored,
            buffers=buffers,
            kernels=self._kernels(schedules, symbols),
            externs=externs,
            ignored=self._ignored(),
            order=order,
            writes=writes,
            mutators=mutators,
            node_of=dict(self.node_of),
            reused={line.reused_as.get_name(): line.node.get_name() for line in self._lines("ReuseLine")},
            symbols=symbols,
            sources=sources,
            multiples=multiples,
            precomputed={str(name): value for name, value in graph.sizevars.inv_precomputed_replacements.items()},
            wrapper=wrapper,
            kernel_sources=self._kernel_sources(),
            lost=self.lost,
        )

    def _lines(self, kind):
        return [line for line in self.graph.wrapper_code.lines if type(line).__name__ == kind]

    # ---- values and buffers

    def _stored(self):
        stored = {}
        for name, result in self.results.items():
            parts = {name: result}
            if isinstance(result, (list, tuple)):
                parts = {self.names[name, index]: part for index, part in enumerate(result) if (name, index) in self.names}
            # A result of several is lowered with its operator and again where it is taken out: the latter may be kept.
            stored |= {value: where for value, where in ((v, _stored(part)) for v, part in parts.items()) if where is not None}
        stored |= {name: stored[like] for name, like in self.same_memory.items() if like in stored}
        return stored

    def _ignored(self):
        """Buffers of results that differ from run to run and nobody reads: states of random generators."""
        ignored = set()
        for node in self.lifted.graph.nodes:
            results = self.results.get(node.name)
            if not isinstance(node.target, torch._ops.OpOverload) or not isinstance(results, (list, tuple)):
                continue
            for index, (returned, result) in enumerate(zip(node.target._schema.returns, results)):
                where = _stored(result) if returned.name in _NO_RESULTS else None
                if where is not None and self.names[node.name, index].endswith(f"_unused_{index}"):
                    ignored.add(where.buffer)
        return ignored

    def _buffers(self):
        graph, buffers = self.graph, {}
        for name, value in graph.graph_inputs.items():
            where = _stored(value)
            if where is not None:
                buffers[name] = Buffer(name, where.dtype, where.layout)
        for name, tensor in graph.constants.items():
            layout = Layout(list(tensor.shape), list(tensor.stride())) if tensor.layout == torch.strided else None
            buffers[name] = Buffer(name, dtype_name(tensor.dtype), layout)
        for name, node in graph.name_to_buffer.items():
            if name not in graph.removed_buffers and name not in buffers:
                buffers[name] = self._buffer(name, node)
        return buffers

    def _buffer(self, name, node):
        buffer = Buffer(name, origins=sorted(origin.name for origin in node.get_origins()))
        defining = node.get_defining_op()
        if defining is not None:
            buffer.made_by = self.node_of.get(defining.get_operation_name(), "")
        kind = type(node.layout).__name__
        if kind == "MutationLayoutSHOULDREMOVE":
            buffer.alias_of = node.layout.get_buffer().get_name()
        elif kind not in ("NoneLayout", "MultiOutputLayout"):
            layout = node.get_layout()
            buffer.dtype = dtype_name(node.get_dtype())
            buffer.layout = Layout([plain(s) for s in layout.size], [plain(s) for s in layout.stride], plain(layout.offset))
            if kind == "NonOwningLayout":
                parent = _stored(layout.view)
                buffer.alias_of = parent.buffer if parent is not None else ""
        self._read_reduction(buffer, getattr(node, "data", None))
        if type(node).__name__ == "ConcatKernel":
            buffer.pieces = [piece.get_name() for piece in node.inputs]
        return buffer

    @staticmethod
    def _read_reduction(buffer, data):
        if not hasattr(data, "reduction_type"):
            return
        buffer.reduction = data.reduction_type
        buffer.reduced = sympy.prod(data.reduction_ranges)
        buffer.result = getattr(data, "output_index", None)

    # ---- calls

    def _schedule(self):
        order, writes, mutators = {}, {}, {}
        for position, fused in enumerate(self.graph.scheduler.nodes):
            for node in fused.get_nodes():
                name = node.get_name()
                order[name] = position
                writes[name] = [output.get_name() for output in node.get_outputs()]
                changed = [target for output in node.get_outputs() for target in output.get_mutations()]
                if not changed and hasattr(node.node, "get_mutation_names"):
                    changed = list(node.node.get_mutation_names())
                for target in changed:
                    mutators.setdefault(target, []).append(name)
        return order, writes, mutators

    def _kernels(self, schedules, symbols):
        definitions = {line.kernel_name: line.cpp_definition for line in self._lines("KernelDefinitionLine")}
        told = {}
        for name, operations in schedules:
            told.setdefault(name, []).append(operations)
        kernels = []
        for line in self._lines("KernelCallLine"):
            if line.triton:
                arguments, launch = _triton_arguments(line, symbols)
            else:
                arguments, launch = _cpp_arguments(line, definitions.get(line.kernel_name), symbols), None
            operations = told[line.kernel_name].pop(0) if told.get(line.kernel_name) else None
            written_by_user = line.triton and bool(told) and operations is None
            kernels.append(Kernel(line.kernel_name, arguments, operations, line.triton, launch, written_by_user))
        return kernels

    def _kernel_sources(self):
        """Text of the kernels that the package holds only as machine code."""
        launched = {line.kernel_name for line in self._lines("KernelCallLine") if line.triton}
        return {line.kernel_name: str(line.kernel_body) for line in self._lines("KernelDefinitionLine") if line.kernel_name in launched}

    def _externs(self):
        children = {}
        for buffer in self.graph.buffers:
            if type(buffer).__name__ == "MultiOutput" and buffer.inputs:
                children.setdefault(buffer.inputs[0].get_name(), []).append(buffer.get_name())
        externs = []
        for fused in self.graph.scheduler.nodes:
            for scheduled in fused.get_nodes():
                node = scheduled.node
                if not scheduled.is_extern() or scheduled.is_template() or type(node).__name__ in _NO_CALLS:
                    continue
                externs.append(self._extern(node, children))
        return externs

    def _extern(self, node, children):
        operation, origin = node.get_operation_name(), node.get_origin_node()
        made_for = self.node_of.get(operation) or (origin.name if origin is not None else "")
        outputs = [name for output in node.get_outputs() for name in children.get(output.get_name(), [output.get_name()])]
        inputs = [_stored(part) for given in getattr(node, "inputs", None) or [] for part in _flat(given)]
        inputs = [where for where in inputs if where is not None]
        kernel = str(getattr(node, "cpp_kernel_name", None) or getattr(node, "python_kernel_name", None) or "")
        mutated = list(node.get_mutation_names()) if hasattr(node, "get_mutation_names") else []
        self._name_closure(node, made_for)
        return Extern(operation, made_for, kernel, inputs, outputs, mutated, self._tensors_given(made_for, inputs))

    def _tensors_given(self, node_name, inputs):
        """The tensors among the graph node's arguments, if there are as many as the library function gets."""
        node = next((n for n in self.lifted.graph.nodes if n.name == node_name), None)
        if node is None:
            return []
        given = list(node.args)
        if isinstance(node.target, torch._ops.OpOverload):
            given += [node.kwargs[a.name] for a in node.target._schema.arguments if a.name in node.kwargs]
        tensors = [part.name for part in _flat(given) if isinstance(part, torch.fx.Node) and isinstance(part.meta.get("val"), torch.Tensor)]
        return tensors if len(tensors) == len(inputs) else []

    def _name_closure(self, node, made_for):
        """Patterns of inductor leave Python functions in the graph: the IR knows the operator that they stand for."""
        target = getattr(node, "op_overload", None)
        if not isinstance(target, torch._ops.OpOverload):
            return
        for copy in self.lifted.graph.nodes:
            if copy.name == made_for and copy.op == "call_function" and not isinstance(copy.target, torch._ops.OpOverload):
                tensors = [arg for arg in _flat(list(copy.args)) if isinstance(arg, torch.fx.Node)]
                copy.target, copy.args, copy.kwargs = target, (*tensors, *node.constant_args), {}

    # ---- names

    def _fqns(self):
        graph, fqns = self.graph, {}
        for placeholder in self.attributes:
            name = placeholder if placeholder in graph.constants else self._constant_like(self.attributes[placeholder])
            if name is not None:
                flat = graph.allocated_constant_name.get(name, name)
                fqns[placeholder] = (name, graph.dynamo_flat_name_to_original_fqn.get(flat, flat))
        return fqns

    def _constant_like(self, tensor):
        """The package's name of a constant that the graph holds under another one."""
        return next((name for name, value in self.graph.constants.items() if value is tensor), None)

    def _symbols(self):
        symbols, sources, multiples = {}, {}, {}
        tensors = [where for where in map(_stored, self.graph.graph_inputs.values()) if where is not None]
        for index, where in enumerate(tensors):
            for kind, expressions in (("dim", where.layout.size), ("stride", where.layout.stride)):
                for position, expression in enumerate(expressions):
                    if isinstance(expression, sympy.Symbol):
                        sources.setdefault(expression.name, {"input": index, kind: position})
                    elif kind == "dim" and isinstance(expression, sympy.Mul):
                        by, rest = expression.as_coeff_Mul()
                        if isinstance(rest, sympy.Symbol):
                            multiples.setdefault(rest.name, {"input": index, "dim": position, "by": int(by)})
        for expression in self._expressions():
            for symbol in getattr(expression, "free_symbols", ()):
                symbols[symbol.name] = symbol
        return symbols, sources, {name: source for name, source in multiples.items() if name not in sources}

    def _expressions(self):
        for node in self.lifted.graph.nodes:
            value = node.meta.get("val")
            for part in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(part, torch.Tensor):
                    yield from map(plain, part.shape)
                elif isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                    yield part.node.expr
        yield from self.graph.sizevars.inv_precomputed_replacements
        yield from self.graph.sizevars.inv_precomputed_replacements.values()


def _stored(result):
    """Where a result of lowering lies; None if it is inlined in its users, or no tensor."""
    from torch._inductor import ir

    while isinstance(result, (ir.TensorBox, ir.StorageBox)):
        result = result.data
    layout, buffer = None, result
    if isinstance(result, ir.ReinterpretView):
        layout, buffer = result.layout, result.data
        while isinstance(buffer, (ir.TensorBox, ir.StorageBox)):
            buffer = buffer.data
    if not isinstance(buffer, ir.Buffer) or isinstance(buffer.layout, (ir.NoneLayout, ir.MultiOutputLayout)):
        return None
    layout = layout or buffer.get_layout()
    sizes, strides = [plain(s) for s in layout.size], [plain(s) for s in layout.stride]
    return Stored(buffer.get_name(), Layout(sizes, strides, plain(layout.offset)), dtype_name(layout.dtype))


def _flat(value):
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _number(text, symbols):
    text = str(text)
    return symbols[text] if text in symbols else sympy.sympify(text, locals=symbols)


def _cpp_arguments(line, definition, symbols):
    names = re.findall(r"(\w+)\s*(?:,|\)\s*;?\s*$)", definition[definition.index("(") :]) if definition else []
    arguments = []
    for index, (given, c_type) in enumerate(zip(line.call_args, line.arg_types)):
        name = names[index] if len(names) == len(line.call_args) else ""
        argument = KernelArgument(name, c_type)
        if "*" in c_type:
            argument.buffer = str(given)
            argument.role = "in" if c_type.startswith("const") else "inout" if name.startswith("in_out") else "out"
        elif "float" in c_type or "double" in c_type:
            argument.role = "other"
        else:
            argument.role, argument.expression = "size", _number(given, symbols)
        arguments.append(argument)
    return arguments


def _triton_arguments(line, symbols):
    """Arguments of the launch itself, and what else is known of it. The wrapper's call has more: sizes that were found to
    be 1 are compiled in. Numbers and pointers that no argument of the call stands for (scratch space) come last.
    """
    from torch._inductor.codecache import CudaKernelParamCache

    compiled = CudaKernelParamCache.get(line.kernel_name) or {}
    meta = compiled.get("triton_meta") or line.triton_meta or {}
    signature, constants = meta.get("signature", {}), meta.get("constants", {})
    names = compiled.get("def_args") or [name for name, kind in signature.items() if kind != "constexpr"]
    launched = [name for name in compiled.get("call_args", names) if name not in constants]
    given = dict(zip(names, line.call_args))
    changed = set((compiled.get("inductor_meta") or line.inductor_meta or {}).get("mutated_arg_names", ()))
    arguments = []
    for name in launched:
        argument = KernelArgument(name, str(signature.get(name, "")))
        if argument.c_type.startswith("*"):
            argument.buffer, argument.role = str(given.get(name)), _triton_role(name, changed)
        else:
            argument.role, argument.expression = _triton_number(given.get(name), symbols)
        arguments.append(argument)
    launch = {key: compiled.get(key) for key in ("mangled_name", "num_warps", "shared_mem") if key in compiled}
    scratch = [key for key in ("global_scratch", "profile_scratch") if compiled.get(key) is not None]
    return arguments, {**launch, "arguments": [*launched, *scratch], "known": bool(compiled)}


def _triton_role(name, changed):
    if name.startswith("in_out") or (name in changed and name.startswith("in")):
        return "inout"
    return "out" if name.startswith("out") or name in changed else "in"


def _triton_number(given, symbols):
    given = getattr(given, "inner_expr", given)
    if isinstance(given, (int, sympy.Expr)) and not isinstance(given, bool):
        return "size", given
    try:
        number = _number(given, symbols)
    except (TypeError, ValueError, SyntaxError, AttributeError, sympy.SympifyError):
        return "other", None
    return ("size", number) if isinstance(number, sympy.Expr) and not number.is_Float else ("other", None)
