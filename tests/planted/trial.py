"""Plants mistakes, one at a time, in a copy of the packages, and tries them: whether a result
changes, what check says, what bisect says.

Answers are kept in a file, by the mistake and the code of the project, so that a run that was ended
goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from tests.planted.mistake import ROOT, Mistake
from tests.planted.programs import PROGRAMS
from tests.planted.worker import MARK

Data = dict[str, Any]
WORKER: Final = Path(__file__).with_name("worker.py")
PACKAGES: Final = ("core", "viz")
LEFT_OUT: Final = frozenset({"web", "__pycache__"})
SECONDS: Final = 240
"""After so many, a worker is killed."""


@cache
def code_hash() -> str:
    """Of all Python code of the project that a trial runs."""
    found = hashlib.sha256(WORKER.read_bytes())
    for name in PACKAGES:
        for path in sorted((ROOT / name).rglob("*.py")):
            if LEFT_OUT.isdisjoint(path.parts):
                found.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return found.hexdigest()[:16]


class Tree:
    """A copy of the packages (links to the files), in which one file at a time is another one."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="planted-"))
        for name in PACKAGES:
            shutil.copytree(
                ROOT / name,
                self.path / name,
                ignore=lambda _, names: LEFT_OUT.intersection(names) - {"__pycache__"},
                copy_function=_linked,
            )

    def plant(self, mistake: Mistake | None) -> Callable[[], None]:
        """Puts a mistake in; returns what takes it out again. Raises ValueError where it cannot."""
        if mistake is None:
            return lambda: None
        if problem := mistake.problem():
            raise ValueError(f"{mistake.name}: {problem}")
        path, source = self.path / mistake.file, ROOT / mistake.file
        path.unlink()
        path.write_text(mistake.planted(source.read_text()))

        def restore() -> None:
            path.unlink()
            _linked(str(source), str(path))

        return restore

    def ask(self, request: Data, variables: Data) -> Data:
        """The answer of a worker that runs in this tree."""
        at = self.path / "request.json"
        at.write_text(json.dumps(request))
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(self.path / "cache"),
            **variables,
        }
        command = [sys.executable, "-P", str(WORKER), str(at)]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS,
                cwd=self.path, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"run": {"failed": "the process took too long"}}
        for line in done.stdout.splitlines():
            if line.startswith(MARK):
                return json.loads(line.removeprefix(MARK))
        said = done.stderr.strip().splitlines()[-1:]
        return {"run": {"failed": f"the process ended with {done.returncode}: {said}"[:400]}}

    def close(self) -> None:
        """Removes it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _linked(source: str, target: str) -> object:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


@dataclass
class Trials:
    """Trials with their answers in a file; `jobs` at a time."""

    place: Path
    jobs: int = 1

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Data] = {}
        with suppress(OSError, ValueError):
            self._known = json.loads(self.place.read_text())
        self.folder = self.place.parent / f"{self.place.stem}-results"
        self.folder.mkdir(parents=True, exist_ok=True)

    def known(self, mistake: Mistake) -> Data | None:
        """The answer that is kept."""
        return self._known.get(f"{mistake.key} {code_hash()}")

    def alarms(self, names: Iterable[str], tell: Callable[[str], None]) -> dict[str, Data]:
        """What check and bisect say of programs without a mistake."""
        wanted = list(dict.fromkeys(names))
        left = [name for name in wanted if f"{self._base_key(name)} asked" not in self._known]
        self._all(left, lambda tree, name: self._base(tree, name, True), tell)
        return {name: self._known[f"{self._base_key(name)} asked"] for name in wanted}

    def run(self, mistakes: Sequence[Mistake], tell: Callable[[str], None]) -> None:
        """Tries those of which no answer is kept."""
        names = dict.fromkeys(m.program for m in mistakes if self.known(m) is None)
        truths = [name for name in names if not self._arrays(name).is_file()]
        self._all(truths, lambda tree, name: self._base(tree, name, False), tell)
        left = [m for m in mistakes if self.known(m) is None]
        self._all(left, self._try, tell)

    def _all(self, items: Sequence[Any], do: Callable[[Tree, Any], str], tell: Any) -> None:
        trees: list[Tree] = []
        mine = threading.local()

        def one(item: Any) -> str:
            if not hasattr(mine, "tree"):
                mine.tree = Tree()
                trees.append(mine.tree)
            return do(mine.tree, item)

        if not items:
            return
        try:
            with ThreadPoolExecutor(max(1, min(self.jobs, len(items)))) as pool:
                for done, said in enumerate(pool.map(one, items), 1):
                    tell(f"{done} of {len(items)}: {said}")
        finally:
            for tree in trees:
                tree.close()

    def _base_key(self, name: str) -> str:
        text = repr((PROGRAMS[name].pieces, PROGRAMS[name].close))
        return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {code_hash()}"

    def _arrays(self, name: str) -> Path:
        return self.folder / f"{self._base_key(name).replace(' ', '-')}.npz"

    def _base(self, tree: Tree, name: str, ask: bool) -> str:
        request = self._request(tree, name, self._arrays(name), None) | {"ask": ask}
        answer = tree.ask(request, {})
        if ask:
            self._keep(f"{self._base_key(name)} asked", answer)
        return f"program {name}: {answer.get('seconds')} s {answer['run']}"

    def _try(self, tree: Tree, mistake: Mistake) -> str:
        try:
            restore = tree.plant(mistake)
        except ValueError as error:
            return str(error)
        try:
            got = tree.path / "got.npz"
            request = self._request(tree, mistake.program, got, self._arrays(mistake.program))
            answer = tree.ask(request, {})
        finally:
            restore()
        self._keep(f"{mistake.key} {code_hash()}", answer)
        return f"{mistake.name}: {answer.get('seconds')} s {answer['run'].get('effect')!r}"

    def _request(self, tree: Tree, name: str, arrays: Path, wanted: Path | None) -> Data:
        program = PROGRAMS[name]
        trace = tree.path / "run"
        for old in tree.path.glob("run.*"):
            old.unlink()
        return {
            "pieces": program.pieces,
            "trace": str(trace),
            "arrays": str(arrays),
            "wanted": None if wanted is None else str(wanted),
            "close": program.close,
            "ask": True,
        }

    def _keep(self, key: str, answer: Data) -> None:
        with self._lock:
            self._known[key] = answer
            fresh = self.place.with_suffix(".new")
            fresh.write_text(json.dumps(self._known))
            fresh.replace(self.place)
