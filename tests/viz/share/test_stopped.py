"""Ctrl-C and a request to end at any instruction of an export, by real signals: the file is the
earlier one or the new one, or there is none, and nothing else is left behind."""

from __future__ import annotations

import gc
import signal
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import viz
from tests.viz.recording.test_interrupts import Injection, Place, locking, stepping, within
from viz.cli import main
from viz.share.webpage import is_built
from viz.views.store import Store

VIZ = Path(viz.__file__).parent
PARTS = 480
"""Of the instructions of an export; `make test` tries those of one part, for each ending."""
OURS = within(
    *(str(VIZ / "share" / name) for name in ("copy.py", "html.py", "exportfile.py", "held")),
    *(str(VIZ / name) for name in ("command/export.py", "files", "write/replacing.py")),
    *(str(VIZ / name) for name in ("write/database.py", "write/output.py")),
)


class Signal:
    """Sends a signal to this process in the place of an exception."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number

    def __call__(self) -> BaseException:
        signal.raise_signal(self._number)
        raise AssertionError("its handler raises")


def export(words: Sequence[str]) -> int:
    try:
        return main(words)
    except SystemExit as error:
        return int(str(error.code))


@pytest.fixture
def folder(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a trace, and an empty one for temporary files."""
    for name in ("work", "tmp"):
        (tmp_path / name).mkdir()
    trace.rename(tmp_path / "work" / "run.viz")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "work"


def whole(path: Path) -> bool:
    """Whether it can be read to its end."""
    if path.suffix == ".html":
        return main(["show", str(path)]) == 0 and path.read_bytes().rstrip().endswith(b"</html>")
    store = Store(path)
    try:
        return len(store.tree()["rows"]) > 1 and not store.run()["problems"]
    finally:
        store.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.sampled(3 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("earlier", [True, False], ids=["replaced", "new"])
@pytest.mark.parametrize("ending", [".viz", ".html"])
def test_an_export_that_is_stopped(folder: Path, part: int, ending: str, earlier: bool) -> None:
    """What the interpreter swallows in a finalizer ends nothing: the file then is the new one."""
    if ending == ".html" and not is_built():
        pytest.skip("the page has not been built")
    source, target = folder / "run.viz", folder / f"new{ending}"
    words = ["export", str(source), "-o", str(target)]
    words += ["--texts-for", "none"] * (ending == ".html")
    assert export(words) == 0  # imports what it needs
    before, source_before = target.read_bytes(), source.read_bytes()

    def prepare() -> None:
        target.unlink(missing_ok=True)
        if earlier:
            target.write_bytes(before)

    prepare()
    places: Counter[Place] = Counter()
    with stepping(lambda place: places.update((place,)), ours=OURS):
        assert export(words) == 0
    assert whole(target)
    for number, (place, times) in list(enumerate(places.items()))[part::PARTS]:
        if locking(place):
            continue
        prepare()
        sent = (signal.SIGINT, signal.SIGTERM)[number // PARTS % 2]
        injection = Injection(place, Signal(sent), number * 37 % times)
        with injection.armed():
            code = export(words)
        gc.collect()
        at = f"{place[0].co_qualname} {place[1]} {sent.name}"
        assert injection.done, at
        assert code == 128 + sent or (code == 0 and target.exists()), at
        assert not earlier or target.exists(), at
        names = {path.name for path in folder.iterdir()}
        assert names <= {source.name, target.name}, at
        assert not [*(folder.parent / "tmp").iterdir()], at
        assert source.read_bytes() == source_before, at
        assert not target.exists() or target.read_bytes() == before or whole(target), at
