"""Golden text of every renderer, that it is deterministic, and that its line map is sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from core.render import c, cuda, hip, llvm, ptx
from core.render.rendered import Rendered
from core.target import Target, targets
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.programs import ON_ALL, ON_GPU

Render = Callable[[Sequence[UOp], str, Target], Rendered]
LANGUAGES: dict[str, tuple[Render, str, str]] = {
    "ptx": (ptx.render, "sm_90", "ptx"),
    "llvm_cpu": (llvm.render, "x86-64", "ll"),
    "llvm_amd": (llvm.render, "gfx1100", "ll"),
    "hip": (hip.render, "gfx1100", "hip"),
    "cuda": (cuda.render, "sm_90", "cu"),
    "c": (c.render, "x86-64", "c"),
}
CASES = [
    (language, name)
    for language in LANGUAGES
    for name in (ON_ALL if language in ("llvm_cpu", "c") else ON_GPU)
]


@pytest.mark.parametrize(("language", "name"), CASES)
def test_text(language: str, name: str, golden: Callable[[str, str], None]) -> None:
    render, target, suffix = LANGUAGES[language]
    uops = ON_GPU[name]()
    made = render(uops, name, targets[target])
    golden(f"{name}.{language}.{suffix}", made.text)
    assert render(ON_GPU[name](), name, targets[target]).text == made.text
    lines = made.text.splitlines()
    assert len(made.lines) == len(lines)
    behind = {p for line in made.lines for p in line}
    assert behind <= set(range(len(uops)))
    for at, u in enumerate(uops):  # everything that has an effect has a line
        if u.op in (Ops.STORE, Ops.LOAD, Ops.RANGE, Ops.END, Ops.IF, Ops.BARRIER):
            assert at in behind, f"{u!r} has no line"
