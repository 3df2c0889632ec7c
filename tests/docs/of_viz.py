"""What the documents say of viz: settings, commands, routes, columns.

Reads the code only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from typing import Any

from flask import Flask

import viz.settings
from core.helpers import Flag, Text
from tests.docs.markdown import code, table
from tests.docs.of_core import ROOT
from tests.docs.shapes import declarations, needed
from viz.command.line.parser import build_parser, commands_of
from viz.compare.answers import PAIR_ANSWERS
from viz.compare.gate import CONDITIONS
from viz.coredialect.adapter import DIALECT
from viz.coreserver.part import CorePart
from viz.format.rows import TABLES
from viz.known.answers import CHECK_ANSWERS
from viz.server.api import api
from viz.server.app import RunConverter
from viz.server.fleet import fleet
from viz.server.page import page
from viz.share import sql as query
from viz.share.redaction import TABLE, How
from viz.views.answers import ANSWERS
from viz.views.runs.run import Asked
from viz.why.answers import WHY_ANSWERS

MESSAGES = ROOT / "viz/web/src/data/messages"
"""The types of all answers, a module for what each is about."""


def flag_table() -> str:
    """Every variable that takes a number."""
    rows = [
        (code(f.name), code(f.default), f"{f.low} to {f.high}", f.doc)
        for f in sorted(Flag.table.values(), key=lambda f: f.name)
    ]
    return table(("variable", "default", "takes", "meaning"), rows)


def text_table() -> str:
    """Every variable that takes text."""
    rows = [
        (code(t.name), code(t.default) if t.default else "", t.doc)
        for t in sorted(Text.table.values(), key=lambda t: t.name)
    ]
    return table(("variable", "default", "meaning"), rows)


def commands() -> dict[str, argparse.ArgumentParser]:
    """The commands of `uopviz`, by name."""
    return commands_of(build_parser())


UNSAID = {"browser": "do not open the browser", "sql": "the SELECT"}
"""What options mean whose parsers do not say it."""


def command_text() -> str:
    """Every command with its options."""
    parts: list[str] = []
    for name, parser in commands().items():
        rows: list[tuple[str, str]] = []
        for action in parser._actions:
            if action.dest == "help" or action.help is argparse.SUPPRESS:
                continue
            value = str(action.metavar or action.dest.upper())
            said = ", ".join(code(o) for o in action.option_strings) or code(value)
            said += f" {code(value)}" if _takes_value(action) else ""
            text = (action.help or UNSAID[action.dest]) % vars(action)
            rows.append((said, text))
        parts += [f"### `uopviz {name}`\n", (parser.description or "") + ".\n"]
        parts += [table(("argument", "meaning"), rows), ""]
    return "\n".join(parts).rstrip()


def contract_table() -> str:
    """What each command takes and says, in one row."""
    rows: list[tuple[str, str, str, str, str]] = []
    for name, parser in commands().items():
        takes = {action.dest for action in parser._actions}
        trace = "A and B" if name == "diff" else "yes" if "trace" in takes else "no"
        kernel, json = ("yes" if dest in takes else "no" for dest in ("kernel", "json"))
        rows.append(
            (code(f"uopviz {name}"), trace, kernel, json, parser.get_default("finds") or "-")
        )
    head = "command", "`TRACE`", "`--kernel`", "`--json`", "exit code 1 says"
    return table(head, rows)


def _takes_value(action: Any) -> bool:
    return bool(action.option_strings) and action.nargs != 0


# compare.md


def condition_table() -> str:
    """Every condition of `uopviz diff --fail-on`."""
    rows = [
        (code(f"{c.name}:1.05" if c.takes_factor else c.name), c.doc) for c in CONDITIONS.values()
    ]
    return table(("condition", "holds where"), rows)


# http.md


def routes() -> list[tuple[str, str, str]]:
    """(methods, path, docstring) of every route."""
    app = Flask("viz", static_folder=None)
    app.url_map.converters["run"] = RunConverter
    for blueprint in (api, fleet, *CorePart.blueprints, page):
        app.register_blueprint(blueprint)
    found: list[tuple[str, str, str]] = []
    for rule in app.url_map.iter_rules():
        methods = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        doc = app.view_functions[rule.endpoint].__doc__ or ""
        path = re.sub(r"<run:(\w+)>", r"{\1}", rule.rule)
        found.append((" ".join(methods), path, " ".join(doc.split())))
    return sorted(found, key=lambda r: (r[1], r[0]))


def route_table() -> str:
    """Every route."""
    rows = [(m, code(path.replace("<", "{").replace(">", "}")), doc) for m, path, doc in routes()]
    return table(("", "path", "answers"), rows)


# viz/web/src/data/answers.ts


def answers_module() -> str:
    """What the page can ask of a run and of a pair of runs, as TypeScript."""
    own = {_camel(answer.name): answer for answer in (*ANSWERS, *WHY_ANSWERS, *CHECK_ANSWERS)}
    pairs = {answer.make.__name__: answer for answer in PAIR_ANSWERS}
    asked = (*own.values(), *PAIR_ANSWERS)
    types = {word for answer in asked for word in re.findall(r"[A-Z]\w*", answer.type)}
    return (
        "/**\n * What can be asked of a run, or of a pair of runs, whoever answers. Written by"
        " `python -m\n * tests.docs.generate` from the tables in viz/views/answers.py,"
        " viz/why/answers.py,\n * viz/known/answers.py and viz/compare/answers.py: change"
        " those.\n */\n"
        f"{_imports(types)}"
        f"{_questions('Answers', 'PATHS', own, 'run')}"
        f"{_questions('PairAnswers', 'PAIR_PATHS', pairs, 'pair')}"
    )


def dialect_module() -> str:
    """The dialect of `core` as the page is told of it, as TypeScript, for made-up data."""
    ops = DIALECT.data()["ops"]
    lines = [f"    {name}: {json.dumps(words)},\n" for name, words in ops.items()]
    rest = {name: value for name, value in DIALECT.data().items() if name != "ops"}
    return (
        "/** The dialect of `core`. Written by `python -m tests.docs.generate` from\n"
        " * viz/coredialect/ops.py: change that. */\n"
        'import type { Dialect } from "../../src/data/messages/bundle.ts";\n\n'
        f"export const dialect: Dialect = {{\n  ...{json.dumps(rest)},\n  ops: {{\n"
        f"{''.join(lines)}  }},\n}};\n"
    )


def _questions(interface: str, paths: str, answers: Mapping[str, Asked], of: str) -> str:
    """A type with all questions about something, and the table of their paths."""
    takes: list[str] = []
    for name, answer in answers.items():
        values = ", ".join(
            f"{_label(p.name)}: {'string' if p.is_text else 'number'}" for p in answer.parameters
        )
        takes.append(f"  /** {answer.doc}. */\n")
        takes.append(f"  {name}: {{ takes: [{values}]; gives: {answer.type} }};\n")
    rows = [f'  {name}: "{answer.path}",\n' for name, answer in answers.items()]
    return (
        f"\n/** The values that each question about a {of} takes, and what it gives. */\n"
        f"export interface {interface} {{\n{''.join(takes)}}}\n"
        f"\n/** Where each is asked for, below the path of its {of}. */\n"
        f"export const {paths}: Record<keyof {interface}, string> = {{\n{''.join(rows)}}};\n"
    )


def _label(name: str) -> str:
    """A name as TypeScript takes it in front of a value."""
    return f"{name}_" if name == "with" else name


def _imports(types: set[str]) -> str:
    """A line for each module that declares some of the types."""
    lines: list[str] = []
    for module in sorted(MESSAGES.rglob("*.ts")):
        declared = set(declarations(module.read_text(encoding="utf-8")))
        place = module.relative_to(MESSAGES).with_suffix("").as_posix()
        if found := sorted(types & declared):
            lines.append(f'import type {{ {", ".join(found)} }} from "./messages/{place}";\n')
    return "".join(lines)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


# json.md


def json_types() -> str:
    """The types of the page that the JSON of commands leads to, as the page declares them."""
    types = declarations(
        "\n".join(p.read_text(encoding="utf-8") for p in sorted(MESSAGES.rglob("*.ts")))
    )
    document = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    own = document.partition("<!-- generated: json types -->")[0]
    names = needed(re.findall(r"\b[A-Z]\w*", own), types)
    return "```ts\n" + "\n\n".join(types[name] for name in names) + "\n```"


# trace-format.md


def redaction_table() -> str:
    """What a redacted copy of a trace has of every column that is not a number."""
    rows = [
        (how.value, ", ".join(code(name) for name, of in TABLE.items() if of is how))
        for how in How
        if how is not How.NUMBER
    ]
    return table(("a redacted copy has", "of the columns"), rows)


def columns() -> dict[str, list[str]]:
    """The columns of every table of a trace."""
    return {table.name: [*table.names] for table in TABLES}


def query_table() -> str:
    """The tables of `uopviz query`."""
    rows = [(code(name), code(cols)) for name, cols in query.TABLES.items()]
    return table(("table", "columns"), rows)


_REGISTERED = viz.settings.VIZ_CACHE_MB, viz.settings.UOPVIZ_TRACEBACK
assert all(flag.name in Flag.table for flag in _REGISTERED)  # theirs are in the tables, too
