"""`Target`: what a device can do, as data. Passes read it and never ask which it is; only
renderers and compilers are chosen by its `family` and `arch`.

Holds no code for any device. Figures come from the vendors' manuals: CUDA C++ Programming Guide
(compute capabilities), AMD RDNA3 and CDNA3 instruction set architecture guides, and of WebGPU and
OpenCL from their specifications (default limits; minimum of the full profile).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from core.dtype import IMAGE_SIDE, DType, dtypes
from core.errors import DeviceError
from core.tensor_cores import TensorCore, amd_tensor_cores, nvidia_tensor_cores
from core.uop.ops import GroupOp, Ops

Family = Literal["cpu", "nvidia", "amd", "webgpu", "opencl"]

_transcendental = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW, Ops.THREEFRY})

OF_A_DEVICE: Final = ("buffers", "image_side", "images_read", "images_written")
"""Fields in which devices of a target may have more than the target."""
COPIED: Final = (4, 8, 16)
"""Bytes that asynchronous copies are made of, where there are any."""


@dataclass(frozen=True)
class Target:
    """One kind of device that code can be made for.

    `vector_bytes`: widest load or store of one thread; `alu_lanes(dtype)`: lanes of one arithmetic
    instruction (1: only scalars); `registers`: values of 4 bytes that an inner loop may keep;
    `shared_bytes`: shared memory of one work group;
    `unsupported`: dtypes it has no arithmetic for; `convertible`: those of them that it converts to
    float32 and back; `ops`: what it has instructions for, so that nothing calls a library;
    `triple`, `processor`: what LLVM calls it, where LLVM makes its code;
    `requires`: the features, by LLVM's names, that a processor needs to run its code;
    `features`: those of them that LLVM is told, as the processor's name does not say them;
    `nan_max`: its maximum of floats up to 32 bits is NaN where an operand is;
    `image_side`: texels of the longest side of an image that it reads and writes texels of (0: it
    has plain memory for all); `images_read`, `images_written`: how many arguments of a kernel may
    be images that it reads, and that it writes, where the others are plain memory;
    `zero_outside`: it reads 0 outside of an image;
    `lane_gates`: a vector load may have a gate for each of its lanes;
    `async_bytes`: how many bytes it copies from global to shared memory while the thread goes on;
    `ldmatrix`: a warp loads matrices of 8 x 8 elements of 16 bits from shared memory together;
    `buffers`: how many arguments of a kernel may be memory of their own, of which the last then
    holds all others (0: any number);
    `groups_max`: work groups of one launch along a dimension, where larger grids are folded into
    several (0: they are not);
    `reassociates`: its compilers may take sums of floats apart and put them together otherwise;
    `wave`: threads that run in lockstep (a warp), 1 where there are none;
    `tensor_cores`: its matrix instructions, the best of each pair of dtypes first.
    """

    name: str
    family: Family
    arch: str
    title: str
    ops: frozenset[Ops]
    vector_bytes: int
    simd_bytes: int = 0
    registers: int = 64
    unsupported: frozenset[DType] = frozenset()
    convertible: frozenset[DType] = frozenset()
    triple: str = ""
    processor: str = ""
    requires: frozenset[str] = frozenset()
    features: str = ""
    has_local: bool = False
    shared_bytes: int = 0
    global_max: tuple[int, ...] = ()
    local_max: tuple[int, ...] = ()
    threads_max: int = 1
    has_fma: bool = True
    nan_max: bool = False
    lane_gates: bool = False
    image_side: int = 0
    images_read: int = 0
    images_written: int = 0
    zero_outside: bool = False
    async_bytes: frozenset[int] = frozenset()
    ldmatrix: bool = False
    buffers: int = 0
    groups_max: int = 0
    reassociates: bool = False
    wave: int = 1
    tensor_cores: tuple[TensorCore, ...] = ()

    def __repr__(self) -> str:
        return f"Target({self.name})"

    def runs(self, other: Target) -> bool:
        """Whether a device of this target runs code for `other`: for the same, or for one with less
        of what devices of a target differ in."""
        less = all(getattr(other, name) <= getattr(self, name) for name in OF_A_DEVICE)
        return less and self.resembles(other)

    def resembles(self, other: Target) -> bool:
        """Whether both are alike but for what devices of a target differ in."""
        return replace(other, **{name: getattr(self, name) for name in OF_A_DEVICE}) == self

    def alu_lanes(self, dtype: DType) -> int:
        """How many elements of `dtype` one arithmetic instruction takes; at least 1."""
        return max(1, self.simd_bytes // dtype.scalar().itemsize)

    def vector_lanes(self, dtype: DType) -> int:
        """How many elements of `dtype` one thread loads or stores at once; at least 1."""
        return max(1, self.vector_bytes // dtype.scalar().itemsize)

    def supports(self, dtype: DType) -> bool:
        """Whether it has arithmetic for `dtype`."""
        return dtype.scalar() not in self.unsupported

    def converts(self, dtype: DType) -> bool:
        """Whether it has instructions between `dtype` and float32."""
        return self.supports(dtype) or dtype.scalar() in self.convertible


_fp8 = frozenset(dtypes.fp8s)
_common_ops = (GroupOp.ALU - _transcendental) | {Ops.CAST, Ops.BITCAST}
_cpu_ops = _common_ops
_ptx_ops = _common_ops | {Ops.EXP2, Ops.LOG2, Ops.SIN}
_amd_ops = _common_ops | {Ops.EXP2, Ops.LOG2, Ops.SIN}


_webgpu_ops = _common_ops - {Ops.MULACC}


# The levels of the x86-64 psABI, each with those below it, in LLVM's words.
_v2: Final = frozenset({"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf"})
_v3: Final = _v2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_v4: Final = _v3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


_X86: Final = "x86_64-unknown-linux-gnu"
_ARM: Final = "aarch64-unknown-linux-gnu"


def _cpu(
    name: str,
    title: str,
    simd: int,
    registers: int,
    processor: str,
    requires: frozenset[str] = frozenset(),
    triple: str = _X86,
) -> Target:
    """Leaves out what a level of x86-64 has no instruction for: TRUNC needs SSE4.1, fused
    multiply-add needs FMA, conversion of float16 needs F16C."""
    x86 = triple == _X86
    return Target(
        name,
        "cpu",
        name,
        title,
        _cpu_ops - {Ops.TRUNC} if x86 and "sse4.1" not in requires else _cpu_ops,
        vector_bytes=64,
        simd_bytes=simd,
        lane_gates=True,
        registers=registers,
        unsupported=_fp8 | {dtypes.bfloat16, dtypes.float16},
        convertible=frozenset({dtypes.float16} if not x86 or "f16c" in requires else ()),
        triple=triple,
        processor=processor,
        requires=requires,
        has_fma=not x86 or "fma" in requires,
    )


def _nvidia(cc: int, shared_kb: int, title: str) -> Target:
    old = cc < 80
    return Target(
        f"sm_{cc}",
        "nvidia",
        f"sm_{cc}",
        title,
        _ptx_ops,
        vector_bytes=16,
        registers=128,
        unsupported=_fp8 | ({dtypes.bfloat16} if old else frozenset()),
        has_local=True,
        shared_bytes=shared_kb * 1024,
        global_max=(2147483647, 65535, 65535),
        local_max=(1024, 1024, 64),
        threads_max=1024,
        nan_max=not old,
        async_bytes=frozenset(() if old else COPIED),
        ldmatrix=True,
        wave=32,
        tensor_cores=nvidia_tensor_cores(cc),
    )


def _amd(arch: str, title: str, wave: int) -> Target:
    return Target(
        arch,
        "amd",
        arch,
        title,
        _amd_ops,
        vector_bytes=16,
        registers=128,
        unsupported=_fp8 | {dtypes.bfloat16},
        has_local=True,
        shared_bytes=64 * 1024,
        global_max=(2147483647, 65535, 65535),
        local_max=(1024, 1024, 1024),
        threads_max=1024,
        triple="amdgcn-amd-amdhsa",
        processor=arch,
        wave=wave,
        tensor_cores=amd_tensor_cores[arch],
    )


_WEBGPU: Final = Target(
    "webgpu",
    "webgpu",
    "webgpu",
    "WebGPU, default limits",
    _webgpu_ops,
    vector_bytes=16,
    registers=64,
    unsupported=_fp8
    | {dtypes.bfloat16, dtypes.float16, dtypes.float64, dtypes.int64, dtypes.uint64},
    has_local=True,
    shared_bytes=16 * 1024,
    global_max=(2147483647, 65535, 65535),
    local_max=(256, 256, 64),
    threads_max=256,
    has_fma=False,
    buffers=8,
    groups_max=65535,
    reassociates=True,
)
"""What every adapter has: limits of the specification, and no optional feature. Images are plain
memory, so that a page needs only buffers; the device has textures."""


def _opencl(name: str, title: str, lacks: frozenset[DType] = frozenset()) -> Target:
    """Half precision is computed with in float32: OpenCL only has to store it."""
    return Target(
        name,
        "opencl",
        name,
        title,
        _common_ops,
        vector_bytes=16,
        registers=64,
        unsupported=_fp8 | {dtypes.bfloat16, dtypes.float16} | lacks,
        image_side=IMAGE_SIDE,
        images_read=128,
        images_written=8,
        zero_outside=True,
        has_local=True,
        shared_bytes=32 * 1024,
        global_max=(2147483647, 65535, 65535),
        local_max=(256, 256, 64),
        threads_max=256,
    )


_HEXAGON: Final = Target(
    "hexagon",
    "cpu",
    "hexagon",
    "Hexagon DSP with 1024-bit vectors (HVX)",
    _cpu_ops - {Ops.TRUNC},
    vector_bytes=128,
    simd_bytes=128,
    registers=32,
    lane_gates=True,
    unsupported=_fp8 | {dtypes.bfloat16, dtypes.float16, dtypes.float64},
    triple="hexagon-unknown-linux-musl",
    processor="hexagonv68",
    features="+hvxv68,+hvx-length128b",
    has_fma=False,
)
"""Its code is made and compiled; nothing here runs it. A division is a call of LLVM's runtime."""


