"""Opens a file at a line in the user's editor.

The command is UOPVIZ_EDITOR, or EDITOR where that is an editor with windows of its own: a template
with {file} and {line}, or just a program. No shell is involved.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path, PurePath
from typing import Final

from core.errors import ServerError
from viz.settings import UOPVIZ_EDITOR

TEMPLATES: Final = {
    "code": "-g {file}:{line}",
    "code-insiders": "-g {file}:{line}",
    "codium": "-g {file}:{line}",
    "cursor": "-g {file}:{line}",
    "windsurf": "-g {file}:{line}",
    "zed": "{file}:{line}",
    "subl": "{file}:{line}",
    "gvim": "+{line} {file}",
    "emacsclient": "-n +{line} {file}",
    "kate": "-l {line} {file}",
    "gedit": "+{line} {file}",
    "pycharm": "--line {line} {file}",
    "idea": "--line {line} {file}",
}
"""Arguments of editors that are known by name."""

_ENDINGS: Final = """
    py pyi pyx ipynb c h cc cpp cxx hpp cu cuh hip cl metal ll mlir td ptx s rs go java js ts jl
    swift zig ml hs scala lua txt md
"""
SOURCES: Final = frozenset(f".{ending}" for ending in _ENDINGS.split())
"""Endings of the files that are opened."""


def editor_command(path: str, line: int) -> list[str]:
    """The command that opens `path`. Raises ServerError where no editor is set or known."""
    own = UOPVIZ_EDITOR.value
    text = own or os.environ.get("EDITOR", "")
    parts = shlex.split(text)
    if parts and "{file}" not in text:
        arguments = TEMPLATES.get(PurePath(parts[0]).name)
        if arguments is None and own:
            arguments = "{file}"
        parts = [*parts, *shlex.split(arguments)] if arguments is not None else []
    if not parts or shutil.which(parts[0]) is None:
        raise ServerError(
            "no editor is set that can be opened from here",
            hint="set UOPVIZ_EDITOR, for example to 'code -g {file}:{line}'",
        )
    fill = {"{file}": path, "{line}": str(line)}
    return [_filled(part, fill) for part in parts]


def open_in_editor(path: str, line: int) -> None:
    """Opens the file. Raises ServerError where it is not on this machine, where it is no source
    file (a trace may name anything), or where no editor is set."""
    command = editor_command(_source_file(path), line)
    subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _source_file(path: str) -> str:
    """The path, without links, of an existing source file."""
    hint = "the trace has its rules' sources; see the rule panel"
    try:
        real = Path(path).resolve(strict=True) if os.path.isabs(path) else None
    except (OSError, ValueError, RuntimeError):  # no such file, a zero byte, links in a circle
        real = None
    if real is None or not real.is_file():
        raise ServerError("this file is not on this machine", where=path, hint=hint)
    if not {Path(path).suffix.lower(), real.suffix.lower()} <= SOURCES or not path.isprintable():
        raise ServerError("this is no source file, and is not opened", where=path, hint=hint)
    return str(real)


def _filled(part: str, values: dict[str, str]) -> str:
    """A part of the command with its placeholders filled in, once: what is filled in may look like
    a placeholder itself."""
    return re.sub(r"\{(?:file|line)\}", lambda found: values[found[0]], part)
