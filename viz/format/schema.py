"""The trace format: one SQLite file per process, version 2, readable without this program.

`uopviz query` offers the packed parts as SQL tables too (`viz/share/sql.py`). This module holds the
layout and the names in it; it never opens a file.

Plain tables
    meta        what ran where: see META. One row per key, the value is JSON.
    contexts    named groups ("schedule", "kernel <name>"), nested.
    rewrites    one row per graph_rewrite. `name`, `matcher` and `caller` are string ids; its events
                are in the blocks `first_block`..`last_block`.
    rules       one row per rule; docstring, source and pattern are in blocks of kind RULES.
    rule_totals matches, declines and time of each rule per pass name: what `uopviz stats` reads.
    kernels     the compiled program of a kernel context.
    artifacts   source texts of a kernel with the nodes behind every line; the texts themselves are
                in blocks of kind TEXTS.
    blocks      packed data (`viz/format/pack.py`), in the order in which it was written.

Ids. Strings, nodes and rules are numbered from 1 in the order in which they are written (0: none).
Contexts and rewrites share one numbering from 1, in the order in which they began. Times are
microseconds since the start of the recording.

Blocks. `kind` is one of the constants below, `first` the first id in it, `count` how many it holds.
    STRINGS  JSON list of texts.
    NODES    columns op, dtype, arg, tag, origin, loc, extra (string ids), number of sources, and
             all sources as (id - source id): a source is always an earlier node. `arg` and `tag`
             are typed JSON as in core/uop/args.py; `origin` is "file:line" or "file:line call";
             `extra` is JSON with any of the texts shape, lo, hi, ranges, for compilers whose nodes
             this program cannot work them out for.
    RULES    JSON list of objects: id, doc, source, sourceLine, pattern (viz/recording/patterns.py).
    EVENTS   columns kind, rewrite of every event in engine order; of the matches rule, before,
             after, time in us, signature, number of bindings; of all bindings (before - node); of
             the rebuilds old, new; of the declines rule, node. A signature is the string id of the
             JSON list of the bound names.
    LAUNCHES columns name, device (string ids), start in us, duration in ns, bytes.
    MEMORY   columns device (string id), time in us, allocated bytes.
    RULE_SETS columns number of rules of each set of rules, and all their rules, in the order in
             which they are tried; `first` is the number of the first set.
    VISITS   columns pass (string id of the name), set of rules, op (string id), rule, count: nodes
             of that op that such passes offered to the set since the last block (rule 0), and how
             many of these visits a rule ended, because it replaced the node or failed.
    TEXTS    JSON list of texts of artifacts, compressed with LZMA or zlib (viz/format/texts.py).
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 2
APPLICATION_ID: Final = 0x556F7056  # "UopV", as SQLite's application_id
SUFFIX: Final = ".viz"

STRINGS: Final = 1
NODES: Final = 2
RULES: Final = 3
EVENTS: Final = 4
LAUNCHES: Final = 5
MEMORY: Final = 6
TEXTS: Final = 7
RULE_SETS: Final = 8
VISITS: Final = 9

COMPILER: Final = "uopviz"
"""META's `compiler` of the traces that the recorder of `core` writes."""

MATCH: Final = 1
REBUILD: Final = 2
DECLINE: Final = 3

NODE_COLUMNS: Final = ("op", "dtype", "arg", "tag", "origin", "loc", "extra", "nsrc", "src")
NODE_DELTA: Final = (False,) * len(NODE_COLUMNS)
EVENT_COLUMNS: Final = (
    "kind",
    "rewrite",
    "match_rule",
    "match_before",
    "match_after",
    "match_us",
    "match_sig",
    "bind_count",
    "binds",
    "rebuild_old",
    "rebuild_new",
    "decline_rule",
    "decline_node",
)
EVENT_DELTA: Final = tuple(
    name in ("rewrite", "match_before", "match_after", "rebuild_old", "rebuild_new", "decline_node")
    for name in EVENT_COLUMNS
)
LAUNCH_COLUMNS: Final = ("name", "device", "start", "ns", "bytes")
LAUNCH_DELTA: Final = (False, False, True, False, False)
MEMORY_COLUMNS: Final = ("device", "time", "allocated")
MEMORY_DELTA: Final = (False, True, True)
RULE_SET_COLUMNS: Final = ("length", "rules")
RULE_SET_DELTA: Final = (False, True)
VISIT_COLUMNS: Final = ("pass", "set", "op", "rule", "count")
VISIT_DELTA: Final = (True, True, True, False, False)
VisitKey = tuple[int, int, int, int]
"""Pass (string), rule set, op (string), and the rule that ended the visits, or 0 for all."""

MAX_TEXT: Final = 1 << 20
"""Longer strings are cut by the writer, which says so at their end."""

META: Final = (
    "run",  # text shared by all processes of one run
    "process",  # {"pid", "start", "host", "main": bool}: who writes, and whether it is still alive
    "started",  # ISO 8601 with zone
    "ended",  # seconds of recording; missing when the process was killed
    "command",  # list of text
    "cwd",
    "commit",  # {"id", "dirty": changed files}
    "compiler",  # whose graphs these are: "uopviz" for core's, which can be compiled again
    "machine",
    "python",
    "versions",  # {"package": "version"}
    "flags",  # {"NAME": value}: environment variables that change what the compiler does
    "stopped",  # why the recording stopped before the program did, e.g. a full disk
    "left_out",  # [{"what", "where", "hint"}]: what a copy lacks of the run
    "passes_for",  # {"kernel", "target"}: of a compilation on request, see viz/views/compiled.py
)

DDL: Final = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE contexts(
  id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
  meta TEXT NOT NULL, thread INTEGER NOT NULL, start INTEGER NOT NULL, us INTEGER, error TEXT);
CREATE TABLE rewrites(
  id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, context INTEGER NOT NULL, name INTEGER NOT NULL,
  matcher INTEGER NOT NULL, caller INTEGER NOT NULL, bottom_up INTEGER NOT NULL,
  sink INTEGER NOT NULL, result INTEGER NOT NULL, nodes INTEGER NOT NULL,
  start INTEGER NOT NULL, us INTEGER, matches INTEGER NOT NULL, rebuilds INTEGER NOT NULL,
  declines INTEGER NOT NULL, empty INTEGER NOT NULL, first_block INTEGER NOT NULL,
  last_block INTEGER NOT NULL, error TEXT);
CREATE TABLE rules(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, matcher TEXT NOT NULL, file TEXT NOT NULL,
  line INTEGER NOT NULL, equation TEXT NOT NULL);
CREATE TABLE rule_totals(
  pass INTEGER NOT NULL, rule INTEGER NOT NULL, matches INTEGER NOT NULL,
  declines INTEGER NOT NULL, ns INTEGER NOT NULL, PRIMARY KEY(pass, rule)) WITHOUT ROWID;
CREATE TABLE kernels(
  context INTEGER PRIMARY KEY, name TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL,
  ast INTEGER NOT NULL, info TEXT NOT NULL);
CREATE TABLE artifacts(
  id INTEGER PRIMARY KEY, context INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
  body BLOB NOT NULL, lines BLOB NOT NULL);
CREATE TABLE blocks(
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
  data BLOB NOT NULL);
"""

TABLES: Final = (
    "meta",
    "contexts",
    "rewrites",
    "rules",
    "rule_totals",
    "kernels",
    "artifacts",
    "blocks",
)
