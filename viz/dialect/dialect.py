"""`Dialect`: all that the explorer may know of the meaning of one compiler's graphs.

The explorer itself knows nodes, steps, attributes and texts. A compiler's adapter is one frozen
object of this class, registered as `viz/dialect/registry.py` says; every field has a default that
means nothing, so that an adapter gives what it has. Never imports a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args

from viz.dialect.argtext import Spell
from viz.read.records import Context, Rewrite, Role
from viz.read.tracefile import TraceFile

Group = Literal[
    "range", "const", "arithmetic", "memory", "reduce", "movement", "control", "device", "other"
]
"""What an op is to the eye: its colour and its mark, and how it folds. "other" says nothing."""
GROUPS: Final[tuple[str, ...]] = get_args(Group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One op, as the explorer needs it.

    `group`: see Group. `short`: its name where room is short. `commutes`: its two sources may stand
    in either order. `joins`: results are joined one by one, as in a sum, in any order. `counted`:
    its argument is a number that the process counted up to, which says nothing. `computes`: lines
    of the program are named for it as what they ask for.

    `addresses`: the first and the last of its sources that are addresses, -1 for all to the end:
    whole-number arithmetic above is folded into one index expression. How it is written in that:
    `spelled` is a template with a `{}` for each source and `{dtype}` for its type, `binds` how
    tightly it binds (10: never needs brackets); `named`: without sources, by its argument ("arg"),
    by the identifier in that ("word"), or by the last of its ranges ("range"). `on_bool`: the op
    that it is where its type is bool; `negates`: of booleans, the second source with which it is
    the negation of the first. `passing`: the first word of its argument is a name that is made
    up, which another run of the same program has otherwise.
    """

    group: Group = "other"
    short: str = ""
    commutes: bool = False
    joins: bool = False
    counted: bool = False
    computes: bool = False
    addresses: tuple[int, int] | None = None
    spelled: str = ""
    binds: int = 10
    named: Literal["", "arg", "word", "range"] = ""
    on_bool: str = ""
    negates: str = ""
    passing: bool = False


class Fact(NamedTuple):
    """What follows from a node, as texts; "" where there is nothing to say. `roles`: what its
    sources are to it, as in "lhs,rhs"; "order": it only comes before."""

    shape: str = ""
    low: str = ""
    high: str = ""
    ranges: str = ""
    device: str = ""
    roles: str = ""


NO_FACT: Final = Fact()


_DEFAULT: Final = Op()
_ON_PAGE: Final = {"on_bool": "onBool"}


def op_data(op: Op) -> dict[str, Any]:
    """An op as it is sent to the page, without empty fields."""
    found = {f.name: getattr(op, f.name) for f in fields(op) if f.name != "computes"}
    said = {name: value for name, value in found.items() if value != getattr(_DEFAULT, name)}
    return {_ON_PAGE.get(name, name): value for name, value in said.items()}


class Action(Enum):
    """What can be done with a run besides looking at it; the value is its name on the page."""

    COMPILE = "compile"
    """Kernels can be compiled for targets."""
    RUN = "run"
    """Kernels can be run on devices, and timed in the workbench."""
    EMULATE = "emulate"
    WHAT_IF = "what-if"
    CHECK = "check"
    """Steps can be judged."""
    BISECT = "bisect"
    TILES = "tiles"
    """Kernels may be of tiles whose layouts are known."""


@dataclass(frozen=True, slots=True)
class ContextKind:
    """What people call contexts that have a role, one and many of them, and further `kinds` of
    contexts, as traces call them, that have it too."""

    title: str
    plural: str
    kinds: tuple[str, ...] = ()


