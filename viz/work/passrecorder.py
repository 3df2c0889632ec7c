"""Records one compilation of a kernel as a trace of its own: one context with the kernel's passes,
its program and all texts that were made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.toolchain.program import Artifact
from core.uop.uop import UOp
from viz.trace import Recorder


class PassRecorder(Recorder):
    """A recorder for one call of `core.compile.sources_for`. The kernel context that the compiler
    opens is named for its target, and stays open until `finish`, so that texts which are made after
    the last pass belong to it. Not started by `start`: the compilation attaches it. The lines that
    origins name are a stranger's word for them, and are not read. `info`: values for
    schema.META."""

    def __init__(self, path: Path, info: Mapping[str, object]) -> None:
        super().__init__(path, info=info, user_lines=False)
        self._depth = 0
        self._begun = False
        self._error: BaseException | None = None

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        """See Observer; so for all methods below."""
        self._depth += 1
        if self._depth == 1:
            self._begun, name = True, f"Passes for {meta.get('target', '')}"
        super().context_begin(name, kind, meta)

    def context_rename(self, name: str) -> None:
        """See Observer."""
        if self._depth > 1:
            super().context_rename(name)

    def context_end(self, error: BaseException | None) -> None:
        """See Observer."""
        self._depth -= 1
        if self._depth:
            super().context_end(error)
        else:
            self._error = error

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        """Not what the compiler tells of: `finish` gets all texts, with all that is known of
        them."""

    def linear(self, target: str, uops: Sequence[UOp]) -> None:
        """Not shown of a compilation on request."""

    def finish(self, artifacts: Sequence[Artifact], error: BaseException | None = None) -> None:
        """The compilation has given these texts, or ended with `error`. Closes the trace."""
        if self._begun:
            for one in artifacts:
                super().artifact(one.kind, one.target.name, one.text, one.lines, one.facts)
            self._end_context(0, self._error or error)
        self.close()
