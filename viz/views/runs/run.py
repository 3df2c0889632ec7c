"""What a run is to those who show it: the protocol `Run`, and the form of one declared `Answer`.

`Store` is a run read from trace files, `viz.share.reopened.Reopened` one of the answers in an
exported file. `viz/views/answers.py` has the table of answers. Never makes an answer.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from viz.read.tracefile import TraceFile
from viz.views.kernels.compiled import Compilation
from viz.views.kernels.emulations import Emulations
from viz.views.kernels.shaders import KernelShaders
from viz.views.kernels.texts import Texts
from viz.views.runs.places import Places

_PARAMETER: Final = re.compile(r"\{(\w+)(:text)?\}")
NAMES: Final = "ABCDEFGH"
"""The names of runs that are open together, or that lie in one exported file; each is a letter."""
FIRST: Final = NAMES[0]
"""The only one, where there is one."""


class Subject(enum.Enum):
    """What an answer is about; the value names it in an error."""

    RUN = "run"
    """The whole run."""
    REWRITE = "pass"
    """One rewrite, by its number."""
    WITH_TEXT = "pass with texts"
    """One rewrite that has texts of the compiler's own, by its number."""
    KERNEL = "kernel"
    """One kernel, by the number of its context."""
    SCHEDULE = "schedule"
    """One schedule, by the number of its context."""
    EMULATED = "emulated kernel"
    """One kernel of which something was emulated, by the number of its context."""
    SHADED = "kernel for browsers"
    """One kernel that was compiled for the GPU of a browser, by the number of its context."""
    VALUED = "captured step with values"
    """One captured step of which the trace holds values, by the number of its context."""
    CHECKED = "checked pass"
    """One rewrite of which steps were checked, by its number."""
    RULE = "rule"
    """One rule, by its number."""
    SCOPE = "schedule or kernel"
    """One context, or a rewrite outside of any, by its number."""


class Keep(enum.Enum):
    """How long a server keeps an answer."""

    UNCHANGED = "until the run has gone on"
    ENDED = "from the end of its rewrite on"
    NEVER = "never"


class InFile(enum.Enum):
    """Whether an exported file without its trace can give an answer."""

    STATED = "where it holds the answer itself"
    DERIVED = "made of other answers that it holds"
    NEVER = "it needs the trace"


class Group(enum.Enum):
    """The groups of answers in an exported file, in the order in which they find room; the value
    names what of a group is left out."""

    HEAD = "answers about the whole run"
    """The run and its rows: without these there is no export."""
    RULES = "texts of rules"
    KERNELS = "kernels"
    SCHEDULES = "texts of schedules"
    VIEWS = "views"
    PASSES = "passes"
    PASS_TEXTS = "texts of passes"
    EMULATIONS = "emulations"
    SHADERS = "kernels for browsers"
    VALUES = "captured steps' values"
    CHECKS = "results of checks"
    HISTORIES = "histories"


@dataclass(frozen=True)
class Parameter:
    """A parameter of an answer: a number from 0 on, or a text."""

    name: str
    is_text: bool


@dataclass(frozen=True, eq=False)
class Asked:
    """One kind of answer, about a run or a pair of runs."""

    name: str
    path: str
    """Where it is asked for, below the path of its run or pair; `{name}` is a number, `{name:text}`
    a text."""
    type: str
    """Its TypeScript type, or types with | between them, in viz/web/src/data/messages."""
    doc: str
    """What it says, for docs/http.md."""
    make: Callable[..., Any]
    """Makes it of what it is about, such as a Store, and the values of the parameters in the order
    of the path; None: there is no such subject. Takes `seconds`, where it may be partial."""
    whole: Callable[[Any], bool] | None = None
    """Where it may be partial, so that it is asked for again: whether all is in it."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in the order of the path."""
        return tuple(Parameter(name, bool(text)) for name, text in _PARAMETER.findall(self.path))

    @property
    def route(self) -> str:
        """The path without its query, as Flask writes it."""
        return _PARAMETER.sub(r"<int:\1>", self.path.partition("?")[0])

    def at(self, *values: int | str) -> str:
        """The path of one answer."""
        named = dict(zip((p.name for p in self.parameters), values, strict=True))
        return _PARAMETER.sub(lambda found: quote(str(named[found[1]]), safe=""), self.path)

    def is_whole(self, value: Any) -> bool:
        """Whether an answer is all that there is to say."""
        return self.whole is None or value is None or self.whole(value)


@dataclass(frozen=True, eq=False)
class Answer(Asked):
    """One kind of answer about a run."""

    subject: Subject = Subject.RUN
    keep: Keep = Keep.UNCHANGED
    group: Group | None = None
    """Where exported files have it; None: what is asked cannot be listed beforehand."""
    counts: bool = False
    """Whether it replays all passes, a few at a time: a partial answer whose rest can wait while
    the program runs, and that an export does not wait for without end."""
    in_file: InFile = InFile.STATED


def base_of(name: str) -> str:
    """What the paths of the answers about a run begin with, on a server and in an exported file."""
    return f"/api/{name}"


def pair_base(a: str, b: str) -> str:
    """The same of the answers about a pair of runs."""
    return f"/api/compare/{a}/{b}"