_all: Final = (
    _cpu("x86-64", "x86-64 with 256-bit vectors (level v3)", 32, 16, "x86-64-v3", _v3),
    _cpu("x86-64-v4", "x86-64 with 512-bit vectors", 64, 32, "x86-64-v4", _v4),
    _cpu("x86-64-v2", "x86-64 with SSE4.2: no FMA, no F16C", 16, 16, "x86-64-v2", _v2),
    _cpu("x86-64-v1", "x86-64 with SSE2 only, the baseline", 16, 16, "x86-64"),
    _cpu("aarch64", "ARM 64-bit", 16, 32, "generic", triple=_ARM),
    _cpu(
        "aarch64-amx",
        "ARM 64-bit of Apple, vectors as wide as registers of AMX",
        64,
        32,
        "apple-m1",
        frozenset({"amx"}),
        _ARM,
    ),
    _HEXAGON,
    _nvidia(75, 48, "NVIDIA Turing"),
    _nvidia(80, 48, "NVIDIA Ampere (A100)"),
    _nvidia(86, 48, "NVIDIA Ampere"),
    _nvidia(89, 48, "NVIDIA Ada"),
    _nvidia(90, 48, "NVIDIA Hopper"),
    _nvidia(100, 48, "NVIDIA Blackwell"),
    _amd("gfx1100", "AMD RDNA3", 32),
    _amd("gfx1201", "AMD RDNA4", 32),
    _amd("gfx942", "AMD CDNA3", 64),
    _amd("gfx950", "AMD CDNA4", 64),
    _WEBGPU,
    _opencl("opencl", "OpenCL"),
    _opencl("opencl-f32", "OpenCL without float64", frozenset({dtypes.float64})),
)

targets: Final[Mapping[str, Target]] = MappingProxyType({t.name: t for t in _all})
"""Every target by name."""


def target_named(name: str) -> Target:
    """The target called `name`. Raises DeviceError for an unknown one."""
    if name not in targets:
        raise DeviceError(f"unknown target {name!r}", hint="one of " + ", ".join(targets))
    return targets[name]
