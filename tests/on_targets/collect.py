"""Collects the kernels that programs compile: runs them as they are, and writes each AST once.

As a plugin of pytest (`-p tests.on_targets.collect`), it collects those of a test run, of all its
workers. Changes nothing of what it watches; compiles nothing itself.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import runpy
from pathlib import Path
from typing import Any, Final

import core
from core.uop import UOp
from core.uop.data.serial import digest, from_data, to_data
from core.uop.engine.observe import NullObserver, attach, observing

FOLDER: Final = "ON_TARGETS_FOLDER"
"""The environment variable that tells the plugin where to write."""
ROOT: Final = Path(__file__).parents[2]
PROGRAMS: Final = ("demo", "a", "b", "c")


class Collector(NullObserver):
    """Writes the AST of every kernel that is compiled to a file of this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: set[int] = set()

    def kernel(self, ast: UOp, program: object) -> None:
        """See Observer."""
        key = digest(ast)
        if key in self._seen:
            return
        self._seen.add(key)
        with (self._folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, to_data([ast])]) + "\n")


def pytest_configure(config: Any) -> None:
    """Begins to collect, in this process of a test run."""
    attach(Collector(Path(os.environ[FOLDER])))


def lines_of(folder: Path) -> dict[int, str]:
    """The graph of every kernel in the files of a folder, as JSON by digest: each once, in an order
    that does not depend on how the work was shared out."""
    found: dict[int, str] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            key, graph = json.loads(line)
            found.setdefault(key, json.dumps(graph))
    return dict(sorted(found.items()))


def kernel_of(graph: str) -> UOp:
    """The AST that `lines_of` has as JSON."""
    (ast,) = from_data(json.loads(graph))
    return ast


def main() -> None:
    """Runs one program and writes its kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    with observing(Collector(chosen.folder)):
        if chosen.program == "demo":
            runpy.run_path(str(ROOT / "examples" / "digits.py"), run_name="__main__")
        else:
            importlib.import_module(f"tests.bench.programs.{chosen.program}").run(core)


if __name__ == "__main__":
    main()
