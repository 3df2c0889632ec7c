"""Finds NVIDIA's command line tools in the wheels that bring them, or on PATH. Runs none."""

from __future__ import annotations

import importlib.util
import shutil
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=8)
def find_tool(name: str) -> Path | None:
    """The tool called `name` ("ptxas", "nvdisasm"), or None."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for found in sorted(Path(root).glob(f"*/bin/{name}")):
            return found
    path = shutil.which(name)
    return Path(path) if path else None