def _contexts() -> Mapping[Role, ContextKind]:
    return {
        "kernel": ContextKind("kernel", "kernels"),
        "schedule": ContextKind("schedule", "schedules"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TextKind:
    """One kind of text that a kernel or a schedule becomes. `name` is what traces call it, `title`
    what people read, `language` how it is highlighted, `ending` that of its files; `families`: the
    targets that it can be expected for. `lasts`: another run of the same program has the same."""

    name: str
    title: str
    language: str = "text"
    ending: str = ".txt"
    families: tuple[str, ...] = ()
    lasts: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A node as functions of an adapter see it: its number in its file, its texts, its sources, and
    its own facts."""

    number: int
    op: str
    dtype: str
    arg: str
    src: tuple[View, ...]
    fact: Fact

    def below(self) -> list[View]:
        """All nodes below it and itself, each once, sources first."""
        found: dict[int, View] = {self.number: self}
        waiting: list[View] = [self]
        while waiting:
            for source in waiting.pop().src:
                if source.number not in found:
                    found[source.number] = source
                    waiting.append(source)
        return [found[number] for number in sorted(found)]  # a source has a smaller number


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAction:
    """What a compiler can do with a kernel that the explorer knows nothing of. `title` stands on
    its button; `run` is given the graph of the kernel, and answers with text. It runs in the
    process of the server, when the user asks for it."""

    name: str
    title: str
    run: Callable[[View], str]


class Facts(Protocol):
    """The facts of the nodes of one file."""

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        """Those of `nodes`, given so that sources come before their users."""
        ...

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        """Sentences of how many of `nodes` have no facts, if there are any, and why."""
        ...


def _no_ops() -> Mapping[str, Op]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One compiler's. `name` is what its traces say, `version` that of its vocabulary: a trace of a
    newer one is shown without it. `title`: what people call the compiler.

    `ops`: by name; a name that ends in a dot is that of all ops that begin with it and have no
    entry of their own. `facts`: those of the nodes of a file, None: what nodes say of themselves.
    """

    name: str
    version: int = 1
    title: str = ""
    ops: Mapping[str, Op] = field(default_factory=_no_ops)
    facts: Callable[[TraceFile], Facts] | None = None
    spell: Spell | None = None
    """The text of an object that arguments are written in as JSON."""
    lasting: Callable[[str], str] | None = None
    """An argument, as the trace has it, without what another run of the same program has
    otherwise, such as names that are made up."""
    derived_text: Callable[[TraceFile, Sequence[Sequence[int]]], str | None] | None = None
    """The text of a program that its trace leaves out because it follows from the nodes behind its
    lines; None where it does not follow."""
    graph_data: Callable[[TraceFile, list[int]], dict[str, Any]] | None = None
    """Nodes of a file, sources first, as the compiler reads a graph."""
    contexts: Mapping[Role, ContextKind] = field(default_factory=_contexts)
    """What its kernels and its schedules are called."""
    texts: tuple[TextKind, ...] = ()
    """The kinds of texts, in the order in which the page prefers them."""
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    """The family of each target, by its name."""
    devices: Mapping[str, str] = field(default_factory=dict[str, str])
    """The family of targets that devices of a kind run code for: of "CUDA" that of "CUDA:1"."""
    device_titles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What people call a device."""
    reference: str = ""
    """The device whose results others are compared with, and which is not timed."""
    edited: Mapping[str, str] = field(default_factory=dict[str, str])
    """The family of targets for which any machine runs an edited text, by its kind."""
    opt_words: Callable[[str], str] | None = None
    """What an optimisation of a kernel does, in words."""
    usual: tuple[str, ...] = ()
    """The targets that are shown first, and whose texts an exported file has unasked."""
    browser: Mapping[str, str] | None = None
    """The text of kernels that a browser runs, as "kind" and "target"; None for none."""
    sources: Path | None = None
    """The folder of the compiler here: a file of that name and place in a trace is one of its."""
    tiles: Callable[[Any, Context, Sequence[Rewrite]], dict[str, Any]] | None = None
    """The tiles of a kernel with these passes, of a `viz.views.runs.process.Process`."""
    actions: frozenset[Action] = frozenset()
    """What of the explorer's actions is there for its traces."""
    own: tuple[OwnAction, ...] = ()

    def op(self, name: str) -> Op:
        """What is known of an op."""
        found = self.ops.get(name)
        while found is None and (name := name.rpartition(".")[0]):
            found = self.ops.get(f"{name}.")
        return _DEFAULT if found is None else found

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """What kinds of contexts are to the explorer."""
        return {kind: role for role, one in self.contexts.items() for kind in one.kinds}

    @cached_property
    def commutative(self) -> frozenset[str]:
        """The ops whose two sources may stand in either order, case-folded."""
        return frozenset(name.casefold() for name, op in self.ops.items() if op.commutes)

    @cached_property
    def kinds(self) -> Mapping[str, TextKind]:
        """The kinds of texts by name."""
        return {kind.name: kind for kind in self.texts}

    @cached_property
    def preferred(self) -> Mapping[str, int]:
        """The place of each kind of text in the order in which they are preferred."""
        return {kind.name: at for at, kind in enumerate(self.texts)}

    def may_run(self, device: str, target: str) -> bool:
        """Whether a device can have run what was compiled for a target, as far as their names say
        it: kernels of one AST have one name, whatever they were compiled for."""
        known, family = self.targets.get(target), self.devices.get(device.partition(":")[0])
        return known is None or family is None or known == family

    @cached_property
    def _op_data(self) -> Mapping[str, dict[str, Any]]:
        return {name: op_data(op) for name, op in self.ops.items()}

    def data(self) -> dict[str, Any]:
        """In the form of the page."""
        return {
            "name": self.name,
            "version": self.version,
            "title": self.title or self.name,
            "ops": self._op_data,
            "actions": sorted(action.value for action in self.actions),
            "own": [{"name": one.name, "title": one.title} for one in self.own],
            "contexts": {
                role: {"title": one.title, "plural": one.plural}
                for role, one in (*_contexts().items(), *self.contexts.items())
            },
            "devices": dict(self.device_titles),
            "reference": self.reference,
            "usual": [*self.usual],
            "edited": dict(self.edited),
        }


PLAIN: Final = Dialect(name="")
"""That of a trace whose compiler is unknown: nodes and texts."""