class Run(Protocol):
    """A run as the page and the commands see it. Answers have the form of
    viz/web/src/data/messages; None stands for a number that nothing has. All raise BudgetError
    where an answer cannot be made within its budget, and TraceError for what a file leaves out."""

    @property
    def path(self) -> Path:
        """The file that was opened."""
        ...

    @property
    def held_as(self) -> str:
        """The name that the run has in an exported file; FIRST for a trace."""
        ...

    @property
    def places(self) -> Places:
        """How files are named to the user."""
        ...

    @property
    def files(self) -> list[TraceFile]:
        """The trace file of each process. Raises TraceError where there is none."""
        ...

    @property
    def live(self) -> bool:
        """Whether a process of the run still writes."""
        ...

    @property
    def compiles(self) -> bool:
        """Whether its kernels can be compiled and run here."""
        ...

    def close(self) -> None:
        """Lets go of its files."""
        ...

    def refresh(self) -> None:
        """Reads what was written since."""
        ...

    def ask(self, answer: Answer, *values: int | str, seconds: float = float("inf")) -> Any:
        """Any answer of the table, with the values of its parameters. One that may be partial
        takes about `seconds` at most; asking again goes on."""
        ...

    def is_open(self, rewrite: int) -> bool:
        """Whether a rewrite may still get more steps."""
        ...

    def scope_of(self, rewrite: int) -> int | None:
        """The scope whose lineage a rewrite is in."""
        ...

    def result_of(self, rewrite: int) -> int | None:
        """The number of the node that a rewrite returned."""
        ...

    def rule_name(self, rule: int) -> str:
        """The name of a rule; "?" for an unknown one."""
        ...

    def kernels(self) -> list[int]:
        """Numbers of all kernel contexts."""
        ...

    def kernel_graph(self, context: int) -> tuple[dict[str, Any], list[int]] | None:
        """A kernel's AST as data, and the numbers of its nodes in the run."""
        ...

    @property
    def compilations(self) -> list[Compilation]:
        """Kernels that were compiled on request: no part of what the program did."""
        ...

    @property
    def emulations(self) -> Emulations:
        """What was emulated of its kernels here: no part of what the program did."""
        ...

    @property
    def shaders(self) -> KernelShaders:
        """What kernels were compiled to for the GPU of a browser."""
        ...

    @property
    def texts(self) -> Texts:
        """What its kernels were compiled to for an exported file: no part of what the program
        did."""
        ...

    def checked(self) -> list[int]:
        """Numbers of the passes of which it is known whether steps are right."""
        ...

    def kernel_of(self, context: int) -> int:
        """The kernel of the program that a context is, or was compiled from on request."""
        ...

    def compiled(self, kernel: int, target: str) -> Compilation | None:
        """What a kernel, as it is now, was compiled to for a target."""
        ...

    def attach(
        self, path: Path, dropped: Callable[[], None] | None = None, number: int | None = None
    ) -> int:
        """Takes up the trace of a kernel of this run that was compiled on request; the number of
        the context that holds its passes. With `dropped` it may have to go in favour of others,
        and `dropped` is called then. Raises TraceError where the file is no such trace."""
        ...

    def step_text(self, rewrite: int, step: int) -> dict[str, str] | None:
        """The graphs before and after a step as text."""
        ...

    def run(self) -> dict[str, Any]:
        """The run as a whole."""
        ...

    def tree(self, since: int = 0) -> dict[str, Any]:
        """Rows of the navigator."""
        ...

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its counts."""
        ...

    def rule_totals(self, seconds: float = float("inf")) -> dict[str, Any]:
        """Counts and time of each rule in each pass."""
        ...

    def rule_matches(self, seconds: float = float("inf")) -> dict[str, Any]:
        """How often each rule matched in each rewrite."""
        ...

    def timeline(self) -> dict[str, Any]:
        """When everything happened."""
        ...

    def user_lines(self) -> list[dict[str, Any]]:
        """The lines of the user's program."""
        ...

    def bundle(self, rewrite: int) -> dict[str, Any] | None:
        """One rewrite with all of its steps."""
        ...

    def pass_texts(self, rewrite: int) -> dict[str, Any] | None:
        """The compiler's own texts before and after a rewrite."""
        ...

    def kernel(self, context: int) -> dict[str, Any] | None:
        """A kernel and its texts."""
        ...

    def origins(self, context: int) -> dict[str, Any] | None:
        """Which AST nodes a kernel's nodes come from."""
        ...

    def lineage(self, scope: int, seconds: float = float("inf")) -> dict[str, Any] | None:
        """Where the nodes of a scope come from and go."""
        ...

    def search_index(self, seconds: float = float("inf")) -> dict[str, Any]:
        """What a search looks up besides names."""
        ...

    def search(self, text: str, seconds: float = float("inf")) -> dict[str, Any]:
        """What has `text`, or nodes of the structure that it describes."""
        ...


def subjects(run: Run) -> Mapping[Subject, list[int]]:
    """The numbers of everything in a run that an answer can be about, in the order of the tree."""
    rows = run.tree()["rows"]
    rewrites = [row["id"] for row in rows if row["kind"] == "rewrite"]
    contexts = [row for row in rows if row["kind"] == "context"]
    stated = run.run()  # an exported file may state anything
    emulated, shaded, valued = (stated.get(key) for key in ("emulated", "shaders", "stepValues"))
    scopes = dict.fromkeys(run.scope_of(number) for number in rewrites)
    return {
        Subject.REWRITE: rewrites,
        Subject.WITH_TEXT: [row["id"] for row in rows if row.get("text") is True],
        Subject.KERNEL: [row["id"] for row in contexts if row["label"] == "kernel"],
        Subject.SCHEDULE: [row["id"] for row in contexts if row["label"] == "schedule"],
        Subject.CHECKED: run.checked(),
        Subject.EMULATED: emulated if isinstance(emulated, list) else [],
        Subject.SHADED: shaded if isinstance(shaded, list) else [],
        Subject.VALUED: valued if isinstance(valued, list) else [],
        Subject.SCOPE: [scope for scope in scopes if scope is not None],
    }
