"""A compiler that changes at five of fifty commits: copies of `core`, each with one edit more, and
the programs recorded with each.

Resumable: what has been recorded is not recorded again. Never changes this tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
COMMITS: Final = 50


@dataclass(frozen=True)
class Planted:
    """A change: from commit number `commit` on, `old`, which stands once in `file`, is `new`.
    `rule`: the rule that is another one by it, or "" where a kernel is."""

    name: str
    commit: int
    file: str
    old: str
    new: str
    rule: str = ""


PLANTED: Final = (
    Planted(
        "a slower rule",
        7,
        "core/passes/vectors/devectorize.py",
        "    return pick_of_elementwise(gep, x)\n\n\ndef _from_registers",
        "    sum(range(6000))\n    return pick_of_elementwise(gep, x)\n\n\ndef _from_registers",
        "gep_of_wide",
    ),
    Planted(
        "a rule gone",
        16,
        "core/passes/decompose/fuse.py",
        "divide_by_constant, remainder_by_constant, multiply_add],",
        "divide_by_constant, remainder_by_constant],",
        "multiply_add",
    ),
    Planted(
        "a kernel more",
        25,
        "core/tensor/axes/reduction.py",
        "    powers = (self - _largest(self, axis)).exp()\n    return powers /",
        "    powers = (self - _largest(self, axis)).exp().contiguous()\n    return powers /",
    ),
    Planted(
        "more registers",
        33,
        "core/passes/optimize/groups.py",
        "size(t.inner[-1]) % 4 == 0:\n            t.apply(OptOps.UNROLL, t.inner[-1], 8)",
        "size(t.inner[-1]) % 4 == 0:\n            t.apply(OptOps.UNROLL, t.inner[-1], 4)",
    ),
    Planted(
        "more matches",
        42,
        "core/tensor/elements/activation.py",
        "    return (self <= 0).where(0, self)",
        "    return (self * 1 <= 0).where(0, self * 1)",
        "fold_identity",
    ),
)
"""In the order of their commits."""
_FIRST: Final = (
    ("core/passes/optimize/groups.py", "UNROLL, t.inner[-1], 4)", "UNROLL, t.inner[-1], 8)"),
    (
        "examples/digits.py",
        "BATCH, EPOCHS, TEST, SEED = 32, 25,",
        "BATCH, EPOCHS, TEST, SEED = 32, 2,",
    ),
)
"""What the first commit has otherwise than this tree; the demo trains for a shorter time."""
RECORDED: Final = {"a": 4, "b": 5, "c": 4, "digits": 3}
"""Recordings of each program with each compiler; the last one has one more of each: 100 in all."""


def era_of(commit: int) -> int:
    """How many changes a commit has."""
    return sum(planted.commit <= commit for planted in PLANTED)


def record_all(folder: Path, tell: Callable[[str], None]) -> dict[tuple[int, str], list[Path]]:
    """The recordings of each program with each compiler."""
    found: dict[tuple[int, str], list[Path]] = {}
    last = len(PLANTED)
    trees = [_tree(folder / f"compiler{era}", era) for era in range(last + 1)]
    for number in range(max(RECORDED.values()) + 1):
        for era, tree in enumerate(trees):
            for program, count in RECORDED.items():
                if number < count + (era == last):
                    path = folder / f"{era}-{program}-{number}.viz"
                    if not path.exists():
                        tell(path.name)
                        _record(tree, program, path)
                    found.setdefault((era, program), []).append(path)
    return found


def record_each(folder: Path) -> dict[str, Path]:
    """A recording of each program with the first compiler."""
    tree = _tree(folder / "compiler0", 0)
    found = {program: folder / f"0-{program}-0.viz" for program in RECORDED}
    for program, path in found.items():
        if not path.exists():
            _record(tree, program, path)
    return found


def _tree(tree: Path, era: int) -> Path:
    if not tree.exists():
        made = tree.with_suffix(".part")
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(ROOT / "core", made / "core", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("viz", "tests"):
            (made / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "examples", made / "examples")
        edits = [*_FIRST, *((one.file, one.old, one.new) for one in PLANTED[:era])]
        for file, old, new in edits:
            text = (made / file).read_text()
            if text.count(old) != 1:
                raise RuntimeError(f"{file} has {old!r} {text.count(old)} times, not once")
            (made / file).write_text(text.replace(old, new))
        made.rename(tree)
    return tree


def _record(tree: Path, program: str, path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("VIZ")}
    part = path.with_suffix(".part.viz")
    part.unlink(missing_ok=True)
    subprocess.run(
        [sys.executable, "-m", "tests.bench.fleet.program", program],
        cwd=tree,  # modules are looked for there first
        env={**kept, "VIZ": "-1", "VIZ_TRACE": str(part), "PYTHONPATH": str(tree)},
        check=True,
        capture_output=True,
    )
    part.rename(path)
