"""Matrix instructions in CUDA C++ and HIP C++: helper functions of what a lane holds.

Sources: NVIDIA, "Inline PTX Assembly in CUDA"; LLVM, clang's builtins __builtin_amdgcn_wmma_* and
__builtin_amdgcn_mfma_* (include/clang/Basic/BuiltinsAMDGPU.def). Never walks a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.render.llvm_lines.amd_matrix import builtin_of, call_of
from core.tensor_cores import TensorCore


@dataclass(frozen=True, slots=True)
class Helper:
    """What a helper is made of: its name, the structs of A, B and C (which is that of D too), and
    the qualifiers of helper functions."""

    core: TensorCore
    name: str
    structs: tuple[str, str, str]
    qualifiers: str

    @property
    def head(self) -> str:
        """Everything before the body."""
        a, b, c = self.structs
        return f"{self.qualifiers} {c} {self.name}({a} a, {b} b, {c} c)"


def name_of(core: TensorCore) -> str:
    """The name of the helper: that of the instruction, without what every one has."""
    name = core.name.removeprefix("v_").replace("mma.sync.aligned.", "mma.")
    return name.replace(".row.col", "").replace(".", "_")


def cuda_product(helper: Helper) -> tuple[str, ...]:
    """A helper of inline PTX. Elements are in registers of 32 bits, D in the place of C."""
    core = helper.core
    floats = core.dtype_out.name == "float32"
    result = "float" if floats else "unsigned int"
    sums = core.c.count * core.dtype_out.bits // 32
    pieces = [part.count * core.dtype_in.bits // 32 for part in (core.a, core.b)]
    number = iter(range(sums + sum(pieces)))
    places = ["{" + ", ".join(f"%{next(number)}" for _ in range(n)) + "}" for n in (sums, *pieces)]
    text = f"{core.name} {places[0]}, {places[1]}, {places[2]}, {places[0]};"
    letter = "f" if floats else "r"
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(sums))
    inputs = ", ".join(
        f'"r"({x}[{i}])' for x, n in zip("xy", pieces, strict=True) for i in range(n)
    )
    return (
        helper.head + " {",
        "  const unsigned int* x = (const unsigned int*)&a;",
        "  const unsigned int* y = (const unsigned int*)&b;",
        f"  {result}* d = ({result}*)&c;",
        f'  asm volatile("{text}"',
        f"               : {outputs} : {inputs});",
        "  return c;",
        "}",
    )


def cuda_matrices(
    name: str, struct: str, address: str, count: int, transposed: bool
) -> tuple[str, ...]:
    """The lines that load matrices from an address in shared memory as `struct name`: inline
    PTX."""
    words = ", ".join(f"%{i}" for i in range(count))
    turned = ".trans" if transposed else ""
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{turned}.shared.b16 {{{words}}}, [%{count}];"
    outputs = ", ".join(f'"=r"({name}_w[{i}])' for i in range(count))
    return (
        f"__align__(16) unsigned int {name}_w[{count}];",
        f'asm volatile("{text}" : {outputs}',
        f'  : "r"((unsigned int)__cvta_generic_to_shared({address})) : "memory");',
        f"{struct} {name} = *({struct}*){name}_w;",
    )


_VECTORS: Final[Mapping[str, str]] = {
    "float16": "_Float16",
    "bfloat16": "short",
    "float32": "float",
    "int8": "int",
    "fp8e4m3": "int",
    "fp8e5m2": "int",
    "int32": "int",
}
"""The elements of the vectors that builtins take."""


def hip_product(helper: Helper) -> tuple[str, ...]:
    """A helper that calls clang's builtin."""
    core = helper.core
    intrinsic = call_of(core)
    count = core.a.count // 4 if core.dtype_in.bits == 8 else core.a.count
    element = "__bf16" if "bfloat" in intrinsic.operand else _VECTORS[core.dtype_in.name]
    operand = "long operand" if intrinsic.operand == "i64" else _vector(element, count, "operand")
    sums = _vector(_VECTORS[core.dtype_out.name], core.c.count, "sums")
    before = "true, " if intrinsic.before else ""
    after = (
        ""
        if core.dtype_out.bits == 16
        else "".join(", " + text.split()[1] for text in intrinsic.after)
    )
    return (
        helper.head + " {",
        f"  typedef {operand};",
        f"  typedef {sums};",
        "  operand x = __builtin_bit_cast(operand, a), y = __builtin_bit_cast(operand, b);",
        f"  sums d = {builtin_of(core)}({before}x, {before}y, __builtin_bit_cast(sums, c){after});",
        f"  return __builtin_bit_cast({helper.structs[2]}, d);",
        "}",
    )


def _vector(element: str, count: int, name: str) -> str:
    """The declarator of a vector type."""
    more = f" __attribute__((ext_vector_type({count})))" if count > 1 else ""
    return f"{element} {name}{more}"
