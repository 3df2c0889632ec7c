"""BEAM: kernels of a run are searched on their device, kept on disk, and compute the same."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core import beam as of_beam
from core.beam import choices, tuned
from core.beam.choices import Choice, kept_choice
from core.beam.isolated import Isolated, TrialLimits
from core.compile import compile_kernel
from core.errors import RunError
from core.helpers import Context
from core.kernelname import kernel_name
from core.passes.optimize.search import Limits, search
from core.private import cache_root
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.processor import host_target
from core.uop import UOp
from core.uop.data.args import decode_arg, encode_arg
from core.uop.engine.observe import NullObserver, observing, recording
from core.uop.kernelinfo import KernelInfo, Opt, OptOps
from core.uop.patterns.policy import Policy, following

OPTS = (Opt(OptOps.UPCAST, 1, 4),)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture(scope="module")
def product() -> UOp:
    return (Tensor.empty(8, 12) @ Tensor.empty(12, 16)).schedule()[-1].ast


class Finds:
    """Stands for a search."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> Choice:
        self.asked += 1
        return Choice(OPTS, f"search {self.asked}\n")


def files() -> list[Path]:
    return sorted((cache_root() / "search").iterdir())


def test_what_was_found_is_kept(product: UOp) -> None:
    find, target = Finds(), host_target()

    def ask(*asked: int) -> Choice:
        return kept_choice(product, "CPU", target, asked, find)

    assert ask(4, 60) == ask(4, 60) == Choice(OPTS, "search 1\n")
    assert (find.asked, len(files())) == (1, 1)
    assert ask(2, 60).report == "search 2\n"
    with Context(TC=0):
        assert ask(4, 60).report == "search 3\n"
    assert kept_choice(product, "PTX:EMU", targets["sm_90"], (4, 60), find).opts == OPTS
    assert find.asked == 4


def test_other_code_of_the_compiler_is_searched_again(
    product: UOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, target = Finds(), host_target()
    kept_choice(product, "CPU", target, (4,), find)
    monkeypatch.setattr(choices, "compiler_digest", lambda: "other code")
    kept_choice(product, "CPU", target, (4,), find)
    assert find.asked == 2


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"no JSON",
        b'{"opts": [], "report": 3}',
        b'{"opts": [1], "report": ""}',
        b'{"opts": {"opt": 0}, "report": ""}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("summed", [True, False])
def test_a_damaged_file_is_searched_again(product: UOp, damage: bytes, summed: bool) -> None:
    find, target = Finds(), host_target()
    kept_choice(product, "CPU", target, (4,), find)
    (path,) = files()
    if summed:  # as a program that knows the format may write it
        path.unlink()
        choices.searches.get(choices._made_of(product, "CPU", target, (4,)), lambda: damage)
    else:
        path.write_bytes(path.read_bytes()[:-9] + damage)
    assert kept_choice(product, "CPU", target, (4,), find).report == "search 2\n"


def test_no_search_where_nobody_asked(product: UOp, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("it was searched")

    monkeypatch.setattr(of_beam, "searched", never)
    target = host_target()
    written = product.replace(arg=KernelInfo(opts=OPTS))
    assert tuned(product, "CPU", target) == (product, "")
    with Context(BEAM=2):
        assert tuned(written, "CPU", target) == (written, "")
        with Context(NOOPT=1):
            assert tuned(product, "CPU", target) == (product, "")
        with following(Policy(skip=frozenset({"add_zero"}))):
            assert tuned(product, "CPU", target) == (product, "")


def test_a_search_that_fails_leaves_what_is_chosen_by_default(
    product: UOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RunError("the device is lost")

    monkeypatch.setattr(of_beam, "searched", fails)
    with Context(BEAM=2):
        assert tuned(product, "CPU", host_target()) == (
            product, "not searched: the device is lost\n",
        )  # fmt: skip
    assert files() == []


@pytest.mark.parametrize("limits", [TrialLimits(compile=0.0), TrialLimits(run=0.0)])
def test_a_search_without_time_finds_what_is_chosen_by_default(
    product: UOp, limits: TrialLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_beam, "Isolated", partial(Isolated, limits=limits))
    found, chosen = of_beam.searched(product, "CPU", 2, 0.0)
    assert (found.opts, found.cost, found.in_time) == (chosen, None, False)
    with Context(BEAM=2):
        ast, report = tuned(product, "CPU", host_target())
    assert ast is product
    assert report == "not searched: no program of this kernel was measured on CPU in time\n"
    assert files() == []


def test_opts_that_were_found_are_for_their_target(product: UOp) -> None:
    found = product.replace(arg=KernelInfo(opts=OPTS, found_for="x86-64"))
    assert kernel_name(found) == kernel_name(product)
    assert decode_arg(encode_arg(found.arg)) == found.arg
    for target in (targets["x86-64"], targets["sm_90"]):
        same = compile_kernel(product, target, OPTS if target.family == "cpu" else None)
        assert compile_kernel(found, target).source.text == same.source.text
        own = compile_kernel(found, target, ()).source.text
        assert own == compile_kernel(product, target, ()).source.text


@pytest.mark.parametrize("what", ["matmul", "sum"])
def test_every_program_of_a_search_computes_the_same(what: str) -> None:
    made = Tensor.empty(16, 24)
    value = made @ Tensor.empty(24, 32) if what == "matmul" else made.sum(1)
    ast = value.schedule()[-1].ast
    with closing(Isolated(ast, "CPU")) as trials:
        found = search(trials, 2, (trials.chosen, ()), Limits(seconds=1.5))
    assert found.tried >= 2
    assert found.failed == 0, [t for t in found.trail if t.why]
    assert found.cost is not None
    assert found.first is not None
    assert found.cost <= found.first


class Watching(NullObserver):
    """Which contexts there are, and the reports of searches."""

    def __init__(self) -> None:
        self.contexts: list[tuple[str, str]] = []
        self.reports: list[str] = []

    def context_begin(self, name: str, kind: str, meta: object) -> None:
        self.contexts.append((name, kind))

    def artifact(self, kind: str, target: str, text: str, lines: object, facts: object) -> None:
        if kind == "search":
            self.reports.append(text)


def test_a_run_with_beam_computes_the_same_and_records_what_was_chosen() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape, np.float32) for shape in ((17, 24), (24, 9)))
    seen = Watching()
    with observing(seen), Context(BEAM=2, BEAM_SECONDS=1):
        got = (Tensor(a) @ Tensor(b)).relu().numpy()
    np.testing.assert_allclose(got, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-4)
    assert len([kind for _, kind in seen.contexts if kind == "kernel"]) == 1
    (report,) = seen.reports
    assert report.startswith("width 2, ")
    assert "chosen without it" in report
    with recording() as again, Context(BEAM=2, BEAM_SECONDS=1):
        ast = (Tensor.empty(17, 24) @ Tensor.empty(24, 9)).relu().schedule()[-1].ast
        before = len(again.events)
        found, said = tuned(ast, "CPU", host_target())
    assert said == report, "it was kept"
    assert len(again.events) == before, "a search rewrites nothing in this process"
    arrays = [np.zeros(17 * 9, np.float32), a.reshape(-1).copy(), b.reshape(-1).copy()]
    evaluate_kernel(found, arrays, {}, 1 << 30)
    np.testing.assert_allclose(arrays[0].reshape(17, 9), got, rtol=1e-4, atol=1e-4)
