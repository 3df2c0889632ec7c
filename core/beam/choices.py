"""What searches found, kept on disk for the next run: opts by all that they depend on.

A kernel, its target, the device with its processor, the width, flags, and the code of the compiler.
Files are JSON, read strictly; what is damaged is searched for again. Never searches.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from core.beam.isolated import FLAGS
from core.errors import UopvizError
from core.hardware.host import usable_cores
from core.helpers import CPU, Flag
from core.passes.optimize.search import Opts
from core.runtime.device import Device
from core.runtime.gpu.device import GpuDevice
from core.target import Target
from core.toolchain.diskcache import DiskCache, code_digest
from core.toolchain.processor import host
from core.uop.data.args import decode_arg, encode_arg
from core.uop.data.serial import digest
from core.uop.kernelinfo import Opt
from core.uop.uop import UOp

VERSION: Final = 1
"""Of how searches work and of what is kept: other versions are searched for again."""
MOST: Final = 16 << 20
"""Bytes of all that is kept."""
searches: Final = DiskCache("search", MOST)


@dataclass(frozen=True)
class Choice:
    """The opts that a search found, and a report of it."""

    opts: Opts
    report: str


def kept_choice(
    ast: UOp, device: str, target: Target, asked: tuple[int, ...], find: Callable[[], Choice]
) -> Choice:
    """What was kept of a search, or `find()`, which is kept. `asked`: the numbers that the search
    depends on, such as its width. Raises what `find` does."""
    made: list[Choice] = []

    def make() -> bytes:
        made.append(find())
        return _encoded(made[0])

    data = searches.get(_made_of(ast, device, target, asked), make)
    return made[0] if made else _decoded(data) or find()


def _made_of(ast: UOp, device: str, target: Target, asked: tuple[int, ...]) -> list[str]:
    flags = [f"{name}={Flag.table[name].value}" for name in FLAGS]
    return [
        str(VERSION),
        compiler_digest(),
        f"{digest(ast):016x}",
        target.name,
        *hardware(device),
        str(asked),
        *flags,
    ]


def hardware(device: str) -> list[str]:
    """What runs the programs of a device."""
    found = Device[device]
    if isinstance(found, GpuDevice):
        return [found.queue.open().limits.title]
    machine = host().machine
    return [device.partition(":")[0], CPU.value, machine.cpu, machine.features, str(usable_cores())]


@lru_cache(maxsize=1)
def compiler_digest() -> str:
    """A hash of the compiler's code and of what it is run by."""
    return code_digest(Path(__file__).resolve().parents[1])


def _encoded(choice: Choice) -> bytes:
    return json.dumps({"opts": encode_arg(choice.opts), "report": choice.report}).encode()


def _decoded(data: bytes) -> Choice | None:
    """What `_encoded` wrote; None for anything else."""
    try:
        held: Any = json.loads(data)
        opts, report = decode_arg(held["opts"]), held["report"]
    except (ValueError, TypeError, LookupError, RecursionError, UopvizError):
        return None
    if not isinstance(opts, tuple) or not isinstance(report, str):
        return None
    items = cast("tuple[object, ...]", opts)
    kept = tuple(item for item in items if isinstance(item, Opt))
    return Choice(kept, report) if len(kept) == len(items) else None
