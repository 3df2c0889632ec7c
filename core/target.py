"""`Target`: what a device can do, as data. Passes and renderers read it and never ask which it is.

Holds no code for any device. Figures come from the vendors' manuals: CUDA C++ Programming Guide
(compute capabilities), AMD RDNA3 and CDNA3 instruction set architecture guides.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from core.dtype import DType, dtypes
from core.errors import DeviceError
from core.uop.ops import GroupOp, Ops

Family = Literal["cpu", "nvidia", "amd"]

_transcendental = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW, Ops.THREEFRY})


@dataclass(frozen=True)
class Target:
    """One kind of device that code can be made for.

    `vector_bytes`: widest load or store of one thread; `alu_lanes(dtype)`: lanes of one arithmetic
    instruction (1: only scalars); `registers`: values of 4 bytes that an inner loop may keep;
    `shared_bytes`: shared memory of one work group; `wave`: threads that run in lockstep;
    `unsupported`: dtypes it has no arithmetic for; `ops`: what its renderers have text for;
    `lane_gates`: a vector load may have a gate for each of its lanes.
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
    has_local: bool = False
    shared_bytes: int = 0
    wave: int = 1
    global_max: tuple[int, ...] = ()
    local_max: tuple[int, ...] = ()
    threads_max: int = 1
    has_fma: bool = True
    lane_gates: bool = False

    def __repr__(self) -> str:
        return f"Target({self.name})"

    def alu_lanes(self, dtype: DType) -> int:
        """How many elements of `dtype` one arithmetic instruction takes; at least 1."""
        return max(1, self.simd_bytes // dtype.scalar().itemsize)

    def vector_lanes(self, dtype: DType) -> int:
        """How many elements of `dtype` one thread loads or stores at once; at least 1."""
        return max(1, self.vector_bytes // dtype.scalar().itemsize)

    def supports(self, dtype: DType) -> bool:
        """Whether it has arithmetic for `dtype`."""
        return dtype.scalar() not in self.unsupported


_fp8 = frozenset(dtypes.fp8s)
_common_ops = (GroupOp.ALU - _transcendental) | {Ops.CAST, Ops.BITCAST}
_cpu_ops = _common_ops
_ptx_ops = _common_ops | {Ops.EXP2, Ops.LOG2, Ops.SIN}
_amd_ops = _common_ops | {Ops.EXP2, Ops.LOG2, Ops.SIN}


def _cpu(name: str, arch: str, title: str, simd: int, registers: int) -> Target:
    return Target(
        name,
        "cpu",
        arch,
        title,
        _cpu_ops,
        vector_bytes=64,
        simd_bytes=simd,
        lane_gates=True,
        registers=registers,
        unsupported=_fp8 | {dtypes.bfloat16, dtypes.float16},
    )


def _nvidia(cc: int, shared_kb: int, threads_per_sm_title: str) -> Target:
    old = cc < 80
    return Target(
        f"sm_{cc}",
        "nvidia",
        f"sm_{cc}",
        threads_per_sm_title,
        _ptx_ops,
        vector_bytes=16,
        registers=128,
        unsupported=_fp8 | ({dtypes.bfloat16} if old else frozenset()),
        has_local=True,
        shared_bytes=shared_kb * 1024,
        wave=32,
        global_max=(2147483647, 65535, 65535),
        local_max=(1024, 1024, 64),
        threads_max=1024,
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
        wave=wave,
        global_max=(2147483647, 65535, 65535),
        local_max=(1024, 1024, 1024),
        threads_max=1024,
    )


_all: Final = (
    _cpu("x86-64", "x86-64", "x86-64 with 256-bit vectors", 32, 16),
    _cpu("x86-64-v4", "x86-64-v4", "x86-64 with 512-bit vectors", 64, 32),
    _cpu("aarch64", "aarch64", "ARM 64-bit", 16, 32),
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
)

targets: Final[Mapping[str, Target]] = MappingProxyType({t.name: t for t in _all})
"""Every target by name."""


def target_named(name: str) -> Target:
    """The target called `name`. Raises DeviceError for an unknown one."""
    if name not in targets:
        raise DeviceError(f"unknown target {name!r}", hint="one of " + ", ".join(targets))
    return targets[name]


@lru_cache(maxsize=1)
def host_target() -> Target:
    """The target of the machine that this runs on. Raises DeviceError on an unknown processor."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        return targets["x86-64"]
    if machine in ("aarch64", "arm64"):
        return targets["aarch64"]
    raise DeviceError(
        f"no CPU target for a {machine} processor",
        hint="x86-64 and 64-bit ARM are supported; kernels of other targets can "
        "still be made by name",
    )
