"""The runs that an assistant asks about, kept open from one question to the next, and the answers.

An answer is that of a command, made in this process. Never opens a file that the user did not name.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError, UopvizError
from viz.assistant.tools import Tool, Values, tools
from viz.command.line.arguments import Misused
from viz.command.line.parser import build_parser
from viz.share.reopened import open_run
from viz.terminal import Progress, json_text
from viz.views.runs.run import FIRST, Run
from viz.views.summary import names_apart

SENTENCE: Final = 1000
"""Characters of a part of an error at most."""


class Runs:
    """The runs, by the names that tell their files apart."""

    def __init__(self, paths: Sequence[Path], allow_run: bool) -> None:
        self._paths = dict(zip(names_apart(paths), paths, strict=True))
        self.allow_run = allow_run
        self.tools = {tool.name: tool for tool in tools(len(paths), allow_run)}
        self._open: dict[tuple[Path, str], Run] = {}
        self._lock = threading.Lock()
        self._parser = build_parser()

    @property
    def names(self) -> list[str]:
        """What the runs are called."""
        return [*self._paths]

    def open(self, path: Path, held_as: str | None) -> Run:
        """An open run, with what was written since."""
        key = path, held_as or FIRST
        if key not in self._open:
            self._open[key] = open_run(path, held_as=key[1])
        else:
            self._open[key].refresh()
        return self._open[key]

    def ask(self, name: str, values: Values) -> tuple[str, bool]:
        """The answer of a tool as JSON, and whether it is one; else an error. One at a time."""
        with self._lock:
            try:
                return self._answer(self._tool(name), values), True
            except Misused as error:
                return _error(error.what, "", error.hint), False
            except UopvizError as error:
                return _error(error.what, error.where, error.hint), False
            except OSError as error:
                return _error(f"the system says: {error.strerror or error}", "", ""), False

    def _tool(self, name: str) -> Tool:
        if name in self.tools:
            return self.tools[name]
        known = ", ".join(self.tools)
        if name in {tool.name for tool in tools(2, True)} and not self.allow_run:
            raise TraceError(f"the tool {name} is off", hint="uopviz mcp --allow-run turns it on")
        raise TraceError(f"there is no tool {name[:80]!r}", hint=f"there are {known}")

    def _answer(self, tool: Tool, values: Values) -> str:
        schema = tool.schema(self.names)
        for key in values:
            if key not in schema["properties"]:
                known = ", ".join(schema["properties"]) or "none"
                raise TraceError(
                    f"{tool.name} has no parameter {key[:80]!r}", hint=f"it has {known}"
                )
        for key in schema["required"]:
            if values.get(key) is None:
                raise TraceError(f"{tool.name} needs {key!r}")
        asked = ("a", "b") if tool.two_traces else ("trace",)
        paths = [str(self._path(values.get(key))) for key in asked]
        options = self._parser.parse_args(tool.line(values, paths, self.allow_run))
        answers: list[str] = []
        options.answer, options.runs = answers.append, self
        module, _, function = str(options.run).partition(":")
        try:
            with Progress("starting", on=False) as options.progress:
                getattr(importlib.import_module(module), function)(options)
        finally:
            own = getattr(options, "store", None)
            if own is not None and own not in self._open.values():
                own.close()
        return answers[-1]

    def _path(self, name: Any) -> Path:
        if name is None:
            return next(iter(self._paths.values()))
        if not isinstance(name, str) or name not in self._paths:
            raise TraceError(f"there is no run {str(name)[:80]!r}", hint=", ".join(self._paths))
        return self._paths[name]

    def close(self) -> None:
        """Lets go of the files."""
        for run in self._open.values():
            run.close()


def _error(what: str, where: str, hint: str) -> str:
    said = {"what": what, "where": where, "hint": hint}
    return json_text({"error": {key: _short(text) for key, text in said.items()}})


def _short(text: str) -> str:
    """A sentence that may repeat what was asked, which may be of any length."""
    return text if len(text) <= SENTENCE else f"{text[:SENTENCE]}..."
