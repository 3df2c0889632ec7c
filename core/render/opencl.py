"""OpenCL C: what OpenCL devices compile. Of version 1.2, which every one of them has.

float16, bfloat16 and 8-bit floats are kept as their bits; a bool is a byte. Of an image, a kernel
reads or writes texels; outside of it, it reads 0. Products are added in
one step only where the program says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import AddrSpace, dtypes
from core.render.c_lines.dialect import SUFFIXES, Dialect, Images
from core.render.c_lines.function import render_with
from core.render.listing import Listing
from core.render.rendered import Rendered
from core.target import Target
from core.uop.uop import UOp

PREFIX: Final = "kernel_"
"""Before the name of a kernel, which may be that of a function of the language."""

DIALECT: Final = Dialect(
    language="opencl",
    header=("#pragma OPENCL FP_CONTRACT OFF",),
    kernel="__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void " + PREFIX,
    helper="static",
    restrict="restrict",
    types={
        "bool": "uchar", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort",
        "int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong",
        "float16": "ushort", "bfloat16": "ushort", "fp8e4m3": "uchar", "fp8e5m2": "uchar",
        "float32": "float", "float64": "double",
    },
    struct="",
    literal="({name})({values})",
    bitcast="as_{target}(({source})({x}))",
    vector="{type}{count}",
    element="{x}.s{lane:x}",
    spaces={AddrSpace.GLOBAL: "__global ", AddrSpace.LOCAL: "__local "},
    bits=frozenset({"float16", "bfloat16", "fp8e4m3", "fp8e5m2"}),
    suffixes={**SUFFIXES, "int64": "l", "uint64": "ul"},
    float_functions="",
    shared="__local __attribute__((aligned({align})))",
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    special={"gidx": "get_group_id({number})", "lidx": "get_local_id({number})"},
    images=Images(
        header="__constant sampler_t texels = "
        "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;",
        reads="__read_only image2d_t {name}",
        writes="__write_only image2d_t {name}",
        load="read_imagef({image}, texels, (int2)({x}, {y}))",
        store="write_imagef({image}, (int2)({x}, {y}), {value});",
    ),
    aligned=True,
    needs={"float64": ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable",)},
)  # fmt: skip


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """An OpenCL kernel. Raises RenderError for a node that OpenCL C has no text for, and for
    float64 where the target does not have it."""
    lacking = None if target.supports(dtypes.float64) else next(filter(_is_double, uops), None)
    if lacking is not None:
        raise Listing(uops, name, DIALECT.language).error(
            "this device has no float64",
            lacking,
            "compute in float32 (.float()), or run this kernel on another device",
        )
    return render_with(DIALECT, uops, name)


def _is_double(u: UOp) -> bool:
    return u.dtype.base.scalar() is dtypes.float64
