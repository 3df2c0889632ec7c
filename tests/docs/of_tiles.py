"""How long the kernels are that are shipped in core/tile/kernels, beside others.

Counts lines of code: none that are blank, a comment or part of a docstring, and no imports.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from tests.docs.markdown import code, table

ROOT: Final = Path(__file__).parents[2]
TRITON: Final = {
    "matmul": ("about 40", "`matmul_kernel` of 03-matrix-multiplication.py at 0109391"),
    "attention": (
        "about 110",
        "`_attn_fwd` and `_attn_fwd_inner` of 06-fused-attention.py at 003da47; half or fp8",
    ),
    "attention_backward": (
        "about 180",
        "`_attn_bwd` and the three functions with it, same file: causal, multiples of 128, half",
    ),
}
"""Lines of the kernels alone, counted by hand in Triton's tutorials at a commit, with what they
cover."""
_FLASH: Final = "csrc/flash_attn/src of flash-attn 2.7.4.post1 on PyPI"
_SAMPLES: Final = "of NVIDIA/cuda-samples, Samples"
CUDA: Final[tuple[tuple[str, tuple[str, ...], int, str], ...]] = (
    (
        "attention",
        ("attention", "blocks"),
        294,
        (
            f"`compute_attn_1rowblock` of flash_fwd_kernel.h, {_FLASH}: also with dropout, ALiBi, "
            "windows and sequences of their own lengths; on CuTe"
        ),
    ),
    (
        "attention",
        ("attention", "blocks"),
        68,
        (
            "`attend_ker` of HazyResearch/ThunderKittens, kernels/attn/demo/4090.cu at 6fb7df0: "
            "not causal, multiples of the tile, bfloat16, without `l`"
        ),
    ),
    (
        "attention backward",
        ("attention_backward", "blocks"),
        654,
        (
            "`compute_dq_dk_dv_1colblock` of flash_bwd_kernel.h, 505, and `dot_do_o`, "
            "`compute_dot_do_o` and `convert_dQ` of flash_bwd_preprocess_kernel.h, 149, "
            f"{_FLASH}: as above"
        ),
    ),
    (
        "product",
        ("matmul",),
        122,
        (
            f"`compute_gemm` {_SAMPLES}/3_CUDA_Features/cudaTensorCoreGemm/cudaTensorCoreGemm.cu "
            "at 306af8d: half, sizes fixed by macros, multiples of 128, one stage; adds C"
        ),
    ),
    (
        "product",
        ("matmul",),
        120,
        (
            "`gemm_device` of NVIDIA/cutlass/examples/cute/tutorial/sgemm_sm80.cu at c735bc2: "
            "float32 without matrix instructions, multiples of the tile, asynchronous copies; on "
            "CuTe, where its caller describes layouts and copies"
        ),
    ),
    (
        "softmax",
        ("softmax",),
        34,
        (
            "`softmax_forward_online_kernel2` with `SumMax` and its operation, of karpathy/llm.c, "
            "dev/cuda/softmax_forward.cu at 99fe394: a warp for each row, float32"
        ),
    ),
    (
        "layer norm",
        ("layer_norm",),
        46,
        (
            "`layernorm_forward_kernel5` of karpathy/llm.c, dev/cuda/layernorm_forward.cu at "
            "836ec64: a block for each row, float32; stores mean and deviation, too"
        ),
    ),
    (
        "copy",
        ("copy",),
        19,
        (
            f"`copySharedMem` {_SAMPLES}/6_Performance/transpose/transpose.cu at ca37378: float32 "
            "alone, square, without conversion"
        ),
    ),
)
"""Kernel, its modules here, and lines of a function in CUDA C++ with its signature: none that are
blank or a comment, and none under `#if 0`. flash-attn was counted by a script, the others by hand;
gemm_device by both."""


def lines_of_code(path: Path) -> int:
    """Lines of the functions and classes of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[int] = set()
    for top in tree.body:
        if not isinstance(top, ast.FunctionDef | ast.ClassDef):
            continue
        nodes = [n for n in ast.walk(top) if isinstance(n, ast.stmt | ast.expr | ast.arg)]
        docs = {
            id(n.body[0])
            for n in ast.walk(top)
            if isinstance(n, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(n) is not None
        }
        skipped = {id(part) for n in nodes if id(n) in docs for part in ast.walk(n)}
        for node in nodes:
            if id(node) not in skipped:
                found |= {node.lineno, node.end_lineno or node.lineno}
        found |= {d.lineno for d in top.decorator_list}
    return len(found)


def cuda_table() -> str:
    """A row for each function in CUDA C++ that does about what a shipped kernel does."""
    folder = ROOT / "core/tile/kernels"
    rows = [
        (kernel, sum(lines_of_code(folder / f"{name}.py") for name in modules), lines, what)
        for kernel, modules, lines, what in CUDA
    ]
    return table(("kernel", "lines here", "CUDA C++", "that is"), rows)


def line_table() -> str:
    """A row for each shipped kernel."""
    rows: list[tuple[str, int, str, str]] = []
    for path in sorted((ROOT / "core/tile/kernels").glob("*.py")):
        if path.name != "__init__.py":
            other = TRITON.get(path.stem, ("", ""))
            rows.append((code(path.name), lines_of_code(path), *other))
    return table(("module", "lines", "Triton's tutorial", "that is"), rows)
