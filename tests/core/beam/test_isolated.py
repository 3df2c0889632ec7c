"""Programs that are tried out in a process: what ends it, and what harms nothing else."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing

import pytest

from core import Tensor
from core.beam import isolated
from core.beam.isolated import Isolated, TrialLimits
from core.beam.worker import Tried
from core.errors import RunError
from core.uop import UOp
from core.uop.kernelinfo import Opt, OptOps

UPCAST = (Opt(OptOps.UPCAST, 0, 4),)
CRASHES, HANGS, REFUSED = ((Opt(op, 0, 2),) for op in (OptOps.UNROLL, OptOps.LOCAL, OptOps.SWAP))


@pytest.fixture(scope="module")
def product() -> UOp:
    return (Tensor.empty(8, 12) @ Tensor.empty(12, 16)).schedule()[-1].ast


@pytest.fixture
def pretended(product: UOp, monkeypatch: pytest.MonkeyPatch) -> Iterator[Isolated]:
    monkeypatch.setattr(isolated, "WORKER", "tests.core.beam.pretending")
    with closing(Isolated(product, "CPU")) as trials:
        yield trials


def test_a_crash_harms_its_process_only(pretended: Isolated) -> None:
    assert pretended.chosen == UPCAST
    with pytest.raises(RunError, match=r"compiling crashed its process \(exit code 3\)"):
        pretended.compiled(CRASHES)
    with pytest.raises(RunError, match="running crashed its process"):
        pretended.cost(CRASHES, 1.0)
    assert pretended.compiled(UPCAST) == "a program"
    assert pretended.cost(UPCAST, float("inf")) == 0.5


def test_what_hangs_is_ended(product: UOp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "WORKER", "tests.core.beam.pretending")
    with closing(Isolated(product, "CPU", TrialLimits(compile=0.5, run=0.25))) as trials:
        with pytest.raises(RunError, match=r"running took longer than 0\.25 seconds"):
            trials.cost(HANGS, 1.0)
        with pytest.raises(RunError, match=r"compiling took longer than 0\.5 seconds"):
            trials.legal(HANGS)
        assert trials.compiled(UPCAST) == "a program"


def test_an_error_is_told_and_ends_nothing(pretended: Isolated) -> None:
    with pytest.raises(RunError, match="SWAP is refused") as raised:
        pretended.compiled(REFUSED)
    assert raised.value.hint == "leave it out"
    assert pretended.compiled(UPCAST) == "a program"


def test_a_real_process(product: UOp, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = isolated.child.start

    def watched(module: str, stderr: int) -> subprocess.Popen[bytes]:
        started.append(start(module, stderr))
        return started[-1]

    monkeypatch.setattr(isolated.child, "start", watched)
    with closing(Isolated(product, "CPU")) as trials:
        legal = trials.legal(())
        assert {opt.op for opt in legal} >= {OptOps.UPCAST, OptOps.UNROLL, OptOps.SWAP}
        assert len(trials.legal(trials.chosen)) < len(legal)
        assert trials.compiled(()) == trials.compiled(()) != trials.compiled((legal[0],))
        assert 0 < trials.cost((), float("inf")) < 1
        with pytest.raises(RunError, match="does not apply"):
            trials.compiled((Opt(OptOps.UPCAST, 7, 2),))
        with pytest.raises(RunError, match="does not apply"):
            trials.legal((Opt(OptOps.UPCAST, 7, 2),))
        (process,) = started
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0, "it ends when whoever asks is gone"


def test_a_kernel_that_is_not_run(product: UOp) -> None:
    with pytest.raises(RunError, match="REFERENCE runs no programs"):
        Isolated(product, "REFERENCE")


def test_a_program_with_wrong_results_has_no_cost(
    product: UOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Tried(product, "CPU").cost(UPCAST, float("inf")) > 0

    def far(*_: object) -> list[tuple[int, float, float]]:
        return [(0, 1.0, 0.5)]

    monkeypatch.setattr("core.beam.worker.differences", far)
    with pytest.raises(RunError, match="its results are not those"):
        Tried(product, "CPU").cost(UPCAST, float("inf"))


def test_an_emulated_device_counts_instructions(product: UOp) -> None:
    trials = Tried(product, "PTX:EMU")
    costs = [trials.cost(opts, float("inf")) for opts in ((), UPCAST, ())]
    assert costs[0] == costs[2] > costs[1]
    assert costs[0] == int(costs[0])
