"""The arguments of `uopviz`, and which module does what each command asks for.

Completion and docs/cli.md are made from it. The adapters of dialects add commands of theirs. The
default `run` of a command is the module and the function that do it, `needs` the action that the
dialect of its trace has to have, `finds` what exit code 1 says. Imports none of the commands.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final, NoReturn, cast

from viz.command.line.arguments import (
    Parser,
    choosing_run,
    executing,
    number,
    of_trace,
    positive,
    printing,
    printing_json,
)
from viz.dialect.adapters import command_parts
from viz.terminal import put_line

_NUMBER_HELP: Final = "number of a pass or group, as listed"
_DIFF: Final = "compare two runs; exit code 0: equal, 1: they differ, 2: not to be compared"
_IMPORT: Final = "make a trace of what another compiler has printed, such as a log of MLIR's passes"
_MCP: Final = "answer a coding assistant's questions about runs (MCP, standard input and output)"
_PACK: Final = "pack runs into a folder of Parquet tables, for query and since"
_SINCE: Final = "find the commits since which a figure of packed runs is another one"
_RECORD: Final = (
    "run a program of another compiler, such as tinygrad, and record its rewriting; ends with the "
    "program's exit code"
)


class _Version(argparse.Action):
    """Prints the version, which takes as long to find as all the rest of the parser, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib import metadata  # 50 ms, which other commands need not wait for

        try:
            version = metadata.version("uopviz")
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        put_line(f"uopviz {version}")
        sys.exit(0)


