"""`Worker`: a process of its own that answers requests in lines of JSON.

A request is a line; so is each answer: {"result"} or {"error"}, and before it whatever the worker
says on the way, such as {"progress"}. A request that crashes the process, or takes too long, ends
it, and is an answer that says so. Never pickles, and never forks.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar, cast

from core.errors import UopvizError
from core.isolation import child

MAX_ANSWER: Final = 1 << 28
"""Bytes of one line."""
E = TypeVar("E", bound=UopvizError)
Message = dict[str, Any]
Heard = Callable[[Message], None]


@dataclass(frozen=True)
class Fault:
    """Why there is no result: an error of this project as it travels."""

    what: str
    where: str = ""
    hint: str = ""

    @classmethod
    def of(cls, error: UopvizError) -> Fault:
        """What an error says."""
        return cls(error.what, error.where, error.hint)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Fault:
        """What `data` made."""
        return cls(*(str(data.get(k, "")) for k in ("what", "where", "hint")))

    def data(self) -> Message:
        """It as JSON."""
        return asdict(self)

    def raised(self, kind: type[E]) -> E:
        """It as an error."""
        return kind(self.what, self.where, self.hint)


@dataclass(frozen=True)
class Answer:
    """What became of a request: its result; or why the worker gives none; or, where `ended` is not
    "", how the process ended instead: `late`, because it took too long; `much`, because it answered
    too much."""

    result: Any = None
    fault: Fault | None = None
    ended: str = ""
    late: bool = False
    much: bool = False


class Worker:
    """A process of `child.start` that answers requests, one after the other. It runs until it is
    ended, or has ended itself: then it gives no more answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        threading.Thread(target=self._end_rest, daemon=True).start()

    def _end_rest(self) -> None:
        """A process that crashed leaves nothing behind that would keep its answer open."""
        child.wait(self.process)
        self.kill()

    def kill(self) -> None:
        """Ends the process, from any thread: what was asked is answered with how it ended."""
        child.kill(self.process)

    def end(self) -> str:
        """Ends the process where it has not ended; how it did."""
        return child.how(child.end(self.process))

    def rest(self) -> list[Message]:
        """Ends the process; returns its unread output."""
        self.kill()
        return [message_of(line) for line in self.process.stdout or ()]

    def ask(
        self,
        request: Mapping[str, Any],
        seconds: float,
        heard: Heard = lambda message: None,
        last: bool = False,
        most: int = MAX_ANSWER,
    ) -> Answer:
        """The answer to a request, after `seconds` at most. `heard` gets what the worker says on
        the way. `last`: nothing more is asked, and the worker may read to the end of its input.
        `most`: bytes of one line; a longer one ends the process."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            with suppress(OSError, ValueError):  # its end says how it died
                stdin.write(json.dumps(request).encode() + b"\n")
                stdin.close() if last else stdin.flush()
            while (line := stdout.readline(most)).endswith(b"\n"):
                message = message_of(line)
                if "error" in message:
                    return Answer(fault=Fault.from_data(message["error"]))
                if "result" in message:
                    return Answer(message["result"])
                heard(message)
            if len(line) < most:
                child.wait(self.process)
        finally:
            late = not timer.is_alive()
            timer.cancel()
        return Answer(ended=self.end(), late=late, much=len(line) == most)


def message_of(line: bytes) -> Message:
    """A line of a worker; what is no JSON was printed by something that it called."""
    try:
        found = json.loads(line)
    except ValueError:
        return {"progress": line.decode("utf-8", "replace").strip()[:200]}
    return cast("Message", found) if isinstance(found, dict) else {}
