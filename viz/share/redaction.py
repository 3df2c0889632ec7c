"""What a copy of a run says of the person whose run it was: one table, column by column.

A copy for others (an exported file) names files as the page does: relative to where the program
ran. A redacted one leaves out, besides, what the table says. Makes copies; never changes what it is
given.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, Final, cast

from core.origintext import split_origin
from viz.format import captured, capturedsteps, schema
from viz.format.blocks import OLD, PACKED
from viz.format.captured import Captured
from viz.format.capturedsteps import CapturedStep
from viz.format.rows import BLOCKS, TABLES
from viz.format.schema import REDACTED
from viz.views.runs.places import Places

NO_TEXT: Final = "(text redacted)"
SAID: Final = (
    "redacted: the command, commit, machine, times and processes, folders in all texts, "
    "captured values, lines of the program, sources, docstrings and equations of rules, texts of "
    "errors"
)


class How(Enum):
    """What a copy has of a column."""

    NUMBER = "as it is: holds numbers only"
    TEXT = "without the folders of the paths in it"
    FILE = "the last part of the file's name"
    KIND = "the class of the exception"
    DIGEST = "a digest, so that the files of a run belong together"
    ORDINAL = "its place in the run"
    DROPPED = "nothing"


def _numbers() -> Iterator[str]:
    """The columns that hold integers of no further meaning, of tables and of the packed blocks
    that are written."""
    for table in TABLES:
        for column in table.columns:
            if column.type == "INTEGER" and not column.string and table is not BLOCKS:
                yield f"{table.name}.{column.name}"
    for blocks in PACKED:
        if blocks not in OLD:
            yield from (f"{blocks.name}.{c.name}" for c in blocks.columns if not c.string)


_IN_OBJECTS: Final = (
    *("artifacts.lines", "rules.id", "rules.line", "rules.sourceLine"),
    *("errors.rule", "errors.node", "errors.loop", "user_lines.first", "user_lines.cut"),
)
"""Numbers in JSON, and packed ones."""
TABLE: Final[Mapping[str, How]] = {
    **dict.fromkeys((*_numbers(), *_IN_OBJECTS), How.NUMBER),
    "meta.run": How.DIGEST,
    "meta.process": How.ORDINAL,
    "meta.started": How.DROPPED,
    "meta.ended": How.NUMBER,
    "meta.idle": How.NUMBER,
    "meta.command": How.DROPPED,
    "meta.name": How.DROPPED,
    "meta.cwd": How.DROPPED,
    "meta.commit": How.DROPPED,
    "meta.machine": How.DROPPED,
    "meta.python": How.TEXT,
    "meta.versions": How.TEXT,
    "meta.flags": How.DROPPED,
    "meta.compiler": How.TEXT,
    "meta.dialect": How.TEXT,
    "meta.stopped": How.TEXT,
    "meta.left_out": How.TEXT,
    "meta.reasons": How.DROPPED,
    "meta.passes_for": How.TEXT,
    "contexts.name": How.TEXT,
    "contexts.kind": How.TEXT,
    "contexts.meta.target": How.TEXT,
    "contexts.meta.metadata": How.FILE,
    "contexts.meta.other": How.DROPPED,  # what else a compiler noted
    "rewrites.name": How.TEXT,
    "rewrites.matcher": How.TEXT,
    "rewrites.caller": How.FILE,
    "rules.name": How.TEXT,
    "rules.matcher": How.TEXT,
    "rules.file": How.FILE,
    "rules.equation": How.DROPPED,
    "rules.doc": How.DROPPED,
    "rules.source": How.DROPPED,
    "rules.pattern": How.TEXT,
    "kernels.name": How.TEXT,
    "kernels.target": How.TEXT,
    "kernels.device": How.TEXT,
    "kernels.info": How.TEXT,
    "artifacts.kind": How.TEXT,
    "artifacts.target": How.TEXT,
    "artifacts.text": How.TEXT,
    "artifacts.facts": How.TEXT,
    "artifacts.title": How.TEXT,
    "pass_texts.kind": How.TEXT,
    "heads.op": How.TEXT,
    "heads.dtype": How.TEXT,
    "heads.arg": How.TEXT,
    "heads.tag": How.TEXT,
    "heads.origin": How.FILE,
    "heads.loc": How.FILE,
    "heads.extra": How.TEXT,
    "origins.origin": How.FILE,
    "events.match_sig": How.TEXT,
    "launches.name": How.TEXT,
    "launches.device": How.TEXT,
    "memory.device": How.TEXT,
    "memory.kernel": How.TEXT,
    "memory.lines": How.FILE,
    "user_lines.file": How.DROPPED,
    "user_lines.text": How.DROPPED,
    "user_lines.digest": How.DROPPED,
    "user_lines.proof": How.DROPPED,
    **dict.fromkeys((f"captured.{name}" for name in captured.FIELDS), How.DROPPED),
    **dict.fromkeys((f"captured_steps.{name}" for name in capturedsteps.FIELDS), How.DROPPED),
    "visits.pass": How.TEXT,
    "visits.op": How.TEXT,
    "tries.pass": How.TEXT,
    "errors.message": How.KIND,
    "errors.traceback": How.DROPPED,
    "errors.full": How.DROPPED,
    "errors.place": How.FILE,
    "errors.other": How.DROPPED,  # what else a compiler noted
}
"""Every column that is written (viz/format/schema.py), also of blocks and of JSON in it, and what a
redacted copy has of it. What is not here is in no copy that is redacted."""

_EMPTY: Final = {"rules.source": REDACTED, "errors.traceback": REDACTED}
"""What stands in the place of a text that is dropped, where that is not nothing."""
_PRIVATE: Final = frozenset({"meta.cwd", "user_lines.proof"})
"""What no copy for others has: it means nothing elsewhere."""
_NAME: Final = re.compile(r"[A-Za-z_][\w.]{0,99}(?=: )")
_HOME: Final = re.compile(
    r"""(?<![\w./\\])(?:[A-Za-z]:)?[/\\]+(?:home|Users)[/\\]+[^\s/\\:"'()<>|,;]+(?![^\s:"'()<>|,;])"""
)
_PATH: Final = re.compile(
    r"""(?<![\w)\]./\\])(?:file:)?(?:[A-Za-z]:|~\w*)?(?:[/\\]+[^\s/\\:"'()<>|,;]+)+[/\\]+"""
    r"""([^\s/\\:"'()<>|,;]*)"""
    r"""|(?<![\w)\]./\\])~\w*[/\\]+([^\s/\\:"'()<>|,;]*)"""
)
Fields = Mapping[str, Any]


