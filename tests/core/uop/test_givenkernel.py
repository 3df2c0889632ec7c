"""Whatever is given in place of a kernel's AST: the error says what to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core import Tensor, tile
from core.compile import compile_kernel, sources_for
from core.dtype import dtypes
from core.errors import CompileError
from core.isolation.safety import check_kernel
from core.kernelname import kernel_name
from core.launch.run import kernel_for
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.states import kernel_states
from core.target import target_named
from core.uop.uop import UOp

TARGET = target_named("sm_80")


def written() -> tile.Kernel:
    """A kernel of tiles that is not finished: asking it for its AST raises."""
    return tile.Kernel("own", target="sm_80")


GIVEN: dict[str, tuple[Callable[[], object], str]] = {
    "a tile kernel": (written, "give its .ast"),
    "a schedule item": (lambda: (Tensor([1.0, 2.0]) + 1).schedule()[-1], "give its .ast"),
    "a schedule": (lambda: (Tensor([1.0, 2.0]) + 1).schedule(), "items[0].ast"),
    "a Tensor": (lambda: Tensor([1.0]) + 1, "x.schedule() gives its kernels"),
    "a function": (lambda: written, "call it, and give the .ast of what it returns"),
    "a class": (lambda: tile.Kernel, "call it"),
    "a node": (lambda: (Tensor([1.0]) + 1).uop, "a SINK"),
    "nothing": (lambda: None, "a SINK"),
}


TAKERS: dict[str, Callable[[Any], object]] = {
    "compile_kernel": lambda given: compile_kernel(given, TARGET),
    "sources_for": lambda given: sources_for(given, TARGET),
    "kernel_for": lambda given: kernel_for(given, "CPU"),
    "kernel_states": lambda given: [*kernel_states(given, TARGET)],
    "evaluate_kernel": lambda given: evaluate_kernel(given, []),
    "check_kernel": check_kernel,
    "kernel_name": kernel_name,
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("name", GIVEN)
def test_the_hint_says_what_to_give(name: str, taker: str) -> None:
    make, hint = GIVEN[name]
    given = make()
    if isinstance(given, UOp) and taker in ("check_kernel", "kernel_name"):
        return  # the one says what is wrong with the node, the other takes any
    with pytest.raises(CompileError) as caught:
        TAKERS[taker](given)
    assert f"{taker} takes the AST of a kernel, not " in caught.value.what
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (tile.Kernel("own", target="sm_80"), "a function that returns its .ast"),
        (UOp.sink(UOp.const(dtypes.int, 1)), "a function that returns it"),
        (None, "give it as build("),
    ],
)
def test_what_is_no_function_in_place_of_one(given: Any, hint: str) -> None:
    with pytest.raises(CompileError) as caught:
        Tensor.call_kernel(given, Tensor([1.0]), outputs=((1,), "float32"))
    assert "call_kernel takes a function that returns the AST of a kernel" in caught.value.what
    assert hint in caught.value.hint


def test_a_function_that_returns_a_kernel_in_place_of_its_ast() -> None:
    def build(*_: object) -> Any:
        return written()

    with pytest.raises(CompileError) as caught:
        Tensor.call_kernel(build, Tensor([1.0]), outputs=((1,), "float32"))
    assert "build returned Kernel, which is no kernel" in caught.value.what
    assert "give its .ast" in caught.value.hint
