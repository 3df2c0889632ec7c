"""Metadata of a compiled program as plain data: names, sizes and work.

Reads attributes that any program may or may not have; never imports the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from core.uop.kernelinfo import KernelInfo


@dataclass(frozen=True)
class ProgramInfo:
    """`details`: inputs (name, dtype, size in elements), flops, bytes, globalSize, localSize; opts,
    the optimisations that were applied, where the program says it."""

    name: str
    target: str
    device: str
    details: dict[str, object]


def program_info(program: object) -> ProgramInfo:
    """The facts of a compiled program (`core.compile.Program`, or anything alike)."""
    target = getattr(program, "target", None)
    inputs = [_argument(i, g) for i, g in enumerate(_items(program, "globals"))]
    details: dict[str, object] = {
        "inputs": inputs,
        "flops": _number(getattr(program, "flops", 0)),
        "bytes": _number(getattr(program, "bytes", 0)),
        "globalSize": [_number(n) for n in _items(program, "global_size")],
        "localSize": [_number(n) for n in _items(program, "local_size")],
    }
    opts = next((i.opts for i in _infos(program) if i.opts is not None), None)
    if opts is not None:
        details["opts"] = [str(opt) for opt in opts]
    return ProgramInfo(
        str(getattr(program, "name", "")),
        str(getattr(target, "name", target or "")),
        str(getattr(program, "device", "") or ""),
        details,
    )


def _infos(program: object) -> Iterator[KernelInfo]:
    """Those of its graph, the last one first."""
    for u in reversed(_items(program, "uops")):
        if isinstance(info := getattr(u, "arg", None), KernelInfo):
            yield info


def _items(program: object, name: str) -> list[Any]:
    value = getattr(program, name, None)
    return list(cast("Iterable[Any]", value)) if isinstance(value, Iterable) else []


def _argument(position: int, item: Any) -> dict[str, object]:
    """One kernel argument from (dtype, size), or from an object with these attributes."""
    if isinstance(item, tuple):
        dtype, size = cast("tuple[Any, Any]", item)[:2]
    else:
        dtype, size = getattr(item, "dtype", ""), getattr(item, "size", 0)
    return {"name": f"data{position}", "dtype": str(dtype), "size": _number(size)}


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
