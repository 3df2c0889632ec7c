"""Golden text of every renderer, that it is deterministic, and that its line map is sound."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.passes.pipeline import TEXT_PASSES
from core.render.kinds import KIND, KINDS
from core.render.renderers import Render, rendered_kinds, renderer
from core.target import Family, targets
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.lowered import lowered
from tests.core.render.programs import ON_ALL, ON_GPU

TARGETS: dict[Family, str] = {
    "nvidia": "sm_90",
    "amd": "gfx1100",
    "cpu": "x86-64",
    "webgpu": "webgpu",
    "opencl": "opencl",
}
LANGUAGES: dict[str, tuple[Render, Family, str]] = {
    kind.name if len(kind.families) == 1 else f"{kind.name}_{family}": (
        renderer(kind.name),
        family,
        kind.ending,
    )
    for kind in KINDS
    for family in kind.families
    if kind.rendered
}
NARROW_AS_BITS = ("opencl",)
"""Languages that narrow floats are only stored in."""
CASES = [
    (language, name)
    for language in LANGUAGES
    for name in (ON_ALL if LANGUAGES[language][1] == "cpu" else ON_GPU)
]


def program(language: str, name: str) -> list[UOp]:
    """What the renderer of a language is given."""
    if language not in TEXT_PASSES and language not in NARROW_AS_BITS:
        return ON_GPU[name]()
    return lowered(ON_GPU[name](), TARGETS[LANGUAGES[language][1]], language)


@pytest.mark.parametrize(("language", "name"), CASES)
def test_text(language: str, name: str, golden: Callable[[str, str], None]) -> None:
    render, family, ending = LANGUAGES[language]
    target = targets[TARGETS[family]]
    uops = program(language, name)
    made = render(uops, name, target)
    golden(f"{name}.{language}{ending}", made.text)
    assert render(program(language, name), name, target).text == made.text
    lines = made.text.splitlines()
    assert len(made.lines) == len(lines)
    behind = {p for line in made.lines for p in line}
    assert behind <= set(range(len(uops)))
    for at, u in enumerate(uops):  # everything that has an effect has a line
        if u.op in (Ops.STORE, Ops.LOAD, Ops.RANGE, Ops.END, Ops.IF, Ops.BARRIER):
            assert at in behind, f"{u!r} has no line"


def test_the_table_of_kinds() -> None:
    assert len(KIND) == len(KINDS)
    for family in TARGETS:
        loaded = [kind for kind in KINDS if family in kind.loaded]
        assert [kind.name for kind in loaded] == rendered_kinds(family)[:1]
        assert all(kind.rendered and family in kind.families for kind in loaded)
    assert all(kind.families for kind in KINDS if kind.rendered)
    assert rendered_kinds("amd") == ["llvm", "hip"]
    with pytest.raises(KeyError):
        renderer("choice")
