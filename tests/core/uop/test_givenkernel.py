"""Whatever is given in place of a kernel's AST: the error says what to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from core import Tensor, tile
from core.compile import compile_kernel, sources_for
from core.errors import CompileError
from core.runtime.run import kernel_for
from core.target import target_named

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


@pytest.mark.parametrize("name", GIVEN)
def test_the_hint_says_what_to_give(name: str) -> None:
    make, hint = GIVEN[name]
    for taker in (compile_kernel, sources_for):
        with pytest.raises(CompileError) as caught:
            taker(cast("Any", make()), TARGET)
        assert f"{taker.__name__} takes the AST of a kernel, not " in caught.value.what
        assert hint in caught.value.hint
    with pytest.raises(CompileError, match="kernel_for takes the AST"):
        kernel_for(cast("Any", make()), "CPU")


def test_a_function_that_returns_a_kernel_in_place_of_its_ast() -> None:
    def build(*_: object) -> Any:
        return written()

    with pytest.raises(CompileError) as caught:
        Tensor.call_kernel(build, Tensor([1.0]), outputs=((1,), "float32"))
    assert "build returned Kernel, which is no kernel" in caught.value.what
    assert "give its .ast" in caught.value.hint
