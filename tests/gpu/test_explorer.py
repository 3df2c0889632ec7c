"""What the explorer does with kernels of one real device: a recorded run, its check, variants and
edited texts, a search, a run again with the code on disk, and a script without uopviz."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.isolation.edited import editable_on
from core.render.kinds import KINDS
from core.runtime.device import Device

PROGRAM = """
import numpy as np
from core import Tensor, TinyJit

@TinyJit
def step(x: Tensor, w: Tensor) -> Tensor:
    return ((x @ w).relu().softmax(1).sum(0) + 1).realize()

rng = np.random.default_rng(1)
for _ in range(4):
    a, b = rng.standard_normal((65, 48)), rng.standard_normal((48, 80))
    x, w = Tensor(a.astype(np.float32)), Tensor(b.astype(np.float32))
    e = np.exp((r := np.maximum(a @ b, 0)) - r.max(1, keepdims=True))
    wanted = (e / e.sum(1, keepdims=True)).sum(0) + 1
    np.testing.assert_allclose(step(x, w).numpy(), wanted, rtol=1e-3)
"""


PRODUCT = "r_65_80_48"
"""What the name of its first kernel begins with."""


def python(*arguments: str, cwd: Path, **env: str) -> str:
    """What a program prints; fails with that and its errors where it does not end with 0."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Exception ignored" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def trace(name: str, folder: Path) -> str:
    """The trace of the program, run on the device."""
    python("-c", PROGRAM, cwd=folder, DEV=name, VIZ="-1", XDG_CACHE_HOME=str(folder))
    (made,) = (folder / "uopviz").glob("*.viz")
    return str(made)


def uopviz(folder: Path, *arguments: str) -> str:
    return python("-m", "viz", *arguments, cwd=folder, XDG_CACHE_HOME=str(folder))


def test_launches_have_times_of_the_device(folder: Path, trace: str, name: str) -> None:
    if "EMU" in name:
        pytest.skip("emulated time is no time")
    said = uopviz(folder, "show", trace)
    assert " us" in said and "kernels" in said


def test_steps_and_texts_are_right(folder: Path, trace: str) -> None:
    uopviz(folder, "check", trace)


def test_the_code_on_disk_makes_the_same(folder: Path, trace: str) -> None:
    uopviz(folder, "replay", trace)


def test_a_variant_is_measured_beside_the_kernel(folder: Path, trace: str, name: str) -> None:
    said = uopviz(folder, "what-if", trace, "--kernel", PRODUCT, "--opts", "", "--device", name)
    assert "agrees with the reference" in said
    assert "EMU" in name or "95% interval" in said


def test_an_edited_text_runs(folder: Path, trace: str, name: str) -> None:
    for row in editable_on([name]):
        if row["device"] == name and row["missing"]:
            pytest.skip(row["missing"])
    family = Device[name].written_for.family
    kind = next(k for k in KINDS if family in k.loaded)
    text = uopviz(folder, "show", trace, "--kernel", PRODUCT, "--text", kind.name)
    (folder / f"mine{kind.ending}").write_text(text + "\n")
    said = uopviz(
        folder, "what-if", trace, "--kernel", PRODUCT,
        "--text", str(folder / f"mine{kind.ending}"), "--device", name,
    )  # fmt: skip
    assert "agrees with the reference" in said


def test_a_search_on_the_device_keeps_the_values(folder: Path, name: str) -> None:
    python("-c", PROGRAM, cwd=folder, DEV=name, BEAM="2", BEAM_SECONDS="5",
           XDG_CACHE_HOME=str(folder / "searched"))  # fmt: skip


def test_a_script_of_ptx_needs_the_bindings_only(folder: Path, trace: str, name: str) -> None:
    if not name.startswith("CUDA"):
        pytest.skip("for NVIDIA's bindings")
    script = folder / "launch.py"
    uopviz(folder, "script", trace, "--kernel", PRODUCT, "--bindings", "-o", str(script))
    assert "the result is as expected" in python("-P", str(script), cwd=folder)
