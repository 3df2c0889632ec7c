"""All output to a terminal: everything that a command or the recorder prints goes through here.

Traces, exported files, paths and messages of the system may hold control characters; these are
shown as escapes. Colours come from one table, only where a terminal shows them. Nothing else in viz
prints.
"""

from __future__ import annotations

import io
import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple, TextIO, cast

if sys.platform == "win32":
    import ctypes
    import msvcrt

Style = Literal["heading", "name", "added", "removed", "changed", "hint", "problem"]
STYLES: Final[dict[Style, str]] = {
    "heading": "1",
    "name": "36",
    "added": "32",
    "removed": "31",
    "changed": "33",
    "hint": "2",
    "problem": "1;31",
}
"""How each style looks: parameters of ANSI's "select graphic rendition"."""
WHEN: Final = ("auto", "always", "never")
"""When colours are used; auto: where standard output is a terminal."""
PAGER: Final = "less -FRX"
ELLIPSIS: Final = "…"
"""Stands for what was cut off."""
_QUOTED: Final = "\\'"
"""What has a meaning of its own between $' and '."""
_FORCING: Final = ("FORCE_COLOR", "CLICOLOR_FORCE")
_AFTER: Final = 1.0
"""Seconds that a task may take before its progress is shown."""
_EVERY: Final = 0.1
"""Seconds after which a progress line is drawn again."""
_BAR: Final = 16


class Styled(NamedTuple):
    """A piece of a line in a style."""

    text: str
    style: Style


Piece = str | Styled
Line = Piece | tuple[Piece, ...]
"""A line to print; a tuple is its pieces, one after the other."""


def clean(text: object) -> str:
    """Text for a terminal, in one line, with escapes for what cannot be shown: control characters,
    and bytes of a name that are no UTF-8."""
    return "".join(c if c.isprintable() else _escaped(c) for c in str(text))


def shell_word(text: str) -> str:
    """A path or a name as one word of a command that can be pasted. What cannot be shown is in the
    escapes of `clean`, which bash, zsh and ksh read between $' and '."""
    if text.isprintable():
        return shlex.quote(text)
    shown = ("\\" + c if c in _QUOTED else clean(c) for c in text)
    return f"$'{''.join(shown)}'"


def show_command(path: object, *words: object) -> str:
    """The command that shows a part of a trace, as it can be pasted."""
    return " ".join(["uopviz show", shell_word(str(path)), *map(str, words)])


def plain(line: Line) -> str:
    """The text of a line, cleaned, without styles."""
    return "".join(_clean(piece if isinstance(piece, str) else piece.text) for piece in _of(line))


def width(text: str) -> int:
    """Columns that cleaned text takes in a terminal: wide characters count twice, combining ones
    not at all."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def cut(line: Line, columns: int) -> Line:
    """The line in at most so many columns; what is cut off leaves a visible mark."""
    if width(plain(line)) <= columns:
        return line
    pieces: list[Piece] = []
    left = columns - 1
    for piece in _of(line):
        text = _clean(piece if isinstance(piece, str) else piece.text)
        kept = 0
        for c in text:
            left -= _columns(c)
            if left < 0:
                break
            kept += 1
        else:
            pieces.append(piece)
            continue
        text = text[:kept]
        pieces.append(text if isinstance(piece, str) else Styled(text, piece.style))
        break
    return *pieces, Styled(ELLIPSIS, "hint")


def colours(stream: TextIO, when: str = "auto") -> bool:
    """Whether output to a stream is coloured. NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and CLICOLOR
    are heeded (no-color.org, force-color.org, bixense.com/clicolors), in this order."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCING):
        return True
    if os.environ.get("CLICOLOR") == "0" or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream) and _understands_escapes(stream)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at what is written to a stream. None: the process has no such one."""
    try:
        return stream is not None and stream.isatty()
    except (OSError, ValueError):  # closed
        return False


def paint(line: Line, colour: bool) -> str:
    """A line as it is written: cleaned, and with the codes of its styles if there is `colour`."""
    if not colour:
        return plain(line)
    return "".join(
        _clean(piece)
        if isinstance(piece, str)
        else f"\x1b[{STYLES[piece.style]}m{_clean(piece.text)}\x1b[0m"
        for piece in _of(line)
    )


_room: int | None = None


def give_room(wide: bool) -> None:
    """From here on, lines are made for the terminal that standard output is, unless `wide`."""
    global _room
    _room = None if wide or not is_terminal(sys.stdout) else shutil.get_terminal_size()[0]


def line_room() -> int | None:
    """How many columns a line has; None: as many as it needs."""
    return _room


def put_line(line: Line, flush: bool = False) -> None:
    """Prints one line, plain unless a terminal shows it; tabs, which separate columns, stay."""
    _never_fail_to_encode(sys.stdout)
    print(paint(line, colours(sys.stdout)), flush=flush)


def put_lines(
    lines: Iterable[Line], colour: str = "auto", wide: bool = False, page: bool = True
) -> None:
    """Prints lines. In a terminal they are cut to its width, unless `wide`, and more of them than
    fit on the screen go through $PAGER, unless not `page`."""
    out = sys.stdout
    _never_fail_to_encode(out)
    shown, coloured = iter(lines), colours(out, colour)
    if is_terminal(out):
        columns, rows = shutil.get_terminal_size()
        if not wide:
            shown = (cut(line, columns) for line in shown)
        first = list(islice(shown, rows)) if page else []
        shown = chain(first, shown)
        if page and len(first) == rows and _page(paint(line, coloured) for line in shown):
            return
    for line in shown:
        print(paint(line, coloured))
    out.flush()


def json_text(data: Any) -> str:
    """JSON in one line of ASCII. Numbers that JSON does not have are "inf", "-inf" and "nan"."""
    try:
        text = json.dumps(data, default=repr, allow_nan=False)
    except ValueError:
        text = json.dumps(_named_numbers(data), default=repr)
    return text.replace("\x7f", "\\u007f")


def _named_numbers(value: Any) -> Any:
    """`value` with names in place of numbers that are not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {k: _named_numbers(v) for k, v in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_named_numbers(v) for v in cast("list[Any]", value)]
    return value


