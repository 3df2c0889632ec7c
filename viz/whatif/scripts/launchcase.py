"""A compiled kernel as the data of a script that needs no uopviz: its text, how it is launched,
what its arguments hold, and what the reference makes of them.

Runs the reference only.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.errors import CompileError
from core.isolation.safety import BASE, run_bytes
from core.runtime.numeric import memory_dtype
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.spans import index_spans
from core.toolchain.program import Program
from core.trial.difference import differences
from core.trial.trial import arguments
from core.uop.uop import UOp
from viz.whatif.results.outcome import MEMORY
from viz.whatif.scripts import onbindings

SEED: Final = 1
MAX_EMBEDDED: Final = 1 << 15
"""Elements of an output that a script holds; of a larger one, every n-th."""
Data = dict[str, Any]


def launch_case(ast: UOp, program: Program) -> Data:
    """The data of a kernel's script. Raises CompileError where its text is not PTX or an argument
    is of 8-bit floats, and RunError where the reference cannot evaluate it."""
    if program.source.kind != "ptx":
        raise CompileError(
            f"a script for the vendor's bindings holds PTX, and this is {program.source.kind}",
            hint="give a target of NVIDIA: --target sm_90",
        )
    spans = index_spans(ast.toposort())
    made: list[Data] = []
    for number, u in enumerate(arguments(ast)):
        dtype, size = program_argument(program, number, u)
        span = spans.get(number)
        bounds = (span.low, span.high) if span is not None else None
        made.append(_argument(number, dtype, size, bounds))
    held = [onbindings.make_input(SEED, one) for one in made]
    variables = {v.arg[0]: int(v.arg[2]) for v in program.variables}
    evaluate_kernel(ast, held, variables, MEMORY - BASE - run_bytes(ast))
    outputs: list[Data] = []
    for number, _, allowed in differences(ast, held, held):
        values = held[number]
        step = -(-max(1, values.size) // MAX_EMBEDDED)
        expected = onbindings.packed(np.ascontiguousarray(values[::step]))
        outputs.append({"number": number, "step": step, "allowed": allowed, "expected": expected})
    return {
        "name": program.name,
        "ptx": program.source.text,
        "seed": SEED,
        "grid": list(program.groups(variables)),
        "block": list(program.local_size),
        "arguments": made,
        "order": [a.number for a in program.arguments],
        "variables": [
            {"name": v.arg[0], "bytes": v.dtype.itemsize, "value": int(v.arg[2])}
            for v in program.variables
        ],
        "outputs": outputs,
    }


def program_argument(program: Program, number: int, u: UOp) -> tuple[DType, int]:
    """The dtype of an argument's elements, and how many there are."""
    for argument in program.arguments:
        if argument.number == number:
            return argument.dtype, argument.size
    raise CompileError(f"the program has no argument {number}", where=str(u.dtype))


def _argument(number: int, dtype: DType, size: int, span: tuple[int, int] | None) -> Data:
    if dtypes.is_float(dtype) and dtype.itemsize < 2:
        raise CompileError(
            f"argument {number} is of {dtype}, which NumPy does not have",
            hint="`uopviz script` without --bindings makes one that uses uopviz",
        )
    made: Data = {"number": number, "dtype": dtype.name, "size": size,
                  "memory": memory_dtype(dtype).name}  # fmt: skip
    if dtypes.is_float(dtype):
        return made | {"kind": "float"}
    low, high = (0, 1) if dtypes.is_bool(dtype) else (-4, 8)
    if span is not None:
        low, high = span
    low, high = max(low, int(dtypes.min(dtype))), min(high, int(dtypes.max(dtype)))
    return made | {"kind": "integer", "low": low, "high": high}