def build_parser() -> Parser:
    """All commands with their arguments."""
    parser = Parser("uopviz", description="Shows, queries and exports recorded runs.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.set_defaults(
        run="viz.command.start:start",
        error=parser.error,
        live=False,
        needs="",
        finds="",
        json=False,
        answer=None,
        runs=None,
        port=None,
        browser=True,
    )
    commands = parser.add_subparsers(
        metavar="COMMAND", help="left out: serve a page that lists recent traces"
    )

    def command(name: str, run: str, text: str) -> Parser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=f"viz.command.{run}", error=made.error)
        of_trace(made)
        if name not in ("open", "serve", "export"):
            choosing_run(made)
        return made

    opened = "serve a trace, or several side by side"
    for name, text in (("open", f"{opened}, and open the browser"), ("serve", opened)):
        made = command(name, "serving:serve", text)
        _beside(made, "more traces, beside the first one: the page opens on what differs")
        made.add_argument(
            "--port",
            type=_port,
            help="this port and no other, 0 for any (default: the trace's own, if it is free)",
        )
        made.add_argument(
            "--no-browser", dest="browser", action="store_false", help="do not open the browser"
        )
        executing(made)
        made.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
        made.add_argument("--fd", type=int, help=argparse.SUPPRESS)
        made.add_argument("--parent", type=int, help=argparse.SUPPRESS)
        made.set_defaults(browser=name == "open")

    made = command(
        "export", "export:export", "write a run, or several, as one HTML file, or a run as a trace"
    )
    _beside(made, "more traces, for one HTML file that opens on what differs")
    made.add_argument("-o", "--output", metavar="FILE", help="default: the trace's name with .html")
    made.add_argument(
        "--format", choices=("html", "trace"), help="default: as FILE ends, .html or .viz"
    )
    made.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="keep this kernel: its name, number or call; repeatable",
    )
    made.add_argument(
        "--texts-for",
        dest="texts",
        type=_targets,
        metavar="NAME,...",
        help="the targets whose texts the HTML file shows, with links of lines; none: those of the "
        "run only (default: the usual ones of its compiler; of `core`: sm_90,gfx942)",
    )
    made.add_argument(
        "--passes-for",
        "--targets",
        dest="passes",
        type=_targets,
        default=[],
        metavar="NAME,...",
        help="compile the kernels for these, too, and include the passes; takes longer",
    )
    made.add_argument(
        "--budget", type=positive, default=50, help="megabytes of HTML (default: %(default)s)"
    )
    made.add_argument(
        "--redact", action="store_true", help="leave out sources, paths, command, commit, times"
    )
    made.add_argument(
        "--values",
        action="store_true",
        help="keep the values of kernels and steps that were captured (VIZ_CAPTURE)",
    )
    printing(made)

    made = command(
        "show", "printed.show:show", "print a run: one screen of it, its tree, a pass or a step"
    )
    made.add_argument("number", nargs="?", metavar="PASS", type=number, help=_NUMBER_HELP)
    made.add_argument("step", nargs="?", metavar="STEP", type=number, help="0 is the input graph")
    _choosing(made)
    made.add_argument("--tree", action="store_true", help="all groups and passes")
    made.add_argument(
        "--depth", type=positive, metavar="N", help="the tree, down to this many levels"
    )
    made.add_argument(
        "--all",
        action="store_true",
        help="leave nothing out: the tree with passes that changed nothing, the whole graphs of a "
        "step, the engine's frames of a traceback",
    )
    made.add_argument(
        "--text",
        nargs="?",
        const="",
        metavar="KIND",
        help="a text of a kernel or schedule, such as llvm, linear, grouping, order or memory; "
        "without KIND, a list of its texts. Of a pass of another compiler what it did to the "
        "compiler's own text of the program; before and after are the whole texts",
    )
    made.add_argument(
        "--action",
        metavar="NAME",
        help="run this action of the compiler's own on a kernel; `uopviz show` lists those that a "
        "trace has",
    )
    printing(made)

    _comparing(commands.add_parser("diff", help=_DIFF, description=_DIFF))

    made = command(
        "stats", "printed.stats:stats", "print what each rule costs, and which never match"
    )
    made.add_argument(
        "--by",
        choices=("matches", "tries"),
        default="tries",
        help="the time that sorts: that of all tries (the default), or of matches only",
    )
    made.add_argument(
        "--pass",
        dest="pass_name",
        metavar="NAME",
        help="only this pass, its rules by the time of their tries: its number or name, or "
        "simplify#2 for the second",
    )
    made.add_argument("--kernel", metavar="NAME", help="the kernel that the pass is of")
    made.add_argument(
        "--rule", metavar="NAME", help="only this rule, by pass: its name, or its number"
    )
    printing(made)

    made = commands.add_parser("record", help=_RECORD, description=_RECORD)
    made.set_defaults(
        run="viz.command.record:record",
        error=made.error,
        finds="the program ended so: the command ends with its exit code",
    )
    made.add_argument(
        "-o", "--output", metavar="FILE", help="the trace (default: a new one in the cache)"
    )
    made.add_argument(
        "--serve",
        action="store_true",
        help="serve the page while the program runs and after it, and print its address",
    )
    made.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the program, with arguments"
    )

    made = commands.add_parser("import", help=_IMPORT, description=_IMPORT)
    made.set_defaults(run="viz.command.importing:import_dumps", error=made.error)
    made.add_argument("dumps", nargs="+", metavar="PATH", help="a file, or a folder of files")
    made.add_argument(
        "-o", "--output", metavar="FILE", help="default: the first name with .viz, beside it"
    )
    made.add_argument(
        "--sources",
        metavar="DIR",
        help="the folder of the program, whose lines are shown where the dumps name them",
    )
    made.add_argument("--open", action="store_true", help="open it in the browser")

    made = command(
        "timeline", "export:timeline", "write the timeline as trace events, for Perfetto"
    )
    made.add_argument("-o", "--output", metavar="FILE", help="default: the trace's name with .json")
    printing(made)

    made = command("find", "printed.find:find", "find a text, or nodes of a structure, in a run")
    made.add_argument(
        "text",
        nargs="?",
        metavar="TEXT",
        help="a part of a name, rule, op, file, source line, or of a line that a pass changed",
    )
    printing(made)

    made = command("node", "printed.node:node", "print where a node comes from and went")
    made.add_argument(
        "node",
        nargs="?",
        metavar="NODE",
        help="u123; or a line of a text of --kernel, such as ptx:12: the nodes behind it",
    )
    _choosing(made, step=False)
    printing(made)

    made = command("query", "printed.query:query", "run one SELECT over a run")
    made.add_argument("sql", metavar="SQL", help="the SELECT; docs/cli.md lists the tables")
    made.add_argument(
        "--kernel", metavar="NAME", help="only what belongs to this kernel: name, number or call"
    )
    made.add_argument(
        "--merge",
        metavar="SQL",
        help="of a folder of packed runs: SQL asks each day apart, and this the table `parts` of "
        "what they answer",
    )
    executing(made)
    printing(made)

    made = command("graph", "graph:graph", "write the graph of a pass, or what a step changed")
    made.add_argument("number", nargs="?", metavar="PASS", type=number, help=_NUMBER_HELP)
    made.add_argument("step", nargs="?", metavar="STEP", type=number, help="default: 0")
    _choosing(made)
    made.add_argument(
        "-o", "--output", metavar="FILE", help="a .svg or .dot file (default: print DOT)"
    )
    printing(made)

    made = commands.add_parser("pack", help=_PACK, description=_PACK)
    made.set_defaults(
        run="viz.command.fleets.pack:pack_runs",
        error=made.error,
        finds="a file could not be packed",
    )
    made.add_argument(
        "runs_to_pack", nargs="*", metavar="RUN", help="a trace, or a folder of traces"
    )
    made.add_argument(
        "--to",
        required=True,
        metavar="DIR",
        help="the folder of packed runs, or its address as s3://bucket/runs",
    )
    executing(made)
    made.add_argument(
        "--redact", action="store_true", help="leave out names of programs and files, and commits"
    )
    made.add_argument(
        "--drop-before", metavar="DATE", help="remove the runs of before this day, as 2026-01-31"
    )
    printing_json(made)
    printing(made)

    made = commands.add_parser("since", help=_SINCE, description=_SINCE)
    made.set_defaults(
        run="viz.command.fleets.since:since_commit",
        error=made.error,
        finds="a figure of `--fail-on` has grown",
    )
    made.add_argument("folder", metavar="DIR", help="a folder of packed runs, or its address")
    made.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="rule-time, rule-matches, pass-time, compile-time, kernels, launch-time or registers; "
        "repeatable (default: all)",
    )
    made.add_argument(
        "--fail-on", metavar="LIST", help="exit with 1 where one of these metrics has grown"
    )
    made.add_argument(
        "--html", metavar="FILE", help="also write the changes with their figures as an HTML file"
    )
    printing_json(made)
    printing(made)

    made = commands.add_parser("mcp", help=_MCP, description=_MCP)
    made.set_defaults(run="viz.assistant.serve:serve", error=made.error)
    made.add_argument("traces", nargs="+", metavar="TRACE", help="the runs that can be asked about")
    made.add_argument(
        "--allow-run",
        action="store_true",
        help="also compile and run kernels of these runs, and call functions of rules again",
    )

    for add_commands in command_parts():
        add_commands(commands)

    made = commands.add_parser(
        "completion",
        help="print the completion of a shell",
        description="print the completion of a shell",
    )
    made.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    made.set_defaults(run="viz.command.line.completion:completion", error=made.error)

    made = commands.add_parser("_complete")  # not listed; asked by the completion of a shell
    made.add_argument("what", choices=("traces", "kernels", "passes"))
    made.add_argument("words", nargs="*")
    made.set_defaults(run="viz.command.line.completion:complete", error=made.error)
    return parser


