"""The command `uopviz`: runs the module that does what is asked for, and says what went wrong.

Exit codes: 0 done; 1 done, and what was looked for was found: a difference, a wrong step; 2 the
command line, the trace or the request has a problem, said in one sentence with a hint; 130 stopped
by Ctrl-C, and so for other signals. Imports what a command needs when it is chosen: help, errors of
the command line and completion do not wait for the rest.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Final

from core.errors import TraceError, UopvizError
from viz.command.line.arguments import Misused, Parser
from viz.command.line.parser import build_parser, command_names
from viz.command.stopping import Stopping
from viz.settings import UOPVIZ_TRACEBACK
from viz.terminal import Progress, drop_output, put_json, say, shell_word

PROBLEM: Final = 2
"""The exit code where nothing could be done, or told."""
INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""
_REPORT: Final = "please report it, with the command and the trace where you can share it"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code."""
    _open_streams()
    with Stopping() as stopping:
        try:
            return _run([*(sys.argv[1:] if arguments is None else arguments)], stopping)
        except KeyboardInterrupt:
            say("interrupted", over=True)
            return stopping.code or INTERRUPTED


def _run(words: Sequence[str], stopping: Stopping) -> int:
    options: argparse.Namespace | None = None
    try:
        parser = build_parser()
        _check_command(parser, words)
        options = parser.parse_args(words)
        module, _, function = str(options.run).partition(":")
        with Progress("starting", on=not options.live) as options.progress:
            code = int(getattr(importlib.import_module(module), function)(options))
        sys.stdout.flush()  # what cannot be written is said here, not at the end of the interpreter
        return code
    except BrokenPipeError:  # `uopviz show | head`
        drop_output()
        return 0
    except Exception as error:
        if stopping.number:  # the error is what became of the signal, or of no interest any more
            raise KeyboardInterrupt from error
        if not isinstance(error, UopvizError):
            error = _unexpected(error, options)
        _fail(error)
        if getattr(options, "json", False):
            _put_error(error.what, error.where, error.hint)
        return PROBLEM
    except Misused as error:
        if "--json" in words:
            _put_error(error.what, "", error.hint)
        raise
    finally:
        if (store := getattr(options, "store", None)) is not None:
            store.close()


def _open_streams() -> None:
    """Opens standard output and errors on the null device where the caller has closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _check_command(parser: Parser, words: Sequence[str]) -> None:
    """Ends with exit code 2 where the first word is no command, and says which one may be meant."""
    word = next((word for word in words if not word.startswith("-")), None)
    known = command_names(parser)
    if word is None or word in (*known, "_complete"):
        return
    if os.path.exists(word):
        hint = f"uopviz open {shell_word(word)}"
    elif close := get_close_matches(word, known, 1):
        hint = f"did you mean uopviz {close[0]}?"
    else:
        hint = "the commands are " + ", ".join(known)
    say(f"there is no command '{word}'")
    say(f"hint: {hint}", name=False, style="hint")
    sys.exit(2)


def _fail(error: UopvizError) -> None:
    where = f" ({error.where})" if error.where else ""
    say(f"{error.what}{where}")
    if error.hint:
        say(f"hint: {error.hint}", name=False, style="hint")


def _put_error(what: str, where: str, hint: str) -> None:
    """The error as JSON, where it is read."""
    with suppress(OSError):
        put_json({"error": {"what": what, "where": where, "hint": hint}})
        sys.stdout.flush()
        return
    drop_output()


def _unexpected(error: Exception, options: argparse.Namespace | None) -> TraceError:
    """The message for an unexpected exception. Answers in an exported file may be anything,
    and are not all checked before they are printed."""
    answers = getattr(getattr(options, "store", None), "answers_only", False)
    if answers and isinstance(error, LookupError | TypeError | ValueError | AttributeError):
        return TraceError(
            "this exported file is damaged", str(getattr(options, "trace", "")), "export it again"
        )
    if isinstance(error, OSError):
        what = f"the system says: {error.strerror or error}"
        return TraceError(
            what, str(error.filename or ""), "check the file, the disk and the rights"
        )
    hint = _REPORT
    if UOPVIZ_TRACEBACK:
        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line, name=False)
    else:
        hint += "; UOPVIZ_TRACEBACK=1 shows the traceback, which belongs to the report"
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = f"a defect of uopviz itself: {type(error).__name__}: {error}"
    return TraceError(what, f"{place.filename}:{place.lineno}", hint)
