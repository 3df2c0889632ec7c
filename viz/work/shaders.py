"""A kernel for the GPU of a browser: its WGSL, how it is launched, and what it should compute.

Inputs are generated (`core/runtime/reference/generated.py`), so that a page, also an exported file,
makes the same ones. Runs nothing but the reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import RunError
from core.helpers import ceildiv
from core.prove.rounding import of_result
from core.render.wgsl_lines.layout import FACT
from core.runtime.numeric import Array, from_memory
from core.runtime.reference.generated import bounds_of, generated, mix
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.spans import index_spans
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
    stored, rounded = outputs_of(ast), summed_products(ast)
    said: list[Data] = []
    held: list[Array] = []
    for number_, pointer in enumerate(arguments(ast)):
        dtype, size = pointer.dtype.base, int(cast("Any", pointer.dtype).size)
        span = spans.get(number_)
        is_float = dtypes.is_float(dtype)
        said.append(
            {
                "number": number_,
                "name": f"data{number_}",
                "dtype": dtype.name,
                "size": size,
                "shape": list(shape_of(ast, number_, size)),
                "table": list(rows_and_columns(ast, number_, size)),
                "written": number_ in stored,
                "allowed": of_result((dtype.name, *rounded), 1.0) if is_float else 0,
                "span": None if span is None or is_float else list(bounds_of(dtype, span)),
            }
        )
    why = _too_much(plain)
    expected: list[Data] | None = None
    if not why:
        held = [
            generated(n, p.dtype.base, int(cast("Any", p.dtype).size), spans.get(n))
            for n, p in enumerate(arguments(ast))
        ]
        try:
            evaluate_kernel(ast, held, variables, 4 * MOST_BYTES)
            expected = [_sampled(n, held[n], ast) for n in stored]
        except RunError as error:
            why = error.what
    return {
        "name": made.name,
        "arguments": said,
        "variables": [{"name": n, "value": v} for n, v in variables.items()],
        "made": _shader(made, variables, target),
        "plain": _shader(plain, variables, target),
        "expected": expected,
        "why": why,
        "flops": made.flops,
        "bytes": made.bytes,
    }


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
    launch = json.loads(program.source.facts[FACT])
    bindings: list[Data] = []
    for one in launch["bindings"]:
        kind = "storage" if one["written"] else "read-only-storage"
        bindings.append(_binding(one["binding"], kind, _bytes(one), [_part(one["argument"], 0)]))
    if (packed := launch["packed"]) is not None:
        parts = [_part(one["argument"], 4 * one["word"]) for one in packed["arguments"]]
        bindings.append(_binding(packed["binding"], "storage", 4 * packed["words"], parts))
    x, y, z = program.groups(variables)
    if (uniform := launch["uniform"]) is not None:
        words = [variables[name] for name in uniform["variables"]]
        words += [x, y, z] if uniform["grid"] else []
        values = [{"argument": None, "value": w, "offset": 4 * i} for i, w in enumerate(words)]
        bindings.append(_binding(uniform["binding"], "uniform", 4 * len(words), values))
    if launch["folded"]:
        most = target.groups_max
        x, y, z = min(x * y * z, most), ceildiv(x * y * z, most), 1
    return {
        "text": program.source.text,
        "entry": launch["entry"],
        "opts": None,
        "groups": [x, y, z],
        "bindings": bindings,
        "features": launch.get("features", []),
        "limits": launch.get("limits", {}),
    }


def _binding(at: int, kind: str, taken: int, parts: list[Data]) -> Data:
    return {"binding": at, "kind": kind, "bytes": taken, "parts": parts}


def _part(argument: int, offset: int) -> Data:
    return {"argument": argument, "value": None, "offset": offset}


def _bytes(argument: Mapping[str, Any]) -> int:
    dtype = getattr(dtypes, argument["dtype"])
    return 4 * ceildiv(int(argument["elements"]) * dtype.itemsize, 4)
