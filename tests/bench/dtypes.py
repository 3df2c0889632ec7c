"""Each function of Tensor with each dtype on each device, against PyTorch and NumPy: what is wrong.

    python -m tests.bench.dtypes [DEVICE ...]

It needs PyTorch and ml_dtypes: run it with the interpreter of `make conformance`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from typing import Any

from core import dtypes
from tests.bench.measure import table


def figures() -> str:
    """The table: a row for each function, and one of each device for all of them."""
    if importlib.util.find_spec("torch") is None:
        return "Functions and dtypes: PyTorch is not installed; .venv/conformance/bin/python has it"
    every: Any = importlib.import_module("tests.conformance.every_dtype")
    given = [name for name in sys.argv[1:] if name in every.DEVICES]
    rows: list[tuple[object, ...]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for device in given or every.DEVICES:
            rows += _of_device(every, device)
    head = ("device", "function", "right", "refused, as it has to be", "wrong")
    return table("Functions and dtypes", head, rows)


def _of_device(every: Any, device: str) -> list[tuple[object, ...]]:
    functions = (*every.ROWS, *every.in_place())
    found: list[tuple[object, ...]] = []
    count = right = refusals = 0
    for row in functions:
        told = {str(d): every.found_wrong(row, d, device) for d in dtypes.all}
        wrong = [f"{dtype}: {what}" for dtype, what in told.items() if what]
        refused = sum(every.kind_of(d) not in row.kinds for d in dtypes.all)
        found.append(
            (device, row.name, 15 - refused - len(wrong), refused, "; ".join(wrong) or "-")
        )
        count, refusals = count + len(wrong), refusals + refused
        right += 15 - refused - len(wrong)
    found.append((device, f"all {len(functions)} functions", right, refusals, count))
    for name, *_ in every.ENDS:
        told = {str(d): every.wrong_at_ends(name, d, device) for d in dtypes.all}
        wrong = [f"{dtype}: {what}" for dtype, what in told.items() if what]
        found.append((device, f"{name}, ends", 15 - len(wrong), 0, "; ".join(wrong) or "-"))
    return found


if __name__ == "__main__":
    print(figures())
