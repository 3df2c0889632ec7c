"""The command `uopviz`. Parses and prints; what it prints is made elsewhere.

Exit codes: 0 done; 1 the trace or the request has a problem, said in one sentence with a hint;
2 the command line is wrong; 130 an export was cancelled.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from core.errors import TraceError, UopvizError
from viz.environment import cache_folder, recent, wished_port
from viz.files.regular import replace_file
from viz.format.schema import SUFFIX
from viz.live import TOKEN
from viz.server.handover import browser_at
from viz.server.listen import listen_for
from viz.server.serve import Server
from viz.share.copy import write_trace
from viz.share.dot import dot_text, is_graph, svg
from viz.share.exportfile import is_export
from viz.share.html import BUDGET, export_html
from viz.share.perfetto import is_trace_events, trace_events
from viz.share.reopened import Reopened, open_run
from viz.share.sql import TABLES, run_query
from viz.show import (
    below,
    never_matched,
    rewrite_lines,
    run_lines,
    stats_lines,
    step_lines,
    tree_lines,
)
from viz.terminal import Progress, clean, put_json, put_line, say
from viz.views.run import Run
from viz.write.writer import TraceWriter

SUFFIXES: Final = {"html": ".html", "trace": SUFFIX}
"""Formats of an export, and how their files end."""
_COUNTING: Final = 30.0
"""Seconds that `uopviz stats` replays passes for, to count nodes."""
_CANCELLED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""
_IDLE: Final = 900.0
"""Seconds without a request after which a page whose program was killed is no longer served."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except UopvizError as error:
        _fail(error)
        return 1
    except (LookupError, TypeError, ValueError, AttributeError):
        if not isinstance(getattr(options, "store", None), Reopened):
            raise
        _fail(TraceError("this exported file is damaged", options.trace, "export it again"))
        return 1
    except BrokenPipeError:  # `uopviz show | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 0
    finally:
        if (store := getattr(options, "store", None)) is not None:
            store.close()


def _open(options: argparse.Namespace) -> int:
    """Serves a trace, and opens the browser."""
    store = _store(options)
    if options.live:
        return _serve_live(store, options)
    sock, notice = listen_for(store.path, options.port, wished_port())
    server = Server(store, sock)
    if notice:
        say(notice)
    put_line(server.url, flush=True)
    signal.signal(signal.SIGTERM, _terminate)  # what an export was unpacked to is removed
    shown = options.browser and sys.stdout.isatty()
    try:
        with browser_at(server.url, server.guard.visited) if shown else nullcontext():
            server.run()
    finally:
        server.close()
    return 0


def _start(options: argparse.Namespace) -> int:
    """`uopviz` alone: a page without a run, which lists the traces of the cache."""
    with TemporaryDirectory(prefix="uopviz-") as folder:
        path = Path(folder) / f"start{SUFFIX}"
        TraceWriter(path, {}).close()
        options.trace = str(path)
        return _open(options)


def _serve_live(store: Run, options: argparse.Namespace) -> int:
    """The viewer of a running program: `viz/live.py` starts it, and has printed its address."""
    server = Server(store, socket.socket(fileno=options.fd), os.environ.pop(TOKEN, None))
    watch = threading.Thread(
        target=_watch_parent, args=(server, options.parent, options.stay), daemon=True
    )
    watch.start()
    signal.signal(signal.SIGTERM, _terminate)
    server.run()
    return 0


def _terminate(number: int, frame: object) -> None:
    sys.exit(0)


def _watch_parent(server: Server, parent: int, stay: bool) -> None:
    """Ends this process after its parent: at once, or once nobody looks at the page any more."""
    while os.getppid() == parent:
        time.sleep(0.5)
    while stay and time.monotonic() - server.state.last_request < _IDLE:
        time.sleep(5)
    os._exit(0)


def _export(options: argparse.Namespace) -> int:
    """Writes a run as one HTML file, or as a trace."""
    store = _store(options)
    path = Path(options.output or store.path.with_suffix(SUFFIXES[options.format or "html"]))
    if path.exists() and path.samefile(store.path):
        raise TraceError("this would overwrite what is exported", str(path), "name another with -o")
    as_trace = (options.format or path.suffix.lstrip(".")) in ("trace", SUFFIX.lstrip("."))
    chosen = options.kernel or None
    try:
        with Progress("exporting") as progress:
            if as_trace:
                left_out = write_trace(store, path, kernels=chosen, redact=options.redact)
            else:
                made = export_html(
                    store,
                    kernels=chosen,
                    budget=options.budget * 1_000_000,
                    redact=options.redact,
                    progress=progress.update,
                )
                replace_file(path, made.html.encode(), is_export, "an exported file")
                left_out = made.unwanted + made.left_out
    except KeyboardInterrupt:
        say("cancelled; nothing was written")
        return _CANCELLED
    size = path.stat().st_size
    data = {"file": str(path), "bytes": size, "leftOut": left_out}
    lines = [f"{path}  {size:,} bytes", *(f"left out: {said}" for said in left_out)]
    return _print(options, data, lines)


