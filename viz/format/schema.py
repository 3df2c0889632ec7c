"""The trace format: one SQLite file per process, version 4, readable without this program.

The names and numbers in it; docs/trace-format.md describes it. Its tables are declared in
`viz/format/rows.py`, the columns of its packed blocks in `viz/format/blocks.py`; `uopviz query`
offers both as SQL tables (`viz/share/sql.py`). Never opens a file.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 4
APPLICATION_ID: Final = 0x556F7056  # "UopV", as SQLite's application_id
SUFFIX: Final = ".viz"

# Kinds of packed blocks.
STRINGS: Final = 1
PLAIN_NODES: Final = 2  # of version 2
RULES: Final = 3
EVENTS: Final = 4
LAUNCHES: Final = 5
PLAIN_MEMORY: Final = 6  # of files without MEMORY
TEXTS: Final = 7
RULE_SETS: Final = 8
VISITS: Final = 9
USER_LINES: Final = 10
HEADS: Final = 11
NODES: Final = 12
TEXT_LINES: Final = 13
REWRITES: Final = 14
TRIES: Final = 15
GATED: Final = 16
CAPTURED: Final = 17
VALUES: Final = 18
MEMORY: Final = 19
ORIGINS: Final = 20
PASS_TEXTS: Final = 21
CAPTURED_STEPS: Final = 22

RULES_PACKED: Final = 3
"""The first version without a table `rules`."""

COMPILER: Final = "uopviz"
"""META's `compiler` of the traces that the recorder of `core` writes."""
CORE_DIALECT: Final = {"name": COMPILER, "version": 1}
"""META's `dialect` of the same."""
WHAT_IF: Final = "what_if"
"""Key of what a file says of itself: names of the kernels that were compiled otherwise for it."""
EDITED: Final = "edited"
"""Key of the same: names of those of them whose text was edited. No pass made it."""

IDLE: Final = "idle"
"""Key of the same: a child process had nothing open when it last wrote, and all that it did is in
its file. Pools kill such workers."""

# Kinds of events.
MATCH: Final = 1
REBUILD: Final = 2
DECLINE: Final = 3

VisitKey = tuple[int, int, int, int]
"""Pass (string), rule set, op (string), and the rule that ended the visits, or 0 for all."""

MAX_TEXT: Final = 1 << 20
"""Longer strings are cut by the writer, which says so at their end."""

REDACTED: Final = "(source redacted)"
"""What a redacted copy has in the place of the source of a rule."""

MAX_DIGEST: Final = 128
"""Characters of a digest."""

META: Final = (
    "run",  # text shared by all processes of one run
    "process",  # {"pid", "start", "host", "main": bool}: who writes, and whether it is still alive
    "started",  # ISO 8601 with zone
    "ended",  # seconds of recording; missing when the process was killed
    "idle",  # of a child process: whether it has nothing open, so that killing it loses nothing
    "command",  # list of text
    "name",  # what the run is called, where its command does not say it
    "cwd",
    "commit",  # {"id", "dirty": changed files}
    "compiler",  # whose graphs these are: "uopviz" for core's, which can be compiled again
    "dialect",  # {"name", "version"}: what their ops and arguments mean, see docs/extending.md
    "machine",
    "python",
    "versions",  # {"package": "version"}
    "flags",  # {"NAME": value}: environment variables that change what the compiler does
    "stopped",  # why the recording stopped before the program did, e.g. a full disk
    "left_out",  # [{"what", "where", "hint"}]: what a copy lacks of the run
    "reasons",  # {"texts", "rows": [[rewrite, rule, node, text], ...]}: why rules declined
    "passes_for",  # {"kernel", "target"}: of a compilation on request, see viz/views/kernels
)
