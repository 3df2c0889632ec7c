"""The run as a whole: what ran, how much of it there is, and what went wrong.

Never reads events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final, cast

from viz.dialect.dialect import PLAIN, Dialect
from viz.dialect.rundialect import RunDialect
from viz.files.alive import is_alive
from viz.format.cells import as_int, as_number, as_text
from viz.format.schema import IDLE
from viz.read.database import Problem
from viz.read.records import Rewrite
from viz.views.kernels.captured import captured_totals
from viz.views.kernels.compiled import Compilation
from viz.views.runs.process import Process

_MAX_PROBLEMS: Final = 2000
_REST: Final = "the rest is shown"


def is_live(processes: Sequence[Process]) -> bool:
    """Whether a process of the run still writes."""
    return any(
        "ended" not in p.file.meta and is_alive(p.file.meta.get("process")) for p in processes
    )


def run_data(
    processes: Sequence[Process],
    left_out: Sequence[str] = (),
    compilations: Sequence[Compilation] = (),
    dialect: RunDialect | None = None,
) -> dict[str, Any]:
    """The run in the form of the page. `left_out`: sentences of what no answer has; `compilations`:
    kernels that were compiled on request, of which there are only problems here."""
    known = PLAIN if dialect is None else dialect.dialect
    files = [p.file for p in processes]
    meta = files[0].meta
    rewrites = [r for f in files for r in f.rewrites.values()]
    contexts = [c for f in files for c in f.contexts.values()]
    command = [as_text(part) for part in _list(meta.get("command"))]
    commit = _dict(meta.get("commit"))
    return {
        "name": as_text(meta.get("name"), 200)
        or _relative(_program_name(command), as_text(meta.get("cwd")))
        or files[0].path.stem,
        "command": " ".join(command),
        "commit": as_text(commit.get("id"))[:12],
        "dirty": as_int(commit.get("dirty")),
        "started": re.sub(r"\.\d+", "", as_text(meta.get("started"), 100)),
        "seconds": run_seconds(processes),
        "live": is_live(processes),
        "processes": len(files),
        "compilations": [one.context for one in compilations],
        "bytes": sum(f.db.size() for f in files),
        "file": str(files[0].path),
        "format": {"trace": files[0].db.version, "export": None},
        "dialect": known.data(),
        "kinds": kinds_data(known),
        "families": dict(known.targets),
        "lost": sum(len(f.db.problems) for f in files),
        "machine": as_text(meta.get("machine"), 500),
        "python": as_text(meta.get("python"), 100),
        "versions": {k: as_text(v, 100) for k, v in _dict(meta.get("versions")).items()},
        "totals": {
            "contexts": len(contexts),
            "kernels": sum(c.role == "kernel" for c in contexts),
            "rewrites": len(rewrites),
            "steps": sum(r.matches for r in rewrites),
            "launches": sum(len(f.launches) for f in files),
        },
        "captured": captured_totals(files),
        "problems": [
            *(p.data() for p in problems(processes)),
            *(p.data() for one in compilations for p in (*one.file.db.problems, *_left_out(one))),
            *(p.data() for p in (dialect.problems if dialect is not None else ())),
            *(Problem(what, files[0].path.name, _REST).data() for what in left_out),
        ],
    }


def run_title(run: Mapping[str, Any]) -> str:
    """What a run is called beside others: "digits.py · 3f2c1ab + 2 edits". `run` is the answer
    about it, in which a file may state anything."""
    name = PurePath(as_text(run.get("name"), 200)).name
    commit, dirty = as_text(run.get("commit"), 7), as_int(run.get("dirty"))
    edits = f" + {dirty:,} {'edit' if dirty == 1 else 'edits'}" if dirty > 0 else ""
    return f"{name} · {commit}{edits}" if commit else name


def names_apart(paths: Sequence[Path]) -> list[str]:
    """The names of files; of different files with the same name, with as many of the folders around
    them as tell them apart: "before/a.viz" and "now/a.viz"."""
    parts = [path.absolute().parts for path in paths]
    found: list[str] = []
    for own in parts:
        others, count = {other for other in parts if other != own}, 1
        while count < len(own) and any(other[-count:] == own[-count:] for other in others):
            count += 1
        found.append("/".join(own[-count:]))
    return found


def run_seconds(processes: Sequence[Process]) -> float:
    """How long the run took: as its main process says, or until the last recorded thing."""
    files = [p.file for p in processes]
    entries = (e for f in files for e in (*f.contexts.values(), *f.rewrites.values()))
    last = max((e.start + (e.us or 0) for e in entries), default=0)
    return as_number(files[0].meta.get("ended"), last / 1e6)


def kinds_data(dialect: Dialect) -> list[dict[str, Any]]:
    """The kinds of texts, in the order in which the page prefers them. `families`: the targets that
    a kind can be expected for before anything is compiled."""
    return [
        {
            "kind": kind.name,
            "title": kind.title,
            "language": kind.language,
            "ending": kind.ending,
            "families": list(kind.families),
        }
        for kind in dialect.texts
    ]


def problems(processes: Sequence[Process]) -> list[Problem]:
    """What went wrong in the run, and what of its files could not be read."""
    found: list[Problem] = []
    for process in processes:
        found += process.file.db.problems
        found += _errors(process)
        meta = process.file.meta
        found += _left_out(process)
        if stopped := as_text(meta.get("stopped"), 500):
            found.append(
                Problem(
                    f"the recording stopped before the program did: {stopped}",
                    process.file.path.name,
                    "what was written until then is here",
                )
            )
        elif not ("ended" in meta or meta.get(IDLE) is True or is_alive(meta.get("process"))):
            found.append(
                Problem(
                    "the program ended without closing its trace",
                    process.file.path.name,
                    "it was killed, or left by os._exit; all but the last half second is here",
                )
            )
    return found


def _left_out(process: Process) -> list[Problem]:
    """What the trace says that it lacks of the run that it was copied of."""
    found: list[Problem] = []
    for item in _list(process.file.meta.get("left_out"))[:100]:
        said = _dict(item)
        what, where, hint = (as_text(said.get(key), 500) for key in ("what", "where", "hint"))
        found.append(
            Problem(what, where or process.file.path.name, hint or "the run itself has it")
        )
    return found


def _errors(process: Process) -> list[Problem]:
    """Errors of rewrites, and of what failed outside of them, such as a kernel whose text does not
    assemble; of those that one exception passed through, the innermost."""
    last: dict[str, Rewrite] = {}
    for rewrite in process.file.rewrites.values():
        if rewrite.error is not None:
            last[as_text(rewrite.error.get("message"))] = rewrite
    found = [*_failed_contexts(process, last)]
    for message, rewrite in list(last.items())[:_MAX_PROBLEMS]:
        rule = process.file.rules.get(as_int((rewrite.error or {}).get("rule")))
        where = f"rule {rule.name}, " if rule is not None else ""
        found.append(
            Problem(
                message.partition("\n")[0][:500],
                f'{where}pass "{rewrite.name}"',
                "the last step of this pass shows the graph, with the node at which it failed",
                process.id(rewrite.id),
                rewrite.matches,
            )
        )
    if len(last) > _MAX_PROBLEMS:
        what = f"{len(last) - _MAX_PROBLEMS:,} more passes failed"
        found.append(Problem(what, process.file.path.name, "the list of passes marks them"))
    return found


def _failed_contexts(process: Process, known: Mapping[str, object]) -> Iterator[Problem]:
    failed = {
        as_text(context.error.get("message")): context
        for context in process.file.contexts.values()
        if context.error is not None
    }
    failed = {message: context for message, context in failed.items() if message not in known}
    for message, context in [*failed.items()][:_MAX_PROBLEMS]:
        what, _, details = message.partition("\n")
        yield Problem(
            what[:500],
            f"{context.kind} {context.name}",
            " ".join(details.split())[:500] or "the list of passes marks it",
        )
    if len(failed) > _MAX_PROBLEMS:
        what = f"{len(failed) - _MAX_PROBLEMS:,} more kernels failed"
        yield Problem(what, process.file.path.name, "the list of passes marks them")


def _program_name(command: Sequence[str]) -> str:
    """The script in `python -X a script.py b`, or what follows -m; of any other program the first
    file that it is given, `a.c` of `mycc -O2 a.c`, else the program itself."""
    if command and not PurePath(command[0]).name.lower().startswith(("python", "pypy")):
        given = (a for a in command[1:] if not a.startswith("-") and PurePath(a).suffix)
        return next(given, command[0])
    arguments = iter(command[1:])
    for argument in arguments:
        if argument == "-m":
            return next(arguments, "")
        if argument in ("-W", "-X"):
            next(arguments, "")
        elif not argument.startswith("-"):
            return argument
        elif argument == "-c":
            return "python -c"
    return PurePath(command[0]).name if command else ""


def _relative(name: str, folder: str) -> str:
    """A program's path as seen from the folder in which it ran, where it lies below that; of one
    that is installed, its name."""
    if name.startswith(("/", "\\")) and PurePath(name).parent.name in ("bin", "Scripts"):
        return PurePath(name).name
    folder = folder.rstrip("/\\")
    return (
        name[len(folder) + 1 :]
        if folder and name.startswith((f"{folder}/", f"{folder}\\"))
        else name
    )


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