def _show(options: argparse.Namespace) -> int:
    """The tree of a trace, the part of it below a context, one rewrite, or one step."""
    _number_first(options)
    store = _store(options)
    rows, run = store.tree()["rows"], store.run()
    if options.rewrite is None:
        lines = [*run_lines(run), "", *tree_lines(rows, options.all)]
        return _print(options, {"run": run, "rows": rows}, lines)
    contexts = {row["id"] for row in rows if row["kind"] == "context"}
    if options.step is None and options.rewrite in contexts:
        inside = below(rows, options.rewrite)
        return _print(options, {"run": run, "rows": inside}, tree_lines(inside, options.all))
    bundle = _bundle(store, options)
    if options.step is None:
        return _print(options, bundle, rewrite_lines(store, bundle))
    text = store.step_text(options.rewrite, options.step)
    if text is None:
        raise TraceError(
            f"there is no step {options.step} in rewrite {options.rewrite}",
            hint=f"its steps are 0 (the input graph) to {len(bundle['steps'])}",
        )
    return _print(options, text, step_lines(store, options.rewrite, options.step))


def _stats(options: argparse.Namespace) -> int:
    """Which rules cost, and which never match."""
    store = _store(options)
    run, totals = store.run(), store.rule_totals(_COUNTING)
    rules, never = totals["rows"], never_matched(totals, store.rules())
    lines = [*run_lines(run), "", *stats_lines(rules, never, totals.get("untimed"))]
    if totals["counted"] < totals["steps"]:
        lines.append(f"nodes of {totals['counted']:,} of {totals['steps']:,} steps are counted")
    found = {"rules": rules, "neverMatched": never, "counted": totals["counted"]}
    found["untimed"] = totals.get("untimed")
    return _print(options, {**run["totals"], "run": run, **found}, lines)


def _timeline(options: argparse.Namespace) -> int:
    """Writes when everything happened as trace events."""
    store = _store(options)
    made = trace_events(store.timeline(), store.run()["name"])
    path = Path(options.output or store.path.with_suffix(".json"))
    replace_file(path, json.dumps(made).encode(), is_trace_events, "a timeline of uopviz")
    count = len(made["traceEvents"])
    line = f"{path}  {count:,} events; open it at https://ui.perfetto.dev"
    return _print(options, {"file": str(path), "events": count}, [line])


def _query(options: argparse.Namespace) -> int:
    """One SELECT over a trace."""
    columns, rows = run_query(_store(options).files, options.sql)
    cells = [columns, *(["" if cell is None else cell for cell in row] for row in rows)]
    lines = ("\t".join(map(clean, line)) for line in cells)
    return _print(options, {"columns": columns, "rows": rows}, lines)


def _graph(options: argparse.Namespace) -> int:
    """The graph of a rewrite, or what a step changed, as DOT or SVG."""
    path = Path(options.output) if options.output else None
    if path is not None and path.suffix not in (".dot", ".gv", ".svg"):
        raise TraceError(
            f"a graph is written as .dot or .svg, not as {path.suffix or 'a file without ending'}",
            where=str(path),
            hint="-o graph.svg",
        )
    text = dot_text(_bundle(_store(options), options), options.step)
    if path is None:
        return _print(options, {"dot": text}, text.rstrip("\n").split("\n"))
    body = svg(text) if path.suffix == ".svg" else text.encode()
    replace_file(path, body, is_graph, "a graph as DOT or SVG")
    return _print(options, {"file": str(path)}, [str(path)])


def _store(options: argparse.Namespace) -> Run:
    """The run that is meant: as named, or the youngest one in the cache."""
    options.store = open_run(_trace(options.trace))
    return options.store


def _number_first(options: argparse.Namespace) -> None:
    """`uopviz show 11` means number 11 of the youngest trace, where no file has that name."""
    name = options.trace
    if name is not None and name.isdecimal() and len(name) < 16 and not Path(name).exists():
        if options.step is not None:
            raise TraceError("there is no such trace", where=name, hint="check the path")
        options.trace, options.rewrite, options.step = None, int(name), options.rewrite