def put_json(data: Any, text: str | None = None) -> None:
    """Prints JSON in one line of ASCII; `text`: what it has been made to already."""
    print(json_text(data) if text is None else text)


def drop_output() -> None:
    """Discards what is printed from here on: standard output is no longer read."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str, name: bool = True, style: Style | None = None, over: bool = False) -> None:
    """Prints one line to standard error, after the name of this program unless not `name`. `over`:
    in a terminal, over the `^C` that it has shown for a key. Where there is no standard error, or
    it cannot be written to, that is ignored."""
    stream: TextIO | None = sys.stderr
    if stream is None:
        return
    with Progress.drawing, suppress(OSError, ValueError):
        Progress.hide()
        _never_fail_to_encode(stream)
        said = Styled(text, style) if style else text
        line = paint(("uopviz: " if name else "", said), colours(stream))
        first = "\r" if over and is_terminal(stream) else ""
        print(first + line.replace("\t", "\\t"), file=stream, flush=True)


class Progress:
    """A line on standard error that says how far a long task is, while that is a terminal.

    `with Progress("exporting") as progress: progress.update(0.4, "pass 12 of 30")`. It comes after
    a second, is drawn a few times a second by a thread of its own, however often or seldom it is
    brought up to date, and is gone at the end of the block, however that is left. Until the task
    says how far it is, the line says how long it has taken. May be brought up to date from any
    thread.
    """

    drawing: Final = threading.RLock()
    """Held while something is written that the line must not come in between."""
    _shown: Progress | None = None

    def __init__(self, what: str, on: bool = True) -> None:
        self._what = what
        self._stream = sys.stderr
        self._begun = time.monotonic()
        self._state: tuple[float | None, str] = None, ""
        self._line = ""
        self._ended = threading.Event()
        if not on or not is_terminal(self._stream) or os.environ.get("TERM") == "dumb":
            self._ended.set()

    def __enter__(self) -> Progress:
        if not self._ended.is_set():
            threading.Thread(target=self._draw_often, name="uopviz progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, what: str) -> None:
        """From here on it is another task."""
        self._what, self._state = what, (None, "")

    def update(self, fraction: float | None, text: str = "") -> None:
        """The task is this far, from 0 to 1 (None: unknown), and at `text`."""
        self._state = fraction, text

    def close(self) -> None:
        """Removes the line; the task has ended."""
        self._ended.set()
        with Progress.drawing:
            if Progress._shown is self:
                Progress.hide()

    @staticmethod
    def hide() -> None:
        """Removes the line that is shown, if one is, so that another can be printed."""
        with Progress.drawing:
            shown, Progress._shown = Progress._shown, None
            if shown is not None:
                shown._write("\r\x1b[K")

    def _draw_often(self) -> None:
        wait = _AFTER
        while not self._ended.wait(wait):
            wait = _EVERY
            with Progress.drawing:
                if not self._ended.is_set():
                    self._draw()

    def _draw(self) -> None:
        fraction, text = self._state
        seconds = f"{time.monotonic() - self._begun:.0f} s"
        parts = [self._what]
        if fraction is not None:
            part = min(1.0, max(0.0, fraction))
            filled = int(_BAR * part)
            parts.append(f"{part:4.0%} {'━' * filled}{'─' * (_BAR - filled)}")
        columns = shutil.get_terminal_size()[0] - 1
        line = plain(cut("  ".join([*parts, seconds, text]).rstrip(), columns))
        if line != self._line or Progress._shown is not self:
            _never_fail_to_encode(self._stream)
            Progress._shown, self._line = self, line
            self._write(f"\r{line}\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


def _escaped(c: str) -> str:
    """A character as shells read it: its bytes, of which a name of a file is made."""
    if c.isascii():
        return repr(c)[1:-1]
    try:
        raw = c.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no name has
        raw = c.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in raw)


def _of(line: Line) -> tuple[Piece, ...]:
    return (line,) if isinstance(line, str | Styled) else line


def _clean(text: str) -> str:
    """As `clean`, but tabs, which separate columns, stay."""
    return "\t".join(map(clean, text.split("\t"))) if "\t" in text else clean(text)


def _columns(c: str) -> int:
    if c.isascii():
        return 1
    if unicodedata.category(c) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _never_fail_to_encode(stream: TextIO) -> None:
    """A character that the stream's encoding lacks becomes an escape instead of an exception."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")


def _page(lines: Iterator[str]) -> bool:
    """Gives the lines to the user's pager; False, with no line taken, where there is none."""
    command = shlex.split(os.environ.get("PAGER", PAGER), posix=os.name != "nt")
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return False
    environment = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
        )
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        with suppress(BrokenPipeError), pager:  # it was left before the end
            assert pager.stdin is not None
            for line in lines:
                pager.stdin.write(line + "\n")
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _understands_escapes(stream: TextIO) -> bool:
    """Whether a terminal takes ANSI escapes; a console of Windows is told to."""
    if sys.platform != "win32":
        return True
    kernel = ctypes.windll.kernel32
    handle, mode = msvcrt.get_osfhandle(stream.fileno()), ctypes.c_ulong()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(handle, mode.value | 4))
