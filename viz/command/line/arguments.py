"""What the parsers of all commands share: how they fail, kinds of values, options of printing."""

from __future__ import annotations

import argparse
import os
from typing import Any, NoReturn

from core.helpers import BEAM
from viz.command.bounded import CHARACTERS, ROWS
from viz.settings import UOPVIZ_DIALECTS
from viz.terminal import WHEN, say


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and a hint, like all others. `intermixed`: options may
    stand between positional arguments that can be left out."""

    intermixed = False

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parses options between the words of a command, where the command allows that."""
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # it comes back here
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        hint = f"{self.prog} --help"
        say(message, name=True)
        say(f"hint: {hint}", name=False, style="hint")
        raise Misused(message, hint)


class Misused(SystemExit):
    """The exit of a command with wrong arguments, after its error was printed."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(2)
        self.what, self.hint = what, hint


class _NameDialect(argparse.Action):
    """Names an adapter in the environment, for the processes that a command starts."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        where = str(given[1])
        named = os.path.abspath(where) if where.endswith(".py") else where
        before = UOPVIZ_DIALECTS.value
        os.environ[UOPVIZ_DIALECTS.name] = f"{before},{named}" if before else named


def of_trace(made: Parser, json: bool = True) -> None:
    """The trace that a command is about, and whether it prints lines or JSON."""
    made.add_argument(
        "trace",
        nargs="?",
        metavar="TRACE",
        help="a trace, an exported file, a part of the name of a recent trace, or -2 for the "
        "second youngest (default: the youngest)",
    )
    made.add_argument(
        "--dialect",
        action=_NameDialect,
        metavar="FILE.py",
        help="the adapter of another compiler's traces, or MODULE:NAME of one; repeatable",
    )
    if json:
        printing_json(made)


def printing_json(made: Parser) -> None:
    """Options of commands that print JSON."""
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument(
        "--rows",
        dest="most_rows",
        type=positive,
        default=ROWS,
        metavar="N",
        help="items of a list in JSON (default: %(default)s)",
    )
    made.add_argument(
        "--characters",
        dest="most_characters",
        type=positive,
        default=CHARACTERS,
        metavar="N",
        help="characters of JSON (default: %(default)s)",
    )
    made.add_argument("--whole", action="store_true", help="leave nothing out of JSON")


def printing(made: Parser) -> None:
    """Options of commands that print lines."""
    made.add_argument(
        "--color", choices=WHEN, default="auto", help="colours (default: %(default)s)"
    )
    made.add_argument("--wide", action="store_true", help="do not cut lines to the terminal")
    made.add_argument(
        "--no-pager", dest="pager", action="store_false", help="do not use $PAGER (less -FRX)"
    )


def choosing_run(made: Parser) -> None:
    """The option of commands that take one run of a file that may hold several."""
    made.add_argument(
        "--run",
        dest="held_as",
        metavar="LETTER",
        help="the run of this letter, such as B, of an exported file that holds several "
        "(default: the first)",
    )


def number(text: str) -> int:
    """An integer from 0 on. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 15:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number; `uopviz show` lists the numbers"
        )
    return int(text)


def positive(text: str) -> int:
    """An integer from 1 on. Raises ArgumentTypeError."""
    if not text.isdecimal() or not 0 < len(text) < 7 or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def natural(text: str) -> int:
    """A non-negative integer of at most 6 digits. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def width(text: str) -> int:
    """The width of a beam search. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 3 or not 1 <= int(text) <= BEAM.high:
        raise argparse.ArgumentTypeError(f"{text!r} is no width from 1 to {BEAM.high}")
    return int(text)


def executing(made: Parser) -> None:
    """Where the work is done."""
    made.add_argument(
        "--executor",
        metavar="ADDRESS",
        help="work there: dask://HOST:PORT or ray://HOST:PORT (default: on this machine)",
    )
