"""HLO modules executed by our interpreter give what JAX computes, and passes that are wrong are
named. `tests/peers/programs/modules.py` wrote the modules, the inputs and JAX's results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.cli import main
from viz.foreign.hlo.errors import CannotError, InvalidError, NarrowError
from viz.foreign.hlo.judge import compare
from viz.foreign.hlo.run import LimitError, Run, without_meaning
from viz.foreign.hlo.text import parse
from viz.foreign.hlo.types import Values

MODULES = Path(__file__).parent / "modules"
KNOWN: dict[str, Any] = json.loads((MODULES / "jax.json").read_text())


def array(known: dict[str, Any]) -> Values:
    values = [float(v) if isinstance(v, str) else v for v in known["values"]]
    return np.array(values, known["dtype"]).reshape(known["shape"])


def execute(text: str, *given: Values, wide: bool = False) -> tuple[Values, ...]:
    module = parse(text)
    assert without_meaning(module) == ""
    made = Run(module, wide).entry(given)
    parts = made if isinstance(made, tuple) else (made,)
    return tuple(part for part in parts if isinstance(part, np.ndarray))


@pytest.mark.parametrize("name", KNOWN)
def test_values_are_those_of_jax(name: str) -> None:
    known = KNOWN[name]
    made = execute((MODULES / f"{name}.txt").read_text(), *map(array, known["inputs"]))
    assert len(made) == len(known["outputs"])
    for mine, theirs in zip(made, map(array, known["outputs"]), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        share = 2e-2 if name == "halves" else 3e-5
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=share, atol=share)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in ("bits", "integers")])
def test_values_in_float64_are_those_of_jax(name: str) -> None:
    known = KNOWN[name]
    inputs = [array(one) for one in known["inputs"]]
    wide = [v.astype(np.float64) if v.dtype.kind == "f" else v for v in inputs]
    made = execute((MODULES / f"{name}.txt").read_text(), *wide, wide=True)
    for mine, theirs in zip(made, map(array, known["outputs"]), strict=True):
        share = 2e-2 if name == "halves" else 3e-5
        np.testing.assert_allclose(mine, theirs, rtol=share, atol=share)


@pytest.mark.parametrize("name", ["bits", "integers"])
def test_bits_of_floats_need_their_own_dtype(name: str) -> None:
    inputs = map(array, KNOWN[name]["inputs"])
    with pytest.raises(NarrowError):
        execute((MODULES / f"{name}.txt").read_text(), *inputs, wide=True)


PROGRAM = """HloModule m, entry_computation_layout={(f32[4,4]{1,0}, f32[4,4]{1,0})->f32[4,4]{1,0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,4], y: f32[4,4]) -> (f32[4,4], f32[4], f32[2,4], s32[4,4]) {
  %x = f32[4,4]{1,0} parameter(0), metadata={op_name="x"}
  %y = f32[4,4]{1,0} parameter(1)
  %zero = f32[] constant(0)
  %one = f32[] constant(1)
  %ones = f32[4,4]{1,0} broadcast(%one), dimensions={}
  %turned = f32[4,4]{1,0} transpose(%y), dimensions={1,0}
  %less = f32[4,4]{1,0} subtract(%x, %turned)
  %product = f32[4,4]{1,0} dot(%less, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %rows = f32[4]{0} reduce(%product, %zero), dimensions={1}, to_apply=%sum
  %wide = f32[4,4]{1,0} broadcast(%rows), dimensions={0}
  %is = pred[4,4]{1,0} compare(%wide, %x), direction=LT
  %chosen = f32[4,4]{1,0} select(%is, %x, %product)
  %plus = f32[4,4]{1,0} add(%chosen, %ones)
  %part = f32[2,4]{1,0} slice(%plus), slice={[0:2], [0:4]}
  %whole = s32[4,4]{1,0} convert(%plus)
  %i = s32[4,4]{1,0} iota(), iota_dimension=0
  %both = s32[4,4]{1,0} add(%whole, %i)
  ROOT %all = (f32[4,4], f32[4], f32[2,4], s32[4,4]) tuple(%plus, %rows, %part, %both)
}
"""
WRONG = {
    "broadcast along another dimension": ("(%rows), dimensions={0}", "(%rows), dimensions={1}"),
    "reduce of another dimension": ("dimensions={1}, to_apply", "dimensions={0}, to_apply"),
    "transpose dropped": ("subtract(%x, %turned)", "subtract(%x, %y)"),
    "operands of subtract swapped": ("subtract(%x, %turned)", "subtract(%turned, %x)"),
    "reduce from 1": ("reduce(%product, %zero)", "reduce(%product, %one)"),
    "reduce by another function": ("ROOT %c = f32[] add", "ROOT %c = f32[] maximum"),
    "slice of other rows": ("slice={[0:2], [0:4]}", "slice={[1:3], [0:4]}"),
    "slice of too few rows": ("slice={[0:2], [0:4]}", "slice={[0:1], [0:4]}"),
    "compare the other way": ("direction=LT", "direction=GT"),
    "branches of select swapped": ("select(%is, %x, %product)", "select(%is, %product, %x)"),
    "convert of what came before": ("convert(%plus)", "convert(%chosen)"),
    "rounded where it was cut": (
        "  %whole = s32[4,4]{1,0} convert(%plus)",
        "  %n = f32[4,4]{1,0} round-nearest-even(%plus)\n  %whole = s32[4,4]{1,0} convert(%n)",
    ),
    "dot over another dimension": ("rhs_contracting_dims={0}", "rhs_contracting_dims={1}"),
    "iota along another dimension": ("iota_dimension=0", "iota_dimension=1"),
    "another constant": ("constant(1)", "constant(1.001)"),
    "add became multiply": ("add(%chosen, %ones)", "multiply(%chosen, %ones)"),
    "results swapped": ("tuple(%plus, %rows", "tuple(%chosen, %rows"),
    "reduce of what was floored": (
        "  %rows = f32[4]{0} reduce(%product, %zero)",
        "  %h = f32[4,4]{1,0} floor(%product)\n  %rows = f32[4]{0} reduce(%h, %zero)",
    ),
    "result of another dtype": (
        "s32[4,4]) tuple(%plus, %rows, %part, %both)",
        "pred[4,4]) tuple(%plus, %rows, %part, %is)",
    ),
}  # fmt: skip
RIGHT = {
    "another name": ("%less", "%other"),
    "add the other way round": ("add(%chosen, %ones)", "add(%ones, %chosen)"),
    "transpose in dot": (
        "  %product = f32[4,4]{1,0} dot(%less, %y), lhs_contracting_dims={1}",
        """  %t = f32[4,4]{0,1} transpose(%less), dimensions={1,0}
  %product = f32[4,4]{1,0} dot(%t, %y), lhs_contracting_dims={0}""",
    ),
    "transpose as bitcast": (
        "transpose(%y), dimensions={1,0}",
        "copy(%q)",
    ),
    "negated compare": (
        "direction=LT\n  %chosen = f32[4,4]{1,0} select(%is, %x, %product)",
        "direction=GE\n  %chosen = f32[4,4]{1,0} select(%is, %product, %x)",
    ),
    "dead code": ("  %zero = ", "  %dead = f32[4,4]{1,0} add(%x, %y)\n  %zero = "),
    "subtract as add of negate": (
        "%less = f32[4,4]{1,0} subtract(%x, %turned)",
        "%n = f32[4,4]{1,0} negate(%turned)\n  %less = f32[4,4]{1,0} add(%x, %n)",
    ),
    "fused": (
        "ENTRY",
        """%fused (p: f32[4,4], q: f32[4,4]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  %q = f32[4,4]{1,0} parameter(1)
  ROOT %r = f32[4,4]{1,0} subtract(%p, %q)
}

ENTRY""",
    ),
}


def edited(old: str, new: str) -> str:
    assert PROGRAM.count(old) >= 1
    made = PROGRAM.replace(old, new)
    if "copy(%q)" in new:
        made = made.replace("  %zero = ", "  %q = f32[4,4]{0,1} bitcast(%y)\n  %zero = ", 1)
    if "%fused" in new:
        call = "fusion(%x, %turned), kind=kLoop, calls=%fused"
        made = made.replace("subtract(%x, %turned)", call)
    return made


@pytest.mark.parametrize("name", WRONG)
def test_wrong_passes_are_named(name: str) -> None:
    assert compare(PROGRAM, edited(*WRONG[name])).kind == "differs"


@pytest.mark.parametrize("name", RIGHT)
def test_right_passes_are_not_blamed(name: str) -> None:
    found = compare(PROGRAM, edited(*RIGHT[name]))
    assert (found.kind, found.samples) == ("sampled", 3)


def test_where_a_text_comes_from_is_no_part_of_it() -> None:
    found = compare(PROGRAM, PROGRAM.replace('op_name="x"', 'op_name="z" source_line=3'))
    assert found.kind == "proved"


def test_a_difference_says_where_it_is() -> None:
    found = compare(PROGRAM, edited(*WRONG["iota along another dimension"]))
    assert found.how == "executed on random inputs (sample 1), the module gives other values"
    assert found.before.startswith("output 3[0, 1] = ") and "of 16 elements" in found.after


@pytest.mark.parametrize("name", KNOWN)
def test_a_module_is_right_for_itself(name: str) -> None:
    """Of random inputs, also where its loops and indices are made of these."""
    text = (MODULES / f"{name}.txt").read_text()
    entry = text.index("ENTRY")
    at = text.index("\n", entry)
    dead = f"{text[:at]}\n  %never.read = f32[] constant(0){text[at:]}"
    assert compare(text, dead).kind == "sampled"


SCALAR = "HloModule m\n\nENTRY main {{\n  x = f32[] parameter(0)\n{}\n}}\n"
LOOP = """HloModule m

body {
  s = (s32[], f32[]) parameter(0)
  ROOT t = (s32[], f32[]) copy-start(s)
}

condition {
  s = (s32[], f32[]) parameter(0)
  ROOT c = pred[] constant(true)
}

ENTRY main {
  n = s32[] parameter(0)
  x = f32[] parameter(1)
  s = (s32[], f32[]) tuple(n, x)
  w = (s32[], f32[]) while(s), condition=condition, body=body
  ROOT g = f32[] get-tuple-element(w), index=1
}
"""


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('  ROOT y = f32[] custom-call(x), custom_call_target="f"', "custom-call (1)"),
        ("  z = f32[] rng(x, x), distribution=rng_uniform\n  ROOT y = f32[] rng(z, x)", "rng (2)"),
        ("  ROOT y = f8e4m3fn[] convert(x)", "values of f8e4m3fn have no meaning here"),
        ("  ROOT y = f32[<=4] add(x, x)", "the type f32[<=4] has no meaning here"),
        ("  ROOT y = f32[] add(x, z)", "reads z, which nothing above it makes"),
        ("  ROOT y = f32[] call(x), to_apply=main", "calls main, which nothing above it is"),
        ("  ROOT y = f32[9999999,9999999] broadcast(x), dimensions={}", "a value is too large"),
        ("  y = s32[8] constant({...})\n  ROOT z = s32[8] add(y, y)", "leaves out the values"),
        ("  ROOT y = f32[2] constant({1, 2, 3})", "is no f32[2]"),
        ("  ROOT y = f32[] compare(x, x", "is not understood"),
        ("  ROOT y = f32[] parameter(2)", "a parameter is missing"),
    ],
)
def test_what_cannot_be_executed_is_said(lines: str, why: str) -> None:
    found = compare(SCALAR.format(lines), SCALAR.format(f"  d = f32[] add(x, x)\n{lines}"))
    assert found.kind == "unchecked" and why in found.how


def test_left_out_constants_are_values_by_name() -> None:
    """What they are cannot matter to a pass that keeps them; whether another one is as they are
    is not known."""
    lines = "  k = f32[3] constant({{...}})\n  b = f32[3] broadcast(x), dimensions={{}}\n"
    lines += "  ROOT y = f32[3] {}"
    before = SCALAR.format(lines.format("subtract(b, k)"))
    assert compare(before, SCALAR.format(lines.format("subtract(k, b)"))).kind == "differs"
    right = before.replace("subtract(b, k)", "add(b, n)").replace(
        "  ROOT", "  n = f32[3] negate(k)\n  ROOT"
    )
    assert compare(before, right).kind == "sampled"
    other = compare(before, before.replace("  k =", "  j =").replace(", k)", ", j)"))
    assert other.kind == "unchecked" and "xla_dump_large_constants" in other.hint


def test_types_are_held() -> None:
    wrong = SCALAR.format("  ROOT y = f32[4] broadcast(x), dimensions={0}")
    with pytest.raises(InvalidError):
        execute(wrong, np.float32(1) * np.ones(()))
    for line in ("add(x, n)", "negate(n)", "reshape(n)", "bitcast-convert(n)"):
        text = SCALAR.format(f"  n = s32[2] constant({{1, 2}})\n  ROOT y = f32[] {line}")
        with pytest.raises((InvalidError, CannotError)):
            execute(text, np.ones((), np.float32))


@pytest.mark.parametrize("limit", ["TURNS", "WORK"])
def test_loops_end(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LOOP.replace("copy-start(s)", "opt-barrier(s)")
    monkeypatch.setattr(f"viz.foreign.hlo.run.{limit}", 2000)
    with pytest.raises(LimitError):
        execute(text, np.zeros((), np.int32), np.ones((), np.float32))


def test_calls_of_calls_end(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ["HloModule m\n\nf0 {\n  ROOT x = f32[] parameter(0)\n}\n"]
    for n in range(40):
        call = f"call(x), to_apply=f{n}"
        parts.append(
            f"f{n + 1} {{\n  x = f32[] parameter(0)\n  a = f32[] {call}\n  b = f32[] {call}\n"
            "  ROOT c = f32[] add(a, b)\n}\n"
        )
    monkeypatch.setattr("viz.foreign.hlo.run.WORK", 4_000_000)
    last = parts.pop().replace("f40 {", "ENTRY f40 {")
    with pytest.raises(LimitError):
        execute("\n".join([*parts, last]), np.ones((), np.float32))


PIECES = st.sampled_from(
    ["  %a = ", "  ROOT b = ", "f32[2]{0} ", "f32[2,2]{0,1} ", "s32[] ", "(f32[], s32[]) ",
     "pred[] ", "add(", "dot(", "reduce(", "gather(", "while(", "sort(", "pad(", "convolution(",
     "%a", "x", ", ", ")", "\n", "}", "{", "dimensions={0}", "to_apply=%c", "constant(", "1",
     "window={size=3x3 pad=1_1}", "{...}", "dim_labels=b01f_01io->b01f", "padding=1_1",
     "slice={[0:1]}", "calls=%c", "  x = f32[] parameter(0)\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_no_text_raises_anything_else(pieces: list[str]) -> None:
    head = "HloModule m\n%c {\n  p = f32[] parameter(0)\n}\nENTRY m {\n  x = f32[] parameter(0)\n"
    before, after = head + "}\n", head + "".join(pieces) + "\n}\n"
    compare(before, after)
    compare(after, before)


def test_a_dump_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its passes, and bisect names the wrong one."""
    states = [PROGRAM, edited(*RIGHT["negated compare"])]
    states.append(states[-1].replace("iota_dimension=0", "iota_dimension=1"))
    names = ["before_optimizations", "0001.p.after_right.before_wrong", "0002.p.after_wrong"]
    for name, text in zip(names, states, strict=True):
        (tmp_path / f"module_0001.m.{name}.txt").write_text(text)
    path = str(tmp_path / "run.viz")
    assert main(["import", "-o", path, str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["check", path]) == 1
    told = capsys.readouterr().out
    assert "wrong is wrong at step 1 of wrong" in told
    assert "right is wrong" not in told and "written at" not in told
    assert main(["bisect", path]) == 1
    named = capsys.readouterr().out
    assert "wrong is wrong, in pass wrong" in named and "written at" not in named
