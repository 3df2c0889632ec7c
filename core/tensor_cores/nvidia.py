"""The matrix instructions of NVIDIA's processors: `mma.sync` of PTX.

Layouts: NVIDIA, "Parallel Thread Execution ISA" 8.7, sections "Matrix Fragments for mma.m8n8k16",
"mma.m16n8k8", "mma.m16n8k16" and "mma.m16n8k32"; targets: its section "mma", target ISA notes. In
the manual's words, bits 0 and 1 of a lane are threadID_in_group and bits 2 to 4 groupID. The
formulas themselves are in tests/core/tensor_cores/test_nvidia.py, which compares every lane.
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.tensor_cores.fragment import Fragment, fragment
from core.tensor_cores.instruction import TensorCore

_PTX: Final = {
    dtypes.float16: "f16",
    dtypes.bfloat16: "bf16",
    dtypes.float32: "f32",
    dtypes.int8: "s8",
    dtypes.uint8: "u8",
    dtypes.int32: "s32",
    dtypes.fp8e4m3: "e4m3",
    dtypes.fp8e5m2: "e5m2",
}

TF32_BITS: Final = 19
"""Sign, 8 bits of exponent and 10 of mantissa."""

_product: Final = fragment("n1 n2 m0 m1 m2", "n0 m3")

_layouts: Final[dict[tuple[int, int, int, int], tuple[Fragment, Fragment, Fragment]]] = {
    (16, 8, 8, 16): (
        fragment("k1 k2 m0 m1 m2", "k0 m3"),
        fragment("k1 k2 n0 n1 n2", "k0"),
        _product,
    ),
    (16, 8, 16, 16): (
        fragment("k1 k2 m0 m1 m2", "k0 m3 k3"),
        fragment("k1 k2 n0 n1 n2", "k0 k3"),
        _product,
    ),
    (16, 8, 8, 32): (
        fragment("k0 k1 m0 m1 m2", "m3 k2"),
        fragment("k0 k1 n0 n1 n2", "k2"),
        _product,
    ),
    (16, 8, 32, 8): (
        fragment("k2 k3 m0 m1 m2", "k0 k1 m3 k4"),
        fragment("k2 k3 n0 n1 n2", "k0 k1 k4"),
        _product,
    ),
    (8, 8, 16, 8): (
        fragment("k2 k3 m0 m1 m2", "k0 k1"),
        fragment("k2 k3 n0 n1 n2", "k0 k1"),
        fragment("n1 n2 m0 m1 m2", "n0"),
    ),
}
"""(m, n, k, bits of an element of A): the layouts of A, B and C."""


def _mma(m: int, n: int, k: int, dtype_in: DType, dtype_out: DType) -> TensorCore:
    a, b, c = _layouts[m, n, k, dtype_in.bits]
    tf32 = dtype_in is dtypes.float32
    of, to = "tf32" if tf32 else _PTX[dtype_in], _PTX[dtype_out]
    name = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{to}.{of}.{of}.{to}"
    bits = TF32_BITS if tf32 else 0
    return TensorCore(name, m, n, k, dtype_in, dtype_out, a, b, c, bits)


_sm_75: Final = (
    _mma(16, 8, 8, dtypes.float16, dtypes.float32),
    _mma(16, 8, 8, dtypes.float16, dtypes.float16),
    _mma(8, 8, 16, dtypes.int8, dtypes.int32),
    _mma(8, 8, 16, dtypes.uint8, dtypes.int32),
)
_sm_80: Final = (
    _mma(16, 8, 16, dtypes.float16, dtypes.float32),
    _mma(16, 8, 16, dtypes.bfloat16, dtypes.float32),
    _mma(16, 8, 16, dtypes.float16, dtypes.float16),
    _mma(16, 8, 8, dtypes.float32, dtypes.float32),
    _mma(16, 8, 32, dtypes.int8, dtypes.int32),
    _mma(16, 8, 32, dtypes.uint8, dtypes.int32),
)
_sm_89: Final = (
    *_sm_80,
    _mma(16, 8, 32, dtypes.fp8e4m3, dtypes.float32),
    _mma(16, 8, 32, dtypes.fp8e5m2, dtypes.float32),
)


def nvidia_tensor_cores(capability: int) -> tuple[TensorCore, ...]:
    """Those of a compute capability (89 for 8.9), the best of each pair of dtypes first. From 10.0
    on they are kept for compatibility: the fast ones are tcgen05, which is not here."""
    return _sm_89 if capability >= 89 else _sm_80 if capability >= 80 else _sm_75
