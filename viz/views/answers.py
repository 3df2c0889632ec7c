"""The answers about a run: one row each.

The server's routes, the parts of an exported file, the answers of one that is opened again, the
page's back ends (viz/web/src/data/answers.ts) and docs/http.md all come from this table. A new
answer is a row, its maker, and its type in viz/web/src/data/messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from viz.views.rules.rulepage import rule_page
from viz.views.runs.run import Answer, Group, InFile, Keep, Subject
from viz.views.store import Store


def _row(
    method: Callable[..., Any],
    path: str,
    type_: str,
    doc: str,
    group: Group | None,
    subject: Subject = Subject.RUN,
    *,
    whole: Callable[[Any], bool] | None = None,
    keep: Keep = Keep.UNCHANGED,
    counts: bool = False,
) -> Answer:
    """An answer that a method of Store makes, or that of a subclass where it has its own; called
    like the method. The rest as in Answer."""
    name = method.__name__

    def make(store: Store, *values: int | str, **limits: float) -> Any:
        return getattr(store, name)(*values, **limits)

    return Answer(name, path, type_, doc, make, whole, subject, keep, group, counts)


def _run(store: Store) -> dict[str, Any]:
    """What can be done with the run depends on the machine: a server says that."""
    return {**store.run(), "devices": [], "targets": [], "editable": [], "inputs": []}


def _acted(store: Store, context: int, action: str) -> dict[str, Any] | None:
    return store.acted(context, action)


def _is_done(made: dict[str, Any]) -> bool:
    return made["done"] is True


RUN: Final = Answer("run", "/run", "Run", "The run as a whole", _run, group=Group.HEAD)
TREE: Final = _row(
    Store.tree,
    "/tree?since={since}",
    "Tree",
    "Rows of the navigator from number `since` on, and older ones that have changed",
    Group.HEAD,
)
RULES: Final = _row(Store.rules, "/rules", "Rule[]", "Every rule", Group.RULES)
KERNEL: Final = _row(
    Store.kernel,
    "/kernels/{context}",
    "Kernel",
    "A kernel and the texts recorded of it",
    Group.KERNELS,
    Subject.KERNEL,
    keep=Keep.NEVER,
)
ORIGINS: Final = _row(
    Store.origins,
    "/origins/{context}",
    "Origins",
    "Which AST nodes the nodes of a kernel come from",
    Group.KERNELS,
    Subject.KERNEL,
    keep=Keep.NEVER,
)
TILES: Final = _row(
    Store.tiles,
    "/tiles/{context}",
    "Tiles",
    "The tiles of a kernel: where their elements lie, and which nodes of its passes stand for them",
    Group.KERNELS,
    Subject.KERNEL,
)
KERNEL_PAGE: Final = _row(
    Store.kernel_page,
    "/kernel-page/{context}",
    "KernelPage",
    "One kernel: its calls, passes and times",
    Group.KERNELS,
    Subject.KERNEL,
    keep=Keep.NEVER,
)
SCHEDULE: Final = _row(
    Store.schedule,
    "/schedules/{context}",
    "Schedule",
    "What was decided about a schedule outside of its passes: its texts",
    Group.SCHEDULES,
    Subject.SCHEDULE,
    keep=Keep.NEVER,
)
OVERVIEW: Final = _row(
    Store.overview,
    "/overview",
    "Overview",
    "What ran and what took how long",
    Group.VIEWS,
)
RULE_TOTALS: Final = _row(
    Store.rule_totals,
    "/rule-totals",
    "RuleTotals",
    "What each rule did and cost in each pass",
    Group.VIEWS,
    whole=lambda made: made["counted"] == made["steps"],
    counts=True,
)
RULE_MATCHES: Final = _row(
    Store.rule_matches,
    "/rule-matches",
    "RuleMatches",
    "How often each rule matched in each pass of the run",
    Group.VIEWS,
    whole=_is_done,
    counts=True,
)
TIMELINE: Final = _row(
    Store.timeline, "/timeline", "TimelineData", "When everything happened", Group.VIEWS
)
USER_LINES: Final = _row(
    Store.user_lines,
    "/user-lines",
    "UserFile[]",
    "The lines of the user's program, and the kernels that they became",
    Group.VIEWS,
)
SINCE: Final = _row(
    Store.since,
    "/since",
    "Since",
    "Who made the run, and how its files and rules have changed since",
    Group.VIEWS,
    keep=Keep.NEVER,
)
BUNDLE: Final = _row(
    Store.bundle,
    "/rewrites/{rewrite}",
    "Bundle",
    "One graph_rewrite with all of its steps",
    Group.PASSES,
    Subject.REWRITE,
    keep=Keep.ENDED,
)
PASS_TEXTS: Final = _row(
    Store.pass_texts,
    "/pass-texts/{rewrite}",
    "PassTexts",
    "The compiler's own texts of the program before and after a pass",
    Group.PASS_TEXTS,
    Subject.WITH_TEXT,
    keep=Keep.ENDED,
)
ACTED: Final = Answer(
    "acted",
    "/acted/{context}?action={action:text}",
    "Acted",
    "What an action of the compiler's own, of the dialect of the run, says of a kernel",
    _acted,
    subject=Subject.KERNEL,
    keep=Keep.NEVER,
    in_file=InFile.NEVER,
)
EMULATED: Final = _row(
    Store.emulated,
    "/emulated/{context}",
    "Emulation[]",
    "What was emulated of a kernel, the newest last",
    Group.EMULATIONS,
    Subject.EMULATED,
    keep=Keep.NEVER,
)
SHADERS: Final = Answer(
    "shaders",
    "/shaders/{context}",
    "ShadersOrWhy",
    "A kernel compiled for the GPU of a browser, in an exported file",
    Store.kernel_shaders,
    group=Group.SHADERS,
    subject=Subject.SHADED,
    keep=Keep.NEVER,
)
STEP_VALUES: Final = _row(
    Store.step_values,
    "/step-values/{context}",
    "StepValues",
    "What the memory of a captured step held before and after a replay in the run",
    Group.VALUES,
    Subject.VALUED,
    keep=Keep.NEVER,
)
LINEAGE: Final = _row(
    Store.lineage,
    "/lineage/{scope}",
    "Lineage | LineageWaits",
    "Where the nodes of a schedule or kernel come from and go, or how far it is",
    Group.HISTORIES,
    Subject.SCOPE,
    whole=_is_done,
    keep=Keep.NEVER,
)
SEARCH_INDEX: Final = _row(
    Store.search_index,
    "/search-index",
    "SearchIndex",
    "All names, calls, rules, ops and places with where they are: what an exported file searches",
    Group.VIEWS,
    whole=_is_done,
)
SEARCH: Final = _row(
    Store.search,
    "/search?q={q:text}",
    "SearchResult",
    "What has `q` in a name, call, rule, op, file or source, or nodes of the structure that it is; "
    "200 characters count",
    None,
    whole=lambda made: made["truncated"] is None,
)

RULE_PAGE: Final = Answer(
    "rule_page",
    "/rule-page?rule={rule}",
    "RulePage",
    "What one rule did in the whole run: tries, declines and matches by pass, and where it matched",
    rule_page,
    subject=Subject.RULE,
    whole=lambda made: made["done"] is True,
    in_file=InFile.DERIVED,
)
PASS_RULES: Final = Answer(
    "pass_rules",
    "/pass-rules/{rewrite}",
    "PassRules",
    "How long the tries of each rule took in one pass, the longest first",
    Store.pass_rules,
    subject=Subject.REWRITE,
    keep=Keep.ENDED,
    in_file=InFile.NEVER,
)

ANSWERS: Final[tuple[Answer, ...]] = (
    RUN,
    TREE,
    RULES,
    KERNEL,
    ORIGINS,
    TILES,
    KERNEL_PAGE,
    SCHEDULE,
    OVERVIEW,
    RULE_TOTALS,
    RULE_MATCHES,
    TIMELINE,
    USER_LINES,
    SINCE,
    BUNDLE,
    PASS_TEXTS,
    ACTED,
    EMULATED,
    SHADERS,
    STEP_VALUES,
    RULE_PAGE,
    PASS_RULES,
    LINEAGE,
    SEARCH_INDEX,
    SEARCH,
)
