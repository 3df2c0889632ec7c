"""The matrix instructions of AMD's processors: WMMA of RDNA, with 32 lanes, MFMA of CDNA, with 64.

Layouts: "AMD Matrix Instruction Calculator" (github.com/ROCm/amd_matrix_instruction_calculator) and
AMD's instruction set architecture guides: "RDNA3", section 7.9 "WMMA"; "RDNA4", section 7.12;
"AMD Instinct MI300", section 7.1 "MFMA"; "CDNA4". The formulas themselves are in
tests/core/tensor_cores/test_amd.py, which compares every lane.

In RDNA3, lanes 16 to 31 hold the same rows of A and columns of B as lanes 0 to 15. Its forms that
sum in 16 bits keep one number in each register of 32 bits and are left out. gfx942 has FP8 in the
FNUZ formats, whose bits mean other numbers than those of the OCP formats (`dtypes.fp8e4m3`), so it
gets no rows for FP8.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.dtype import DType, dtypes
from core.tensor_cores.fragment import fragment
from core.tensor_cores.instruction import TensorCore

_f16, _bf16, _f32 = dtypes.float16, dtypes.bfloat16, dtypes.float32
_e4m3, _e5m2, _i8, _i32 = dtypes.fp8e4m3, dtypes.fp8e5m2, dtypes.int8, dtypes.int32


def _wmma_rdna3(name: str, dtype_in: DType, dtype_out: DType) -> TensorCore:
    a = fragment("m0 m1 m2 m3 -", "k0 k1 k2 k3")
    b = fragment("n0 n1 n2 n3 -", "k0 k1 k2 k3")
    c = fragment("n0 n1 n2 n3 m0", "m1 m2 m3")
    return TensorCore(f"v_wmma_{name}", 16, 16, 16, dtype_in, dtype_out, a, b, c)


def _wmma_rdna4(name: str, dtype_in: DType, dtype_out: DType) -> TensorCore:
    a = fragment("m0 m1 m2 m3 k3", "k0 k1 k2")
    b = fragment("n0 n1 n2 n3 k3", "k0 k1 k2")
    c = fragment("n0 n1 n2 n3 m3", "m0 m1 m2")
    return TensorCore(f"v_wmma_{name}", 16, 16, 16, dtype_in, dtype_out, a, b, c)


def _mfma(name: str, side: int, k: int, dtype_in: DType, dtype_out: DType) -> TensorCore:
    """A lane holds neighbours along k. Blocks of 4 rows of the product go to groups of lanes in
    turn."""
    edge, depth = side.bit_length() - 1, k.bit_length() - 1
    across = depth - (6 - edge)  # bits of k within a lane
    inner = " ".join(f"k{i}" for i in range(across))
    outer = " ".join(f"k{i}" for i in range(across, depth))
    rows, columns = (" ".join(f"{letter}{i}" for i in range(edge)) for letter in "mn")
    groups = " ".join(f"m{i}" for i in range(2, 2 + 6 - edge))
    own = " ".join(f"m{i}" for i in (0, 1, *range(2 + 6 - edge, edge)))
    return TensorCore(
        f"v_mfma_{name}",
        side,
        side,
        k,
        dtype_in,
        dtype_out,
        fragment(f"{rows} {outer}", inner),
        fragment(f"{columns} {outer}", inner),
        fragment(f"{columns} {groups}", own),
        19 if "xf32" in name else 0,
    )


_gfx942: Final = (
    _mfma("f32_16x16x16_f16", 16, 16, _f16, _f32),
    _mfma("f32_16x16x16_bf16", 16, 16, _bf16, _f32),
    _mfma("f32_16x16x4_f32", 16, 4, _f32, _f32),
    _mfma("f32_16x16x8_xf32", 16, 8, _f32, _f32),
    _mfma("i32_16x16x32_i8", 16, 32, _i8, _i32),
    _mfma("f32_32x32x8_f16", 32, 8, _f16, _f32),
    _mfma("f32_32x32x8_bf16", 32, 8, _bf16, _f32),
)
_gfx950: Final = (
    _mfma("f32_16x16x32_f16", 16, 32, _f16, _f32),
    _mfma("f32_16x16x32_bf16", 16, 32, _bf16, _f32),
    _mfma("f32_16x16x4_f32", 16, 4, _f32, _f32),
    _mfma("f32_16x16x32_fp8_fp8", 16, 32, _e4m3, _f32),
    _mfma("f32_16x16x32_bf8_bf8", 16, 32, _e5m2, _f32),
    _mfma("i32_16x16x64_i8", 16, 64, _i8, _i32),
    _mfma("f32_16x16x16_f16", 16, 16, _f16, _f32),
    _mfma("f32_16x16x16_bf16", 16, 16, _bf16, _f32),
    _mfma("f32_32x32x16_f16", 32, 16, _f16, _f32),
    _mfma("f32_32x32x16_bf16", 32, 16, _bf16, _f32),
)
_gfx1100: Final = (
    _wmma_rdna3("f32_16x16x16_f16", _f16, _f32),
    _wmma_rdna3("f32_16x16x16_bf16", _bf16, _f32),
    _wmma_rdna3("i32_16x16x16_iu8", _i8, _i32),
)
_gfx1201: Final = (
    _wmma_rdna4("f32_16x16x16_f16", _f16, _f32),
    _wmma_rdna4("f32_16x16x16_bf16", _bf16, _f32),
    _wmma_rdna4("f16_16x16x16_f16", _f16, _f16),
    _wmma_rdna4("f32_16x16x16_fp8_fp8", _e4m3, _f32),
    _wmma_rdna4("f32_16x16x16_bf8_bf8", _e5m2, _f32),
    _wmma_rdna4("i32_16x16x16_iu8", _i8, _i32),
)

amd_tensor_cores: Final[Mapping[str, tuple[TensorCore, ...]]] = MappingProxyType(
    {"gfx942": _gfx942, "gfx950": _gfx950, "gfx1100": _gfx1100, "gfx1201": _gfx1201}
)
"""Those of each processor, the best of each pair of dtypes first."""
