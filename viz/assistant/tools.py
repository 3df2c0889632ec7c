"""The tools: each is a command of `uopviz` with `--json`, and answers what that prints.

What an assistant says becomes values of named options, or words that do not begin with a dash: no
text is read as an option. Only traces that the user named are opened. Without leave to run code,
nothing of a trace and no function of a rule is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.errors import TraceError

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool; `of`: its type in JSON Schema."""

    name: str
    doc: str
    of: str = "string"
    required: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool: `command` is the command of `uopviz`; `words` makes the positional words behind the
    traces of the parameters, `options` the options that are always given."""

    name: str
    command: str
    doc: str
    parameters: tuple[Parameter, ...] = ()
    words: Callable[[Values], Sequence[Any]] = lambda values: ()
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """The option for each parameter that becomes one."""
    always: tuple[str, ...] = ()
    careful: tuple[str, ...] = ()
    """Options that keep it from running code."""
    runs_code: bool = False
    """Whether it can do nothing without."""
    two_traces: bool = False

    def schema(self, traces: Sequence[str]) -> dict[str, Any]:
        """Its parameters in JSON Schema; `traces` are those that can be asked about."""
        known: dict[str, Any] = {}
        if self.two_traces:
            known = {
                "a": {"type": "string", "enum": [*traces], "description": "the run of before"},
                "b": {"type": "string", "enum": [*traces], "description": "the run of now"},
            }
        elif len(traces) > 1:
            text = "which run (default: the first)"
            known = {"trace": {"type": "string", "enum": [*traces], "description": text}}
        known |= {p.name: {"type": p.of, "description": p.doc} for p in self.parameters}
        required = [p.name for p in self.parameters if p.required]
        return {
            "type": "object",
            "properties": known,
            "required": [*(("a", "b") if self.two_traces else ()), *required],
            "additionalProperties": False,
        }

    def line(self, values: Values, paths: Sequence[str], allow_run: bool) -> list[str]:
        """The words of the command. Raises TraceError for a word that would be an option."""
        options = [
            f"{flag}={value}"
            for name, flag in self.flags.items()
            for value in _each(values.get(name))
        ]
        careful = () if allow_run else self.careful
        words = [str(word) for word in self.words(values) if word is not None]
        for word in words:
            if word.startswith("-"):
                raise TraceError(
                    "this begins with a dash", where=word[:80], hint="leave the dash out"
                )
        return [self.command, "--json", *self.always, *careful, *options, "--", *paths, *words]


def _each(value: Any) -> list[Any]:
    if value is None:
        return []
    return [*value] if isinstance(value, list | tuple) else [value]


_KERNEL: Final = Parameter("kernel", "its name, the beginning of it, its number, or a user's call")
_OF_KERNEL: Final = Parameter("kernel", "the kernel that the pass is of")
_PASS: Final = Parameter(
    "pass", "its number, its name, or simplify#2 for the second", required=True
)
_RULE: Final = Parameter("rule", "a rule: its name or its number")
TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "overview",
        "show",
        "The run on one screen: kernels by the time that they ran, the slowest passes, the "
        "costliest rules, problems. Begin here.",
    ),
    Tool(
        "kernel",
        "show",
        "The passes of a kernel with their numbers, steps and times.",
        (Parameter("kernel", _KERNEL.doc, required=True),),
        flags={"kernel": "--kernel"},
    ),
    Tool(
        "text",
        "show",
        "A source text of a kernel, such as ptx, llvm or linear, by its lines.",
        (
            Parameter("kernel", _KERNEL.doc, required=True),
            Parameter(
                "kind", "ptx, llvm, linear and others; ptx:sm_90 for one target", "string", True
            ),
        ),
        flags={"kernel": "--kernel", "kind": "--text"},
    ),
    Tool(
        "step",
        "show",
        "A pass with its steps; or one step: the rule with its equation and place, the user's "
        "lines, what the pattern bound, the graphs before and after as text.",
        (_PASS, Parameter("step", "which step; 0 is the input graph", "integer"), _OF_KERNEL),
        flags={"pass": "--pass", "step": "--step", "kernel": "--kernel"},
    ),
    Tool(
        "find",
        "find",
        "What has a text in a name, call, rule, op, file or line of a source, or nodes of a "
        "structure such as ADD(MUL, _).",
        (Parameter("text", "what to look for", required=True),),
        lambda values: (values["text"],),
    ),
    Tool(
        "node",
        "node",
        "Where a node comes from and what became of it, over all passes: each event with its rule, "
        "back to the user's line, and on to the lines of the kernel's texts. Also from a line of a "
        "text: which rules made it.",
        (
            Parameter(
                "node", "u123, or with a kernel a line of a text of it: ptx:12", required=True
            ),
            Parameter("pass", "the pass in which it is seen (default: the first)"),
            _OF_KERNEL,
        ),
        lambda values: (values["node"],),
        {"pass": "--pass", "kernel": "--kernel"},
    ),
    Tool(
        "rules",
        "stats",
        "What each rule cost, how often it matched and was tried; of the run, of one pass, or one "
        "rule by pass.",
        (Parameter("pass", "only this pass"), Parameter("kernel", _OF_KERNEL.doc), _RULE),
        flags={"pass": "--pass", "kernel": "--kernel", "rule": "--rule"},
    ),
    Tool(
        "why_not",
        "why-not",
        "Why a rule did not fire at a node of a pass; without a node, where it nearly did.",
        (
            _PASS,
            Parameter("rule", _RULE.doc, required=True),
            Parameter("node", "u123"),
            _OF_KERNEL,
        ),
        lambda values: (values["pass"], values.get("node"), values["rule"]),
        {"kernel": "--kernel"},
        careful=("--no-run",),
    ),
    Tool(
        "check",
        "check",
        "Whether each step is right, proved or sampled; of a kernel, a pass or a rule.",
        (_KERNEL, Parameter("pass", "only passes of this name"), _RULE),
        flags={"kernel": "--kernel", "pass": "--pass", "rule": "--rule"},
        always=("--seconds=120", "--jobs=2"),
        careful=("--run-seconds=0",),
    ),
    Tool(
        "bisect",
        "bisect",
        "Which match of which rule made a result wrong, in a kernel or anywhere in the run. "
        "Compiles and runs kernels.",
        (_KERNEL,),
        flags={"kernel": "--kernel"},
        runs_code=True,
    ),
    Tool(
        "what_if",
        "what-if",
        "A kernel compiled otherwise, run beside the old one: what differs, and how much "
        "faster it is.",
        (
            Parameter("kernel", _KERNEL.doc, required=True),
            Parameter("skip", "a rule to leave out"),
            Parameter("opts", "optimisations such as 'UPCAST(0, 4) UNROLL(0, 0)'; '' for none"),
            Parameter("target", "compile for this target, such as sm_90"),
        ),
        flags={"kernel": "--kernel", "skip": "--skip", "opts": "--opts", "target": "--target"},
        always=("--no-keep",),
        runs_code=True,
    ),
    Tool(
        "query",
        "query",
        "One SELECT (SQLite) over the tables meta, contexts, rewrites, rules, rule_totals, nodes, "
        "edges, matches, rebuilds, declines, launches, user_lines, artifacts and others; "
        "SELECT name, sql FROM sqlite_master has their columns.",
        (Parameter("sql", "the SELECT", required=True), _KERNEL),
        lambda values: (values["sql"],),
        {"kernel": "--kernel"},
    ),
    Tool("diff", "diff", "What differs between two of the runs.", two_traces=True),
)


def tools(traces: int, allow_run: bool) -> list[Tool]:
    """Those that there are for so many traces."""
    return [
        tool
        for tool in TOOLS
        if (allow_run or not tool.runs_code) and (traces > 1 or not tool.two_traces)
    ]