def _bundle(store: Run, options: argparse.Namespace) -> dict[str, Any]:
    bundle = store.bundle(options.rewrite)
    if bundle is not None:
        return bundle
    if any(row["id"] == options.rewrite for row in store.tree()["rows"]):
        raise TraceError(
            f"number {options.rewrite} is a group of passes, and has no steps of its own",
            hint=f"`uopviz show TRACE {options.rewrite}` lists its passes",
        )
    raise TraceError(
        f"there is no rewrite {options.rewrite} in this trace",
        hint="`uopviz show TRACE` lists the numbers",
    )


def _trace(name: str | None) -> Path:
    """The trace that is meant: as named, or the youngest one in the cache."""
    if name is not None:
        return Path(name)
    found = recent(cache_folder(), 1)
    if not found:
        raise TraceError(
            "there is no trace yet", hint="record one: VIZ=1 python program.py, or name a file"
        )
    return found[0]


def _print(options: argparse.Namespace, data: Any, lines: Iterable[str]) -> int:
    if options.json:
        put_json(data)
    else:
        for line in lines:
            put_line(line)
    return 0


def _fail(error: UopvizError) -> None:
    where = f" ({error.where})" if error.where else ""
    say(f"{error.what}{where}")
    if error.hint:
        say(f"hint: {error.hint}", name=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("uopviz", description="Looks at the traces of VIZ=1.")
    parser.add_argument("--version", action="version", version=f"uopviz {_version()}")
    parser.set_defaults(run=_start, live=False, port=None, browser=True)
    commands = parser.add_subparsers(
        metavar="COMMAND", help="left out: serve a page that lists recent traces"
    )

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, json_output: bool = True
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        named = name in ("query", "graph")  # these go on with what is asked of it
        text = "a trace, or an exported file" + ("" if named else " (default: the youngest trace)")
        made.add_argument("trace", nargs=None if named else "?", help=text)
        if json_output:
            made.add_argument("--json", action="store_true", help="print JSON")
        return made

    for name, text in (("open", "serve a trace and open the browser"), ("serve", "serve a trace")):
        made = command(name, _open, text, json_output=False)
        made.add_argument(
            "--port",
            type=_port,
            help="this port or none, 0 for any free one (default: the trace's own, if it is free)",
        )
        made.add_argument(
            "--no-browser", dest="browser", action="store_false", help="do not open the browser"
        )
        made.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
        made.add_argument("--fd", type=int, help=argparse.SUPPRESS)
        made.add_argument("--parent", type=int, help=argparse.SUPPRESS)
        made.add_argument("--stay", action="store_true", help=argparse.SUPPRESS)
        made.set_defaults(browser=name == "open")
    made = command("export", _export, "write a run as one HTML file, or as a trace")
    made.add_argument("-o", "--output", help="default: the trace's name with .html")
    made.add_argument("--format", choices=SUFFIXES, help="default: as OUTPUT ends, .html or .viz")
    made.add_argument(
        "--kernel", type=_number, action="append", help="keep this kernel; repeatable"
    )
    made.add_argument(
        "--budget",
        type=_positive,
        default=BUDGET // 1_000_000,
        help="megabytes of HTML (default: %(default)s)",
    )
    made.add_argument(
        "--redact", action="store_true", help="leave out sources, paths, command, commit, times"
    )
    made = command("show", _show, "print the tree of a trace, a rewrite, or a step")
    made.add_argument("rewrite", nargs="?", type=_number, help="number of a pass or group")
    made.add_argument("step", nargs="?", type=_number, help="0 is the input graph")
    made.add_argument("--all", action="store_true", help="passes that changed nothing, too")
    command("stats", _stats, "print which rules cost how much, and which never match")
    made = command("timeline", _timeline, "write the timeline as trace events, for Perfetto")
    made.add_argument("-o", "--output", help="default: the trace's name with .json")
    made = command("query", _query, "run one SELECT over " + ", ".join(TABLES))
    made.add_argument("sql", help="the SELECT")
    made = command("graph", _graph, "write the graph of a pass, or what a step changed")
    made.add_argument("rewrite", type=_number, help="number of a pass")
    made.add_argument("--step", type=_number, default=0, help="default: 0, the input graph")
    made.add_argument("-o", "--output", help="a .dot file, or .svg by Graphviz (default: print)")
    return parser


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on, as `uopviz show` lists")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: these are 0 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < len(text) < 7 or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of megabytes from 1 on")
    return int(text)


def _version() -> str:
    try:
        return metadata.version("uopviz")
    except metadata.PackageNotFoundError:
        return "(not installed)"
