"""CUDA C++ for NVIDIA GPUs: for reading, and for NVRTC where it is present."""

from __future__ import annotations

from collections.abc import Sequence

from core.render.c_lines.dialect import TYPES, Dialect
from core.render.c_lines.function import render_with
from core.render.c_lines.matrix import cuda_matrices, cuda_product
from core.render.rendered import Rendered
from core.target import Target
from core.uop.uop import UOp

DIALECT = Dialect(
    language="cuda",
    header=("#include <cuda_fp16.h>", "#include <cuda_bf16.h>"),
    kernel='extern "C" __global__ void __launch_bounds__({threads}) ',
    helper="__device__ inline",
    restrict="__restrict__",
    types={**TYPES, "float16": "half", "bfloat16": "__nv_bfloat16"},
    struct="struct __align__({align}) {name} {{ {type} v[{count}]; }};",
    literal="{name}{{{{{values}}}}}",
    bitcast="__builtin_bit_cast({target}, {x})",
    shared="__shared__ __align__({align})",
    barrier="__syncthreads();",
    special={"gidx": "blockIdx.{axis}", "lidx": "threadIdx.{axis}"},
    shuffle="__shfl_xor_sync(0xffffffffu, {x}, {mask})",
    aligned=True,
    product=cuda_product,
    matrices=cuda_matrices,
    infinity="__int_as_float(0x7f800000)",  # NVRTC has no <math.h>
    nan="__int_as_float(0x7fffffff)",
)


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A CUDA kernel. Raises RenderError for a node that CUDA C++ has no text for."""
    return render_with(DIALECT, uops, name)