class Wording:
    """How a copy says things: as the run does, without `places` and `redact`. `number`: which
    process of the run it is of."""

    def __init__(self, places: Places | None = None, redact: bool = False, number: int = 0) -> None:
        self._places, self._redact, self._number = places, redact, number

    def text(self, column: str, text: str) -> str:
        """A text of this column of TABLE."""
        how = TABLE[column]
        if not self._redact:
            if self._places is None:
                return text
            short = self._places.place(text) if how is How.FILE else text
            return self._places.inside(text) if short == text else short
        match how:
            case How.DROPPED:
                return _EMPTY.get(column, "")
            case How.NUMBER:  # a text has no place there
                return ""
            case How.KIND:
                return exception(text)
            case How.FILE:
                return base(text)
            case How.DIGEST:
                return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
            case _:
                return without_folders(self._without_roots(text))

    def keeps(self, column: str) -> bool:
        """Whether the copy has anything of this column of TABLE."""
        private = self._places is not None and column in _PRIVATE
        return not private and not (self._redact and TABLE[column] is How.DROPPED)

    def file(self, path: str) -> str:
        """The name of a rule's file; `text` takes "file:line"."""
        if self._redact or self._places is None:
            return self.text("rules.file", path)
        short = self._places.file(path)
        return self._places.inside(path) if short == path else short

    def value(self, column: str, value: Any) -> Any:
        """JSON with texts, names too; nothing of a column that is dropped."""
        if self._redact and TABLE[column] is How.DROPPED:
            return _EMPTY.get(column, "")
        if isinstance(value, str):
            return self.text(column, value)
        if isinstance(value, list):
            return [self.value(column, item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            items = cast("dict[Any, Any]", value).items()
            return {self.text(column, str(k)): self.value(column, v) for k, v in items}
        return value

    def meta(self, found: Fields) -> dict[str, Any]:
        """What ran where, by the keys of schema.META."""
        made: dict[str, Any] = {}
        for key in schema.META:
            column = f"meta.{key}"
            if key not in found or key in ("left_out", "process"):
                continue
            if self._redact and TABLE[column] is How.DROPPED:
                continue
            if not (self._places and column in _PRIVATE):
                made[key] = self.value(column, found[key])
        match found.get("process"):
            case {"pid": int(pid)} as process:
                made["process"] = process
                if self._redact or self._places:
                    made["process"] = {"pid": self._number if self._redact else pid}
            case _:
                pass
        return made

    def noted(self, what: str, where: str, hint: str) -> dict[str, str]:
        """What a trace lacks, or what went wrong with it: a sentence, a place and a hint."""
        texts = {"what": what, "where": where, "hint": hint}
        return {key: self.text("meta.left_out", text) for key, text in texts.items()}

    def context(self, found: Fields) -> dict[str, Any]:
        """What a compiler noted of a group."""
        return self._object("contexts.meta", found)

    def rule_texts(self, found: Fields) -> dict[str, Any]:
        """Docstring, source and pattern of a rule, and the line where it begins."""
        kept = ("doc", "source", "sourceLine", "pattern")
        return {key: self.value(f"rules.{key}", found[key]) or self._nothing(key)
                for key in kept if key in found}  # fmt: skip

    def captured(self, kernel: Captured) -> Captured:
        """What is known of a kernel whose values were captured, in a copy that is not redacted."""
        return replace(kernel, **self._captured("captured", kernel))

    def captured_step(self, step: CapturedStep) -> CapturedStep:
        """The same of a captured step."""
        return replace(step, **self._captured("captured_steps", step))

    def _captured(self, of: str, kept: Captured | CapturedStep) -> dict[str, Any]:
        texts = {"name": kept.name, "device": kept.device, "why": kept.why}
        return {key: self.text(f"{of}.{key}", text) for key, text in texts.items()}

    def error(self, found: Fields | None) -> dict[str, Any] | None:
        """The exception that ended something."""
        return None if found is None else self._object("errors", found)

    def _object(self, of: str, found: Fields) -> dict[str, Any]:
        """An object whose known fields are columns; of others all is like `other`."""
        made: dict[str, Any] = {}
        for key, value in found.items():
            column = f"{of}.{key}" if f"{of}.{key}" in TABLE else f"{of}.other"
            if not (self._redact and column.endswith(".other")):
                made[key] = self.value(column, value)
        return made

    def _nothing(self, key: str) -> Any:
        return {"pattern": {}, "sourceLine": 0}.get(key, _EMPTY.get(f"rules.{key}", ""))

    def _without_roots(self, text: str) -> str:
        """A text in which paths below the folders that the run knows are seen as paths, whatever
        stands in their names, such as spaces."""
        return self._places.inside(text, "/./") if self._places else text


def base(place: str) -> str:
    """The last part of a file name, of "file:line" or of "file:line call"."""
    where, call = split_origin(place)
    return f"{_last(where)} {_last(call)}".rstrip()


def without_folders(sentence: str) -> str:
    """A sentence with the last part of each absolute path that it names, and without the names of
    users' own folders."""
    return _PATH.sub(lambda m: m[1] or m[2] or "", _HOME.sub("~", sentence))


def exception(message: str) -> str:
    """`ValueError: (text redacted)`."""
    name = _NAME.match(message)
    return f"{name[0]}: {NO_TEXT}" if name else NO_TEXT


def _last(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]
