"""What is known of the processor: what the system says, what is said by hand, what is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import EnvError
from core.hardware.cpu import Cpu, cpu_of
from core.hardware.host import (
    caches_of,
    cpu_for,
    host,
    quota_of,
    registers_of,
    setting_for,
    settings_of,
    usable_cores,
)
from core.helpers import Context
from core.target import targets


def caches(folder: Path, *rows: tuple[str, str, str]) -> Path:
    for at, (level, kind, size) in enumerate(rows):
        made = folder / f"index{at}"
        made.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (made / name).write_text(text + "\n")
    return folder


def test_caches_as_linux_lists_them(tmp_path: Path) -> None:
    listed = (("1", "Data", "48K"), ("1", "Instruction", "64K"), ("2", "Unified", "2M"))
    assert caches_of(caches(tmp_path, *listed)) == {"l1": 48 << 10, "l2": 2 << 20}


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (("1", "Data", "unknown"),),
        (("1", "Data", "0K"),),
        (("1", "Data", "1M"), ("2", "Unified", "256K")),
    ],
    ids=["none", "no number", "nothing", "in no order"],
)
def test_what_cannot_be_is_not_taken(
    tmp_path: Path, rows: tuple[tuple[str, str, str], ...]
) -> None:
    assert caches_of(caches(tmp_path, *rows)) == {}


@pytest.mark.parametrize(
    ("text", "cores"),
    [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 1 << 16), ("", 1 << 16)],
)
def test_the_quota_of_a_container(tmp_path: Path, text: str, cores: int) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert quota_of(tmp_path) == cores


def test_without_a_quota_or_a_list_of_features(tmp_path: Path) -> None:
    assert quota_of(tmp_path) == 1 << 16
    assert registers_of(tmp_path / "cpuinfo") == {}


@pytest.mark.parametrize("cores", [1, 128])
def test_any_number_of_cores(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CPU_MACHINE", raising=False)
    with Context(CPU_THREADS=cores):
        assert usable_cores() == cores
    monkeypatch.setenv("CPU_MACHINE", f"cores={cores},l2=3M")
    found = host(targets["x86-64"])
    assert (found.cpu.cores, found.cpu.l2) == (cores, 3 << 20)
    assert found.sources["cores"] == found.sources["l2"] == "set"


def test_another_architecture_has_the_usual_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPU_MACHINE", "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert host(targets["aarch64"]).cpu == cpu_of("aarch64")
    assert cpu_of("a target without a row") == Cpu()


@pytest.mark.parametrize(
    "text",
    [
        "cores",
        "cores=",
        "cores=0",
        "l4=1M",
        "l2=1T",
        "cores=-1",
        "l2=" + "9" * 400,
        "alu=0." + "0" * 320 + "1",
    ],
)
def test_a_wrong_figure_is_an_error(text: str) -> None:
    with pytest.raises(EnvError, match="is no figure of a processor"):
        settings_of(text)


def test_a_setting_gives_the_same_processor_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def others(_: Path) -> dict[str, float]:
        return {"l1": 1 << 20}

    target = targets["x86-64"]
    for setting in ("", "usual", "cores=8,l2=1M,ghz=4.25"):
        with Context(CPU_MACHINE=setting):
            here, text = cpu_for(target), setting_for(target)
        with monkeypatch.context() as other, Context(CPU_MACHINE=text, CPU_THREADS=3):
            other.setattr("core.hardware.host.caches_of", others)
            assert cpu_for(target) == here
    assert setting_for(targets["aarch64"]).startswith("usual")
    assert settings_of("usual,l2=3M") == {"l2": 3 << 20}
    with Context(CPU_MACHINE="usual"):
        assert setting_for(target) == "usual"
    with pytest.raises(EnvError):
        settings_of("usualcores=8")
