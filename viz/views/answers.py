"""The answers about a run: one row each.

The server's routes, the parts of an exported file, the answers of one that is opened again, the
page's back ends (viz/web/src/data/answers.ts) and docs/http.md all come from this table. A new
answer is a row, its maker, and its type in viz/web/src/data/messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from viz.views.run import Answer, Group, Keep, Subject
from viz.views.store import Store

COUNTING: Final = 60.0
"""Seconds that an export replays passes for, to count nodes."""


def _method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of Store as a maker; that of a subclass, where it has its own."""
    name = method.__name__

    def make(store: Store, *values: int | str, **limits: float) -> Any:
        return getattr(store, name)(*values, **limits)

    return make


def _run(store: Store) -> dict[str, Any]:
    """What can be done with the run depends on the machine: a server says that."""
    return {**store.run(), "devices": [], "targets": [], "editable": []}


RUN: Final = Answer("run", "/api/run", "Run", "The run as a whole", _run, group=Group.HEAD)
TREE: Final = Answer(
    "tree",
    "/api/tree?since={since}",
    "Tree",
    "Rows of the navigator from number `since` on, and older ones that have changed",
    _method(Store.tree),
    group=Group.HEAD,
)
RULES: Final = Answer(
    "rules", "/api/rules", "Rule[]", "Every rule", _method(Store.rules), group=Group.RULES
)
KERNEL: Final = Answer(
    "kernel",
    "/api/kernels/{context}",
    "Kernel",
    "A kernel and the texts recorded of it",
    _method(Store.kernel),
    Subject.KERNEL,
    keep=Keep.NEVER,
    group=Group.KERNELS,
)
ORIGINS: Final = Answer(
    "origins",
    "/api/origins/{context}",
    "Origins",
    "Which AST nodes the nodes of a kernel come from",
    _method(Store.origins),
    Subject.KERNEL,
    keep=Keep.NEVER,
    group=Group.KERNELS,
)
KERNEL_PAGE: Final = Answer(
    "kernel_page",
    "/api/kernel-page/{context}",
    "KernelPage",
    "One kernel: its calls, passes and times",
    _method(Store.kernel_page),
    Subject.KERNEL,
    keep=Keep.NEVER,
    group=Group.KERNELS,
)
SCHEDULE: Final = Answer(
    "schedule",
    "/api/schedules/{context}",
    "Schedule",
    "What was decided about a schedule outside of its passes: its texts",
    _method(Store.schedule),
    Subject.SCHEDULE,
    keep=Keep.NEVER,
    group=Group.SCHEDULES,
)
OVERVIEW: Final = Answer(
    "overview",
    "/api/overview",
    "Overview",
    "What ran and what took how long",
    _method(Store.overview),
    group=Group.VIEWS,
)
RULE_TOTALS: Final = Answer(
    "rule_totals",
    "/api/rule-totals",
    "RuleTotals",
    "What each rule did and cost in each pass",
    _method(Store.rule_totals),
    whole=lambda made: made["counted"] == made["steps"],
    group=Group.VIEWS,
    export_seconds=COUNTING,
)
RULE_MATCHES: Final = Answer(
    "rule_matches",
    "/api/rule-matches",
    "RuleMatches",
    "How often each rule matched in each pass of the run",
    _method(Store.rule_matches),
    whole=lambda made: made["done"],
    group=Group.VIEWS,
    export_seconds=COUNTING,
)
TIMELINE: Final = Answer(
    "timeline",
    "/api/timeline",
    "TimelineData",
    "When everything happened",
    _method(Store.timeline),
    group=Group.VIEWS,
)
USER_LINES: Final = Answer(
    "user_lines",
    "/api/user-lines",
    "UserFile[]",
    "The lines of the user's program, and the kernels that they became",
    _method(Store.user_lines),
    group=Group.VIEWS,
)
BUNDLE: Final = Answer(
    "bundle",
    "/api/rewrites/{rewrite}",
    "Bundle",
    "One graph_rewrite with all of its steps",
    _method(Store.bundle),
    Subject.REWRITE,
    keep=Keep.ENDED,
    group=Group.PASSES,
)
LINEAGE: Final = Answer(
    "lineage",
    "/api/lineage/{scope}",
    "Lineage | LineageWaits",
    "Where the nodes of a schedule or kernel come from and go, or how far it is",
    _method(Store.lineage),
    Subject.SCOPE,
    whole=lambda made: made["done"],
    keep=Keep.NEVER,
    group=Group.HISTORIES,
)
SEARCH: Final = Answer(
    "search",
    "/api/search?q={q:text}",
    "SearchResult",
    "What has `q` in a name, call, rule, op, file or source, or nodes of the structure that it is; "
    "200 characters count",
    _method(Store.search),
    whole=lambda made: made["truncated"] is None,
)

ANSWERS: Final[tuple[Answer, ...]] = (
    RUN,
    TREE,
    RULES,
    KERNEL,
    ORIGINS,
    KERNEL_PAGE,
    SCHEDULE,
    OVERVIEW,
    RULE_TOTALS,
    RULE_MATCHES,
    TIMELINE,
    USER_LINES,
    BUNDLE,
    LINEAGE,
    SEARCH,
)
