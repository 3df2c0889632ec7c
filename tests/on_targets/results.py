"""What became of each kernel in each column, and the tables of counts. Checks nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

STEPS: Final = ("kernels", "assembled", "executed", "equal")
"""What is counted, each a part of those before it. Texts for reading are only compiled."""


@dataclass(frozen=True)
class Result:
    """How far a kernel came in a column: `steps` of STEPS, of `wanted` of them. `why` it came no
    further; `blocks`: how many of how many were executed; `reference`: who computed what it was
    compared with."""

    kernel: int
    name: str
    column: str
    steps: int
    wanted: int
    why: str = ""
    blocks: tuple[int, int] = (0, 0)
    reference: str = ""

    @property
    def failed(self) -> bool:
        """Whether it came less far than it should."""
        return self.steps < self.wanted

    @property
    def in_part(self) -> bool:
        """Whether only some of its blocks were executed."""
        return self.blocks[0] < self.blocks[1]

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Result:
        """What `to_json` made."""
        done, blocks = found["blocks"]
        return replace(cls(**found), blocks=(done, blocks))


def tables(
    results: Sequence[Result], sources: Mapping[str, Sequence[int]], columns: Sequence[str]
) -> str:
    """A row for each source of kernels, a cell for each column. A kernel of several sources counts
    in each; the last row counts it once."""
    by_place = {(r.kernel, r.column): r for r in results}
    rows = {**sources, "distinct kernels": sorted({k for ks in sources.values() for k in ks})}
    if len(sources) == 1:
        rows.popitem()
    lines = ["| kernels of | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for source, kernels in rows.items():
        cells = [
            _cell([by_place[k, column] for k in kernels if (k, column) in by_place])
            for column in columns
        ]
        lines.append(f"| {source} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(results: Sequence[Result]) -> str:
    wanted = max((r.wanted for r in results), default=1)
    counts = [sum(r.steps >= step for r in results) for step in range(1, wanted + 1)]
    part = sum(r.in_part for r in results)
    return "/".join(f"{n}" for n in counts) + (f" ({part} in part)" if part else "")


def failures(results: Sequence[Result], sources: Mapping[str, Sequence[int]]) -> list[str]:
    """A line for each result that failed: the kernel, who compiled it, the column, the reason."""
    found: list[str] = []
    for result in results:
        if result.failed:
            of = ", ".join(
                source for source, kernels in sources.items() if result.kernel in kernels
            )
            found.append(f"{result.name} (of {of}) on {result.column}: {result.why}")
    return found


def parts(results: Sequence[Result]) -> list[str]:
    """A line for each kernel that was executed in part."""
    return [
        f"{r.name} on {r.column}: {r.blocks[0]} of {r.blocks[1]} blocks"
        for r in results
        if r.in_part
    ]
