"""Why opts were chosen, as a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core import Tensor
from core.passes.optimize import chosen_opts
from core.uop import UOp
from core.uop.engine.observe import NullObserver, observing
from tests.core.passes.cost.test_choice import kernel_of, product


class Texts(NullObserver):
    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        self.told.append((kind, text))


def told(value: Tensor) -> tuple[str, str]:
    kernel, observer = kernel_of(value), Texts()
    with observing(observer):
        opts = chosen_opts(kernel)
    ((kind, text),) = observer.told
    assert kind == "choice"
    return " ".join(map(str, opts)), text


def test_the_chosen_opts_lead_and_the_table_is_in_order() -> None:
    opts, text = told(product(64, 64, 64))
    first, predicted, bound, machine, _, empty, head, *rows = text.splitlines()
    assert first == f"chosen     {opts}"
    assert rows[0].endswith(f"  {opts}")
    assert rows[-1].split()[-1] == "none"
    times = [float(row.split()[0]) for row in rows]
    assert times == sorted(times)
    assert predicted.split()[1] == rows[0].split()[0]
    assert bound.startswith("bound by   ") and machine.startswith("machine    x86-64, ")
    assert (empty, head.split()[:2]) == ("", ["predicted,", "us"])


def test_the_bound_is_in_plain_words() -> None:
    assert "bound by   memory: " in told(Tensor.empty(1 << 24) * 2)[1]
    assert "bound by   arithmetic: " in told(Tensor.empty(1 << 12).gelu())[1]
