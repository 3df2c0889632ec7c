"""`Change`: in what a program differs from the one that the compiler would make of a kernel.

Plain data of a request; compiles the program. Never loads or runs one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from core.compile import compile_kernel
from core.isolation.edited import Edited, with_text
from core.target import Target
from core.toolchain.program import Program
from core.uop.kernelinfo import Opt
from core.uop.patterns.policy import Policy, following
from core.uop.uop import UOp
from viz.work.opts import parse_opts


@dataclass(frozen=True)
class Change:
    """`opts`: None for those that the compiler chooses; `skip`: names of rules that are left out;
    `text`: in place of that of the program which these make. Its launch stays that of this program:
    so a text goes with the opts and rules of the text that it began as."""

    opts: tuple[Opt, ...] | None = None
    skip: tuple[str, ...] = ()
    text: Edited | None = None

    @property
    def is_none(self) -> bool:
        """Whether nothing is changed."""
        return self == Change()

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Change:
        """That of a request: "opts" as text, "skip" and "source", each of which may be missing.
        Raises ServerError for opts that are none."""
        opts, text = request.get("opts"), request.get("source")
        return cls(
            None if opts is None else parse_opts(str(opts)),
            tuple(str(name) for name in request.get("skip") or ()),
            None if text is None else Edited(str(text["kind"]), str(text["text"])),
        )

    def without_rules(self) -> AbstractContextManager[object]:
        """Leaves the rules of `skip` out in its block."""
        return following(Policy(skip=frozenset(self.skip))) if self.skip else nullcontext()

    def compiled(self, ast: UOp, target: Target, device: str) -> Program:
        """The program of a kernel for a target; its text is checked for a device. Raises
        UopvizError."""
        with self.without_rules():
            program = compile_kernel(ast, target, self.opts)
        return program if self.text is None else with_text(program, device, self.text)
