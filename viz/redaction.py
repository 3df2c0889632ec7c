"""What a copy of a run says of the person whose run it was.

Any copy for others names files as the page does. A redacted one leaves out users' folders, the
command, the machine, source texts, and the texts of exceptions, which may hold anything. Makes
copies; never changes what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from viz import schema
from viz.places import Places

REDACTED: Final = "(source redacted)"
NO_TEXT: Final = "(text redacted)"
SAID: Final = (
    "redacted: the command, the machine, folders of files, sources of rules, texts of errors"
)
_OWN: Final = frozenset({"process", "cwd"})
"""Of the recording, what means nothing elsewhere."""
_PUBLIC: Final = frozenset({"run", "started", "ended", "commit", "python", "versions", "stopped"})
_NAME: Final = re.compile(r"[A-Za-z_][\w.]{0,99}(?=: )")
_PATH: Final = re.compile(r"""(?:[A-Za-z]:|~)?(?:[/\\][^\s/\\:"'()]+)+[/\\]([^\s/\\:"'()]*)""")
Fields = Mapping[str, Any]


class Wording:
    """How a copy says things: as the run does, without `places` and `redact`."""

    def __init__(self, places: Places | None = None, redact: bool = False) -> None:
        self._places, self._redact = places, redact

    def file(self, path: str) -> str:
        """The name of a file."""
        if self._redact:
            return base(path)
        return self._places.file(path) if self._places else path

    def place(self, text: str) -> str:
        """ "file:line"."""
        if self._redact:
            return base(text)
        return self._places.place(text) if self._places else text

    def sentence(self, text: str) -> str:
        """A sentence of this program about the run."""
        return without_folders(text) if self._redact else text

    def meta(self, found: Fields) -> dict[str, Any]:
        """What ran where, by the keys of schema.META."""
        if self._redact:
            kept = {key: found[key] for key in _PUBLIC if key in found}
            if isinstance(kept.get("stopped"), str):
                kept["stopped"] = without_folders(kept["stopped"])
        else:
            kept = {key: found[key] for key in schema.META if key in found}
        if self._redact or self._places:
            kept = {key: value for key, value in kept.items() if key not in _OWN}
            match found.get("process"):
                case {"pid": int(pid)}:
                    kept["process"] = {"pid": pid}
                case _:
                    pass
        if self._places and isinstance(kept.get("command"), list):
            kept["command"] = [self._places.within(str(part)) for part in kept["command"]]
        return kept

    def context(self, found: Fields) -> dict[str, Any]:
        """What a compiler noted of a group."""
        kept = {"target": found["target"]} if "target" in found else {}
        made = kept if self._redact else {**found}
        if isinstance(found.get("metadata"), list):
            made["metadata"] = [self.place(str(call)) for call in found["metadata"]]
        return made

    def texts(self, found: Fields) -> dict[str, Any]:
        """Docstring, source and pattern of a rule."""
        return {**found, "source": REDACTED} if self._redact else {**found}

    def error(self, found: Fields | None) -> dict[str, Any] | None:
        """The exception that ended something."""
        if found is None:
            return None
        made = {**found}
        if isinstance(raised := found.get("place"), str):
            made["place"] = self.place(raised)
        if not self._redact:
            return made
        said = {"message": exception(str(found.get("message", ""))), "traceback": REDACTED}
        kept = ("message", "traceback", "rule", "node", "loop", "place")
        return {key: said.get(key, made[key]) for key in made if key in kept}


def base(place: str) -> str:
    """The last part of a file name."""
    return re.split(r"[/\\]", place)[-1]


def without_folders(sentence: str) -> str:
    """A sentence with the last part of each absolute path that it names."""
    return _PATH.sub(r"\1", sentence)


def exception(message: str) -> str:
    """`ValueError: (text redacted)`."""
    name = _NAME.match(message)
    return f"{name[0]}: {NO_TEXT}" if name else NO_TEXT
