"""A kernel for the GPU of a browser: its WGSL, how it is launched, and what it should compute.

Inputs are generated (`core/runtime/reference/generated.py`), so that a page, also an exported file,
makes the same ones. Runs nothing but the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from core.compile import compile_kernel
from core.dtype import DType, PtrDType, dtypes
from core.errors import RunError
from core.helpers import ceildiv
from core.prove.samples.rounding import of_result
from core.render.wgsl_lines.launch import Argument, launch_in
from core.runtime.numeric import Array, from_memory
from core.runtime.reference.generated import bounds_of, generated, mix
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.spans import Span, index_spans
from core.target import Target, target_named
from core.toolchain.program import Program
from core.trial.difference import summed_products
from core.trial.table import number, rows_and_columns, shape_of
from core.trial.trial import arguments, largest_variables, outputs_of
from core.uop.uop import UOp
from viz.work.change import Change

TARGET: Final = "webgpu"
SAMPLED: Final = 64
"""Elements of each output whose value is stated."""
MOST_FLOPS: Final = 1 << 26
"""Operations of a kernel that the reference is asked about."""
MOST_BYTES: Final = 1 << 26
Data = dict[str, Any]


def shaders_of(ast: UOp, change: Change) -> Data:
    """`Shaders` of the page. Raises UopvizError where the kernel cannot be compiled for WebGPU."""
    target = target_named(TARGET)
    made = change.compiled(ast, target, TARGET)
    plain = compile_kernel(ast, target, ())
    variables = largest_variables(ast)
    spans = index_spans(ast.toposort())
    expected, why = _expected(ast, plain, variables, spans)
    return {
        "name": made.name,
        "arguments": _arguments(ast, spans),
        "variables": [{"name": n, "value": v} for n, v in variables.items()],
        "made": _shader(made, variables, target),
        "plain": _shader(plain, variables, target),
        "expected": expected,
        "why": why,
        "flops": made.flops,
        "bytes": made.bytes,
    }


def _arguments(ast: UOp, spans: Mapping[int, Span]) -> list[Data]:
    """Every pointer argument as `ShaderArgument` of the page."""
    stored, rounded = outputs_of(ast), summed_products(ast)
    rows: list[Data] = []
    for at, pointer in enumerate(arguments(ast)):
        dtype, size, span = pointer.dtype.base, _size_of(pointer), spans.get(at)
        is_float = dtypes.is_float(dtype)
        rows.append(
            {
                "number": at,
                "name": f"data{at}",
                "dtype": dtype.name,
                "size": size,
                "shape": list(shape_of(ast, at, size)),
                "table": list(rows_and_columns(ast, at, size)),
                "written": at in stored,
                "allowed": of_result((dtype.name, *rounded), 1.0) if is_float else 0,
                "span": None if span is None or is_float else list(bounds_of(dtype, span)),
            }
        )
    return rows


def _size_of(pointer: UOp) -> int:
    assert isinstance(pointer.dtype, PtrDType)
    return pointer.dtype.size


def _expected(
    ast: UOp, plain: Program, variables: Mapping[str, int], spans: Mapping[int, Span]
) -> tuple[list[Data] | None, str]:
    """What the reference computes on generated inputs; or None, and why it was not asked."""
    if why := _too_much(plain):
        return None, why
    memory = [
        generated(at, pointer.dtype.base, _size_of(pointer), spans.get(at))
        for at, pointer in enumerate(arguments(ast))
    ]
    try:
        evaluate_kernel(ast, memory, variables, 4 * MOST_BYTES)
    except RunError as error:
        return None, error.what
    return [_sampled(at, memory[at], ast) for at in outputs_of(ast)], ""


def _too_much(program: Program) -> str:
    """Why the reference is not asked; "" where it is."""
    taken = sum(dtype.itemsize * size for dtype, size in program.globals)
    if program.flops > MOST_FLOPS or taken > MOST_BYTES:
        return "this kernel takes the reference too long"
    return ""


def _sampled(output: int, values: Array, ast: UOp) -> Data:
    """Some elements of an output: the first, the last, and others by chance."""
    chance = mix(np.arange(SAMPLED, dtype=np.uint32)) % np.uint32(max(1, values.size))
    at = sorted({0, values.size - 1, *map(int, chance)})[: SAMPLED + 2] if values.size else []
    dtype = arguments(ast)[output].dtype.base
    found = from_memory(values[at], dtype).astype(np.float64)
    return {"argument": output, "at": at, "values": [number(float(x)) for x in found]}


def _shader(program: Program, variables: Mapping[str, int], target: Target) -> Data:
    """`Shader` of the page: the text, and its launch with these values of variables."""
    launch = launch_in(program.source.facts)
    bindings: list[Data] = []
    for one in launch.bindings:
        kind = "storage" if one.written else "read-only-storage"
        bindings.append(_binding(one.binding, kind, _bytes(one), [_part(one.argument, 0)]))
    if (packed := launch.packed) is not None:
        parts = [_part(one.argument, 4 * one.word) for one in packed.arguments]
        bindings.append(_binding(packed.binding, "storage", 4 * packed.words, parts))
    x, y, z = program.groups(variables)
    if (uniform := launch.uniform) is not None:
        words = [variables[name] for name in uniform.variables]
        words += [x, y, z] if uniform.grid else []
        values = [{"argument": None, "value": w, "offset": 4 * i} for i, w in enumerate(words)]
        bindings.append(_binding(uniform.binding, "uniform", 4 * len(words), values))
    if launch.folded:
        most = target.groups_max
        x, y, z = min(x * y * z, most), ceildiv(x * y * z, most), 1
    return {
        "text": program.source.text,
        "entry": launch.entry,
        "opts": None,
        "groups": [x, y, z],
        "bindings": bindings,
    }


def _binding(at: int, kind: str, taken: int, parts: list[Data]) -> Data:
    return {"binding": at, "kind": kind, "bytes": taken, "parts": parts}


def _part(argument: int, offset: int) -> Data:
    return {"argument": argument, "value": None, "offset": offset}


def _bytes(argument: Argument) -> int:
    dtype: DType = getattr(dtypes, argument.dtype)
    return 4 * ceildiv(argument.elements * dtype.itemsize, 4)
