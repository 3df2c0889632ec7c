"""What kernels were compiled to, kept in the cache for the next export: by the kernel, its target,
and all that its texts depend on (the flags, the tools, and the code of both packages).

What is damaged is compiled again. Never compiles.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final, cast

from core.helpers import BEAM, COMPILING, FLASH_ATTENTION, REWRITE_LIMIT, SPEC, Flag
from core.toolchain.diskcache import DiskCache, code_digest
from core.toolchain.nvidia_tools import find_tool

VERSION: Final = 1
"""Of what is kept: other versions are compiled again."""
_FLAGS: Final[tuple[Flag, ...]] = (*COMPILING, BEAM, FLASH_ATTENTION, REWRITE_LIMIT, SPEC)
"""Flags that texts and passes depend on."""
_ROOMS: Final = ("format", "recording", "replay", "work", "write")
"""Of `viz`, what records compilations and links lines."""
_TOOLS: Final = ("ptxas", "nvdisasm")
_LEVEL: Final = 3
texts: Final = DiskCache("texts", 64 << 20)
"""Texts of kernels, without their passes."""
shaders: Final = DiskCache("shaders", 64 << 20)
"""Kernels for the GPU of a browser."""
passes: Final = DiskCache("passes", 256 << 20)
"""Traces of compilations."""


def made_of(graph: Mapping[str, Any], target: str) -> list[str]:
    """What the texts of a kernel depend on."""
    return [json.dumps(graph), target, *_surroundings()]


def find_texts(made: Sequence[str]) -> list[dict[str, Any]] | None:
    """What the worker gave for the texts of a kernel; None where that is not kept."""
    data = texts.find(made)
    try:
        found = None if data is None else json.loads(zlib.decompress(data))
    except (ValueError, zlib.error):
        return None
    items = cast("list[dict[str, Any]]", found) if isinstance(found, list) else None
    return items if items is not None and all(map(_is_text, items)) else None


def find_shaders(made: Sequence[str]) -> dict[str, Any] | None:
    """What the worker gave for the browser; None where that is not kept."""
    data = shaders.find(made)
    try:
        found = None if data is None else json.loads(zlib.decompress(data))
    except (ValueError, zlib.error):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and "made" in found else None


def keep_shaders(made: Iterable[tuple[Sequence[str], dict[str, Any]]]) -> None:
    """Keeps what the worker gave for the browser."""
    shaders.keep((of, zlib.compress(json.dumps(found).encode(), _LEVEL)) for of, found in made)


def _is_text(item: object) -> bool:
    """Whether this is a text as the worker gives it."""
    match item:
        case {"kind": str(), "text": str(), "facts": dict(), "sets": list(sets), "lines": list(at)}:
            count = len(cast("list[Any]", sets))
            return all(isinstance(i, int) and 0 <= i < count for i in cast("list[Any]", at))
        case _:
            return False


def keep_texts(made: Iterable[tuple[Sequence[str], list[dict[str, Any]]]]) -> None:
    """Keeps what the worker gave."""
    texts.keep((of, zlib.compress(json.dumps(found).encode(), _LEVEL)) for of, found in made)


@lru_cache(maxsize=1)
def _surroundings() -> list[str]:
    """All that is the same for each kernel."""
    root = Path(__file__).resolve().parents[3]
    flags = [f"{flag.name}={flag.value}" for flag in _FLAGS]
    tools = [_tool(name) for name in _TOOLS]
    folders = [root / "core", *(root / "viz" / name for name in _ROOMS)]
    return [str(VERSION), code_digest(*folders), _llvm(), *flags, *tools]


def _tool(name: str) -> str:
    path = find_tool(name)
    if path is None:
        return ""
    found = path.stat()
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _llvm() -> str:
    try:
        return metadata.version("llvmlite")
    except metadata.PackageNotFoundError:
        return ""
