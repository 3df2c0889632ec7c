"""HIP C++ for AMD GPUs: what people read, and what hiprtc compiles where it is present."""

from __future__ import annotations

from collections.abc import Sequence

from core.render.c_lines.dialect import TYPES, Dialect
from core.render.c_lines.function import render_with
from core.render.c_lines.matrix import hip_product
from core.render.rendered import Rendered
from core.target import Target
from core.uop.uop import UOp

DIALECT = Dialect(
    language="hip",
    header=("#include <hip/hip_runtime.h>",),
    kernel='extern "C" __global__ void __launch_bounds__({threads}) ',
    helper="__device__ inline",
    restrict="__restrict__",
    types={**TYPES, "float16": "_Float16", "bfloat16": "__bf16"},
    struct="struct __align__({align}) {name} {{ {type} v[{count}]; }};",
    literal="{name}{{{{{values}}}}}",
    bitcast="__builtin_bit_cast({target}, {x})",
    shared="__shared__ __align__({align})",
    barrier="__syncthreads();",
    special={"gidx": "blockIdx.{axis}", "lidx": "threadIdx.{axis}"},
    shuffle="__shfl_xor({x}, {mask})",
    aligned=True,
    product=hip_product,
)


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A HIP kernel. Raises RenderError for a node that HIP C++ has no text for."""
    return render_with(DIALECT, uops, name)