def _comparing(made: Parser) -> None:
    """The arguments of `uopviz diff`."""
    made.set_defaults(
        run="viz.command.diffs.diff:diff",
        error=made.error,
        finds="the runs differ; with `--fail-on`, only in what that lists",
    )
    made.add_argument("a", metavar="A", help="the trace of before, or a folder of traces")
    made.add_argument(
        "b",
        nargs="?",
        metavar="B",
        help="the trace of now, or a folder of traces; left out: A is an exported file, and its "
        "first two runs are compared",
    )
    printing_json(made)
    made.add_argument(
        "--fail-on",
        dest="fail_on",
        metavar="LIST",
        help="exit with 1 only on these conditions, such as "
        "added-kernels,slower:1.05,more-registers; docs/compare.md lists them",
    )
    made.add_argument("--all", action="store_true", help="list what is equal, too")
    made.add_argument(
        "--html",
        metavar="FILE",
        help="also write both runs as one HTML file, which opens on what differs",
    )
    made.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="pairs of two folders that are compared at a time (default: one for each processor)",
    )
    executing(made)
    printing(made)


def _beside(made: Parser, text: str) -> None:
    """Further traces behind the first one."""
    made.add_argument("beside", nargs="*", metavar="MORE", help=text)


def _choosing(made: Parser, step: bool = True) -> None:
    """Options that choose a pass by name, and a step of it."""
    made.add_argument(
        "--kernel",
        metavar="NAME",
        help="a kernel: its name, the beginning of it, its number, or a call such as Conv2d",
    )
    made.add_argument(
        "--pass",
        dest="pass_name",
        metavar="NAME",
        help="a pass (of the kernel): its name, or simplify#2 for the second of that name",
    )
    if step:
        made.add_argument(
            "--step", dest="step_named", metavar="STEP", type=number, help="the same as STEP"
        )


def commands_of(parser: Parser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands that are listed."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action.choices, dict):  # the commands: other choices are lists
            parsers = cast("dict[str, argparse.ArgumentParser]", action.choices)
            found |= {name: made for name, made in parsers.items() if name[0] != "_"}
    return found


def command_names(parser: Parser) -> list[str]:
    """The commands that are listed."""
    return list(commands_of(parser))


def _targets(text: str) -> list[str]:
    """Names with commas between them; none for "none"."""
    return [] if text == "none" else [name for name in text.split(",") if name]


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: these are 0 to 65535")
    return int(text)
