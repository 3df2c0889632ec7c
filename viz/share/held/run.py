"""The answers that an exported file holds about a run, as a run: where it carries no trace.

Shows what the page in the file shows. Believes the file nothing that it relies on; never compiles
or runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from core.errors import TraceError
from viz.budget import answering
from viz.dialect.registry import dialect_of
from viz.format.schema import CORE_DIALECT
from viz.known.answers import CHECKS, VERDICTS
from viz.known.kept import checked_pass
from viz.known.whole import kernels_in
from viz.read.database import Problem
from viz.read.tracefile import TraceFile
from viz.replay.graphtext import step_text
from viz.share.exportfile import VERSION, held_base
from viz.share.held.entries import Below, Entries, no_export
from viz.share.held.search import HeldSearch
from viz.views.answers import (
    BUNDLE,
    EMULATED,
    KERNEL,
    LINEAGE,
    ORIGINS,
    PASS_TEXTS,
    RULE_MATCHES,
    RULE_TOTALS,
    RULES,
    RUN,
    SEARCH,
    SEARCH_INDEX,
    SINCE,
    TIMELINE,
    TREE,
    USER_LINES,
)
from viz.views.checks import missing, summary_in, unrun
from viz.views.kernels.compiled import Compilation
from viz.views.kernels.emulations import Emulations, emulations_in
from viz.views.kernels.shaders import KernelShaders
from viz.views.kernels.texts import Texts
from viz.views.runs.places import Places
from viz.views.runs.run import Answer, InFile, Subject, pair_base

_ANSWERS_ONLY: Final = "what the page in the file shows is here; the trace itself has the rest"
_ROW: Final = {"row": int, "id": int, "parent": int, "steps": int, "name": str, "kind": str,
               "label": str, "status": str, "caller": str}  # fmt: skip
_RULE: Final = {"id": int, "name": str}
"""What is relied on here; the page looks after itself."""
Data = dict[str, Any]


@dataclass(frozen=True)
class Held:
    """A run in the exported file `html`."""

    path: Path
    html: str
    version: int
    name: str

    def entries(self) -> Entries:
        """The answers in the file. Raises TraceError for one that is no export."""
        return Entries(self.path, self.html)

    def own(self, entries: Entries) -> Below:
        """Those about this run."""
        return Below(entries, held_base(self.version, self.name))


class Reopened:
    """The answers about a run of an export, as a run. Raises TraceError for a file that is none."""

    answers_only = True
    """What it says may be anything: see `viz/cli.py`."""

    def __init__(self, held: Held, problems: list[Problem]) -> None:
        path, version = held.path, held.version
        self.path, self.held_as = path, held.name
        self.places = Places("")
        self.emulations = Emulations()
        """Nothing is emulated here; what was is an answer like others."""
        self.texts = Texts()
        """Nothing is compiled here; texts of kernels are in the answers about them."""
        self.shaders = KernelShaders()
        self._all = held.entries()
        self._entries = held.own(self._all)
        run, tree, rules = (self._entries.get(path) for path in (RUN.at(), TREE.at(0), RULES.at()))
        rows = cast("Data", tree).get("rows") if isinstance(tree, dict) else None
        if not isinstance(run, dict) or not isinstance(rows, list) or not isinstance(rules, list):
            raise no_export(path, "it does not hold a run")
        if not problems:
            what = "this exported file holds no trace: its kernels cannot be compiled or run here"
            problems = [Problem(what, path.name, _ANSWERS_ONLY)]
        self._run = cast("Data", run)
        if "dialect" not in self._run:  # of before an answer said it: its graphs are core's
            self._run["dialect"] = dialect_of({"dialect": CORE_DIALECT}).dialect.data()
        noted, stated = self._run.get("problems"), self._run.get("format")
        said = [p.data() for p in problems]
        said += cast("list[Any]", noted) if isinstance(noted, list) else []
        known: Data = {"trace": VERSION}
        known |= cast("Data", stated) if isinstance(stated, dict) else {}
        known["export"] = version
        self._run |= {"live": False, "file": path.name, "problems": said, "format": known}
        self._rows: list[Data] = [
            {**row, "calls": str(row.get("calls", ""))} for row in _objects(rows, _ROW)
        ]
        self._all_rules = _objects(rules, _RULE)
        self._names = {rule["id"]: rule["name"] for rule in self._all_rules}
        self._search = HeldSearch(
            self._rows,
            lambda: self._entries.get(SEARCH_INDEX.at()),
            lambda context: self._entries.get(KERNEL.at(context)),
            lambda rewrite: self._entries.get(PASS_TEXTS.at(rewrite)),
            path.name,
        )
        self._checked: Final[Mapping[Answer, Callable[..., Any]]] = {
            RUN: self.run,
            TREE: self.tree,
            RULES: self.rules,
            RULE_TOTALS: self.rule_totals,
            USER_LINES: self.user_lines,
            SINCE: self.since,
            SEARCH: self.search,
            EMULATED: self.emulated,
            CHECKS: self.checks,
            VERDICTS: self.verdicts,
        }
        """What is not passed on as it lies in the file."""

    def ask(self, answer: Answer, *values: int | str, seconds: float = float("inf")) -> Any:
        """Any answer of the table. Raises TraceError for one that was left out."""
        if (checked := self._checked.get(answer)) is not None:
            return checked(*values)
        if answer.in_file is InFile.NEVER:
            raise TraceError(
                "this exported file holds no trace, which this answer needs",
                where=self.path.name,
                hint="open the trace itself, or export it again with a larger --budget",
            )
        if answer.in_file is InFile.DERIVED:
            return answer.make(self, *values)
        return self._stated(answer, *values)

    def _stated(self, answer: Answer, *values: int | str) -> Any:
        """An answer as the file has it."""
        found = self._entries.get(answer.at(*values))
        if found is not None:
            return found
        if answer.subject is Subject.RUN:
            raise self._left_out(answer.doc[0].lower() + answer.doc[1:])
        if any(row["id"] in values for row in self._rows):
            raise self._left_out(f"number {values[0]}")
        return None

    def compared(self, other: Reopened, path: str) -> Any:
        """What the file says of this run and another one of it, at this path below that of the
        pair; None where it says nothing."""
        if other.path != self.path:
            return None
        return self._all.get(pair_base(self.held_as, other.held_as) + path)

    def close(self) -> None:
        """Forgets what is unpacked."""
        self._all.close()

    def refresh(self) -> None:
        """An export never changes."""

    @property
    def live(self) -> bool:
        """An export never changes."""
        return False

    @property
    def compiles(self) -> bool:
        """There is no trace, and so no graph of a kernel."""
        return False

    @property
    def files(self) -> list[TraceFile]:
        """Raises TraceError: there is no trace."""
        raise TraceError(
            "this exported file holds no trace",
            where=str(self.path),
            hint="give the trace itself, or a file that was exported with a larger --budget",
        )

    def is_open(self, rewrite: int) -> bool:
        """Nothing goes on in an export."""
        return False

    def result_of(self, rewrite: int) -> int | None:
        """An export does not say it."""
        return None

    def scope_of(self, rewrite: int) -> int | None:
        """The innermost row around a rewrite that has a lineage."""
        by_place = {row["row"]: row for row in self._rows}
        found = next((row for row in self._rows if row["id"] == rewrite), None)
        around: list[Data] = []
        while found is not None and len(around) < 1000:
            around.append(found)
            found = by_place.get(found["parent"])
        known = [row["id"] for row in around if LINEAGE.at(row["id"]) in self._entries]
        return known[0] if known else None

    def rule_name(self, rule: int) -> str:
        """The name of a rule, by its number."""
        return self._names.get(rule, "?")

    def kernels(self) -> list[int]:
        """The numbers of the kernels that the program compiled."""
        return [
            row["id"] for row in self._rows if row["label"] == "kernel" and not row.get("target")
        ]

    @property
    def compilations(self) -> list[Compilation]:
        """Kernels that were compiled on request; their trace files are not there."""
        return []

    def kernel_of(self, context: int) -> int:
        """The kernel of the program that a context is, or was compiled from on request."""
        return context

    def compiled(self, kernel: int, target: str) -> Compilation | None:
        """The compilation of a kernel for a target; None where the file has none."""
        return None

    def attach(
        self, path: Path, dropped: Callable[[], None] | None = None, number: int | None = None
    ) -> int:
        """Raises TraceError: there is no trace that it could be a part of."""
        raise TraceError("this exported file holds no trace", where=self.path.name)

    def kernel_graph(self, context: int) -> tuple[Data, list[int]] | None:
        """Raises TraceError: an export holds what was shown, not the kernel itself."""
        raise TraceError(
            "this exported file holds no trace, and cannot compile or run its kernels",
            where=self.path.name,
            hint="open the trace itself",
        )

    def step_text(self, rewrite: int, step: int) -> dict[str, str] | None:
        """A pass before and after a step, as text; None where the file does not have it."""
        bundle = self.bundle(rewrite)
        return None if bundle is None else step_text(bundle, step)

    def run(self) -> Data:
        """The run as it was exported."""
        return self._run

    def tree(self, since: int = 0) -> Data:
        """The rows of the navigator, all of them: an export does not change."""
        return {"rows": self._rows[since:], "total": len(self._rows)}

    def rules(self) -> list[Data]:
        """The rules of the run."""
        return self._all_rules

    def rule_totals(self, seconds: float = float("inf")) -> Data:
        """What each rule cost in the whole run; nothing in an export that did not count."""
        nothing: Data = {"rows": [], "silent": [], "counted": 0, "steps": 0}
        return self._entries.get(RULE_TOTALS.at()) or nothing

    def rule_matches(self, seconds: float = float("inf")) -> Data:
        """In which passes each rule matched."""
        return self.ask(RULE_MATCHES)

    def rule_times(self, rule: int) -> None:
        """An export has the times of tries by the names of passes only."""

    def emulated(self, context: int) -> list[Data]:
        """What the file says was emulated of a kernel."""
        return emulations_in(self._stated(EMULATED, context))

    def checked(self) -> list[int]:
        """Those that the file has."""
        return [*self.checks()["rewrite"]]

    def checks(self) -> Data:
        """What the file says was checked; nothing in an export of before there was that."""
        stated = self._entries.get(CHECKS.at()) if CHECKS.at() in self._entries else None
        hint = cast("Data", stated).get("hint") if isinstance(stated, dict) else ""
        found = summary_in(stated)
        rows, kernels = self.tree()["rows"], kernels_in(stated)
        return found | {
            "kernels": kernels,
            "missing": missing(found, rows),
            "unrun": unrun(kernels, rows),
            "problem": "",
            "hint": hint if isinstance(hint, str) else "",
        }

    def verdicts(self, rewrite: int) -> Data | None:
        """What the file says of the steps of a pass. Raises FormatError for what says nothing."""
        stated = self._stated(VERDICTS, rewrite)
        if stated is None:
            return None
        whole = cast("Data", stated).get("whole") if isinstance(stated, dict) else False
        return checked_pass(stated) | {"whole": whole is True}

    def timeline(self) -> Data:
        """The spans of the run in time."""
        return self.ask(TIMELINE)

    def user_lines(self) -> list[Data]:
        """The lines of the program with what they cost; nothing in older exports."""
        return self._entries.get(USER_LINES.at()) or []

    def since(self) -> Data:
        """What had become of the run when it was exported; nothing in an export of before that."""
        nothing: Data = {"maker": None, "files": [], "rules": [], "compared": 0, "notes": []}
        return self._entries.get(SINCE.at()) or nothing

    def bundle(self, rewrite: int) -> Data | None:
        """One pass with all its steps."""
        return self.ask(BUNDLE, rewrite)

    def pass_texts(self, rewrite: int) -> Data | None:
        """The compiler's own text before and after a pass."""
        return self.ask(PASS_TEXTS, rewrite)

    def kernel(self, context: int) -> Data | None:
        """One kernel with its texts."""
        return self.ask(KERNEL, context)

    def origins(self, context: int) -> Data | None:
        """The lines of the program that a kernel comes from."""
        return self.ask(ORIGINS, context)

    def lineage(self, scope: int, seconds: float = float("inf")) -> Data | None:
        """Where the nodes of a schedule or kernel come from and go."""
        return self.ask(LINEAGE, scope)

    def search_index(self, seconds: float = float("inf")) -> Data:
        """What the page in the file searches by name."""
        return self.ask(SEARCH_INDEX)

    def search(self, text: str, seconds: float = float("inf")) -> Data:
        """What `viz/share/held/search.py` finds in the answers."""
        with answering("the search"):
            return self._search.find(text)

    def _left_out(self, what: str) -> TraceError:
        return TraceError(
            f"{what} was left out of this exported file",
            where=self.path.name,
            hint="open the trace itself, or export it again with a larger --budget",
        )


def _objects(items: object, fields: Mapping[str, type]) -> list[Data]:
    """Those of `items` that are objects with these fields."""
    return [
        cast("Data", item)
        for item in cast("list[Any]", items)
        if isinstance(item, dict)
        and all(isinstance(cast("Data", item).get(k), kind) for k, kind in fields.items())
    ]
