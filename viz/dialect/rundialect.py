"""`RunDialect`: the dialect of one run, asked so that no defect of an adapter ends a view.

An adapter that raises or answers nonsense is not used any further: one Problem reports it, and the
run is shown as nodes and texts. Resolved once per run, never per node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from core.errors import BudgetError, TraceError, UopvizError
from viz.dialect.argtext import ArgTexts, Show
from viz.dialect.dialect import NO_FACT, PLAIN, Dialect, Fact, Facts
from viz.dialect.saidfacts import SaidFacts, view_of
from viz.read.database import Problem
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile

T = TypeVar("T")
MAX_ANSWER: Final = 100_000
"""Characters of what an action says."""


class RunDialect:
    """`problem`: why the run's own dialect is not this one."""

    def __init__(self, dialect: Dialect = PLAIN, problem: Problem | None = None) -> None:
        self.dialect = dialect
        self.problems = [] if problem is None else [problem]
        self.arg_text = ArgTexts(None if dialect.spell is None else self._spelled)
        """The text of an argument, as people write it."""

    def _spelled(self, fields: Mapping[str, Any], show: Show) -> str | None:
        spell = self.dialect.spell
        if spell is None:
            return None
        return self.ask("its spelling", lambda: _text(spell(fields, show)), None)

    def facts(self, file: TraceFile) -> CheckedFacts:
        """The facts of the nodes of a file."""
        return CheckedFacts(self, file)

    def ask(self, what: str, question: Callable[[], T], otherwise: T) -> T:
        """The answer of the dialect; `otherwise` where it fails, or has failed before. BudgetError
        and errors of the project are raised."""
        if self.dialect is PLAIN:
            return otherwise
        try:
            return question()
        except UopvizError:
            raise
        except Exception as error:
            self.give_up(f"{what} raised {type(error).__name__}: {str(error)[:200]}")
            return otherwise

    def give_up(self, why: str) -> None:
        """From here on the run is one of nodes and texts."""
        if self.dialect is PLAIN:
            return
        self.problems.append(
            Problem(
                f"the dialect {self.dialect.name} failed: {why}",
                f"dialect {self.dialect.name} {self.dialect.version}",
                "the run is shown as nodes and texts; report this to the author of the dialect",
            )
        )
        self.dialect = PLAIN

    def derived_text(self, file: TraceFile, lines: Sequence[Sequence[int]]) -> str | None:
        """The text of a program that follows from the nodes behind its lines; None where nothing
        says what it is. Raises BudgetError."""
        make = self.dialect.derived_text
        if make is None:
            return None
        return self.ask("its derived text", lambda: make(file, lines), None)

    def lasting(self, argument: str) -> str:
        """An argument without the parts that differ between runs. Raises BudgetError."""
        make = self.dialect.lasting
        if make is None:
            return argument
        return self.ask("its arguments", lambda: _text(make(argument)), None) or argument

    def graph_data(self, file: TraceFile, order: list[int]) -> dict[str, Any] | None:
        """Nodes in the order in which the compiler reads a graph; None where it has none. Raises
        BudgetError."""
        make = self.dialect.graph_data
        return None if make is None else self.ask("its graph", lambda: make(file, order), None)

    def act(self, name: str, file: TraceFile, facts: CheckedFacts, root: int) -> str:
        """The result of the compiler's own action of this name for a graph. Raises TraceError where
        there is none, or it fails, and BudgetError."""
        own = next((one for one in self.dialect.own if one.name == name), None)
        if own is None:
            raise TraceError(
                f"the dialect of this run has no action {name[:60]!r}",
                hint=f"it has {', '.join(one.name for one in self.dialect.own) or 'none'}",
            )
        try:
            text = _text(own.run(view_of(file, facts, root)))
        except UopvizError:
            raise
        except Exception as error:
            raise TraceError(
                f"{own.title} failed: {type(error).__name__}: {str(error)[:300]}",
                f"dialect {self.dialect.name} {self.dialect.version}",
                "report this to the author of the dialect",
            ) from error
        return (text or "")[:MAX_ANSWER]

    def tiles(
        self, process: Any, kernel: Context, passes: Sequence[Rewrite]
    ) -> dict[str, Any] | None:
        """The tiles of a kernel; None where its compiler has none. Raises BudgetError."""
        make = self.dialect.tiles
        return (
            None
            if make is None
            else self.ask("its tiles", lambda: make(process, kernel, passes), None)
        )


class CheckedFacts:
    """The facts of one file: those of its dialect, as long as they make sense."""

    def __init__(self, run: RunDialect, file: TraceFile) -> None:
        self._run, self._file = run, file
        self.arg_text = run.arg_text
        self._stated = SaidFacts(file)
        make = run.dialect.facts
        nothing: Facts = self._stated
        self.own = nothing if make is None else run.ask("its facts", lambda: make(file), nothing)
        """Those of the dialect."""

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        """Facts of nodes by the dialect; those that the trace states once the dialect has failed.
        Raises BudgetError."""
        own = self._asked()
        try:
            found = self._run.ask("its facts", lambda: _checked(own.of(nodes), len(nodes)), None)
        except BudgetError:
            raise
        except UopvizError as error:
            self._run.give_up(f"its facts raised {error.what}")
            found = None
        return self._stated.of(nodes) if found is None else found

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        """What the dialect says that it left out of these nodes."""
        own = self._asked()
        return self._run.ask("its facts", lambda: own.left_out(nodes), [])

    def _asked(self) -> Facts:
        return self._stated if self._run.dialect.facts is None else self.own


def _text(found: object) -> str | None:
    """A text from an adapter, or None. Raises TypeError."""
    if found is None or isinstance(found, str):
        return found
    raise TypeError("it is no text")


def _checked(found: object, count: int) -> list[Fact]:
    """Facts from an adapter, which may be anything. Raises TypeError."""
    facts = cast("list[object]", found) if isinstance(found, list) else []
    if len(facts) == count and isinstance(found, list) and all(map(_makes_sense, facts)):
        return cast("list[Fact]", facts)
    raise TypeError("they are no texts of each node")


def _makes_sense(fact: object) -> bool:
    return fact is NO_FACT or (type(fact) is Fact and all(type(text) is str for text in fact))
