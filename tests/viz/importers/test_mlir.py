"""MLIR's text: every op is an op of the snapshot or counted, whatever the text is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.importers.mlir.mlir import dumps_in, is_mlir, parse
from viz.importers.snapshot import Op, Value

DUMPS = Path(__file__).parent / "dumps" / "mlir"


def ops_of(text: str) -> list[Op]:
    """All ops, those inside others first."""
    made = parse(text.splitlines())
    assert (made.odd, made.unknown) == (0, 0)
    return [*made.root.walk()]


def reads(op: Op) -> list[object]:
    """What an op reads: names of ops with the number of the result, or of a block's argument."""
    return [
        (value.of.name if isinstance(value.of, Op) else "argument", value.number)
        for value in op.operands
    ]


def test_the_generic_form() -> None:
    text = """
"builtin.module"() ({
  "func.func"() <{sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "arith.constant"() <{value = "a // { \\" b"}> : () -> f32 loc("x.py":9:2)
    %1:2 = "test.two"(%0, %arg0) {a = [1, 2]} : (f32, tensor<4xf32>) -> (f32, f32)
    "scf.if"(%1#1) ({
      "scf.yield"(%1#0) : (f32) -> ()
    }, {
      "scf.yield"(%0) : (f32) -> ()
    }) {k = 1} : (f32) -> ()
    "func.return"(%arg0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
    ops = {op.name: op for op in ops_of(text)}
    assert ops["arith.constant"].text == '<{value = "a // { \\" b"}>'
    assert (ops["arith.constant"].type, ops["arith.constant"].place) == ("f32", "x.py:9")
    assert reads(ops["test.two"]) == [("arith.constant", 0), ("argument", 0)]
    assert ops["test.two"].type == "(f32, f32)"
    assert reads(ops["scf.if"]) == [("test.two", 1)]
    assert [len(block.ops) for block in ops["scf.if"].blocks] == [1, 1]
    assert ops["scf.if"].text == "{k = 1}"
    assert ops["func.func"].blocks[0].arguments == ["tensor<4xf32>"]


def test_names_in_lists_and_ops_over_several_lines() -> None:
    """As `scf.forall`, `flow.dispatch.workgroups` and `util.assume.int` are printed."""
    text = """
func.func @main(%a: tensor<4xf32>, %n: index) {
  %0 = scf.forall (%i, %j) in (%n, %n) shared_outs(%x = %a) -> (tensor<4xf32>) {
    test.use %i, %j, %x, %a : index
  }
  %1 = test.dispatch(%a) : (tensor<4xf32>) -> tensor<4xf32> =
      (%b: tensor<4xf32>, %c: index) {
    test.inner %c, %b : index
  }
  %2:2 = test.assume
      %n<umin = 0>,
      %n<umax = 9>
    : index, index
  return
}
"""
    ops = {op.name: op for op in ops_of(text)}
    assert reads(ops["scf.forall"]) == [("argument", 1), ("argument", 1), ("argument", 0)]
    assert reads(ops["test.use"]) == [("argument", at) for at in (0, 1, 2, 0)]
    assert reads(ops["test.inner"]) == [("argument", 1), ("argument", 0)]
    assert reads(ops["test.assume"]) == [("argument", 1), ("argument", 1)]
    assert ops["test.assume"].type == "index, index"


def test_the_custom_form() -> None:
    text = """
module {
  func.func @main(%arg0: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index loc(#loc1)
    %1:2 = scf.for %i = %c0 to %n step %c0 iter_args(%a = %arg0, %b = %c0) -> (f32, index) {
      %2 = arith.mulf %a, %arg0 : tensor<4xf32>
      scf.yield %2, %i : tensor<4xf32>, index
    }
    %3 = scf.if %n -> (index) {
      scf.yield %c0 : index
    } else {
      scf.yield %n : index
    }
    cf.br ^bb1(%3 : index)
  ^bb1(%x: index):
    return %1#0 : tensor<4xf32>
  }
}
#loc1 = loc("a.py":4:3)
"""
    ops = {op.name: op for op in ops_of(text)}
    assert ops["arith.constant"].place == "a.py:4"
    assert reads(ops["scf.for"]) == [
        ("arith.constant", 0),
        ("argument", 1),
        ("arith.constant", 0),
        ("argument", 0),
        ("arith.constant", 0),
    ]
    assert reads(ops["arith.mulf"]) == [("argument", 1), ("argument", 0)]
    assert len(ops["scf.if"].blocks) == 2
    assert [block.label for block in ops["func.func"].blocks] == ["", "^bb1"]


def test_names_of_values_make_no_difference() -> None:
    """Passes print values under other names."""
    text = "module {\n  func.func @f(%{0}: i32) {{\n    %{1} = arith.addi %{0}, %{0} : i32\n  }}\n}"
    made = [
        [(op.name, op.text, op.type) for op in ops_of(form)]
        for form in (
            text.replace("{0}", "a").replace("{1}", "b").replace("{{", "{").replace("}}", "}"),
            text.replace("{0}", "arg0").replace("{1}", "0").replace("{{", "{").replace("}}", "}"),
        )
    ]
    assert made[0] == made[1]


def test_what_is_no_op_is_counted() -> None:
    made = parse(["module {", "  ,,, what", '  %0 = "t.a"(%nowhere) : (i32) -> i32', "}"])
    assert (made.ops, made.odd, made.unknown) == (2, 1, 1)
    assert made.root.blocks[0].ops[0].operands == [Value(None, 0, "%nowhere")]


def test_dumps_of_a_log() -> None:
    with (DUMPS / "before_only.log").open() as file:
        dumps = [*dumps_in(file)]
    assert [(d.when, d.argument) for d in dumps] == [
        ("before", "inline"),
        ("before", "cse"),
        ("before", "symbol-dce"),
    ]
    line = "// -----// IR Dump After X: my-pass{a=1 b=2} ('func.func' operation: @f) //----- //"
    assert [(d.name, d.argument) for d in dumps_in([line])] == [("X", "my-pass")]
    assert is_mlir("module {\n}") and not is_mlir("digraph {\n}")


PIECES = st.sampled_from(
    ["%a", "%b = ", "%c:2 = ", '"t.x"', "t.y", "(", ")", "{", "}", "[", "]", "<", ">", "->", ":",
     ",", "^bb0", "@f", "loc(", "#loc1 = loc(", '"', "\\", "\n", " ", "({", "})", "}, {", "i32",
     "// -----// IR Dump After X (x) //----- //\n", "{-#", "#-}"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60))
def test_no_text_raises(pieces: list[str]) -> None:
    for dump in dumps_in(["module {\n", *"".join(pieces).splitlines(keepends=True)]):
        made = parse(dump.lines)
        assert sum(1 for _ in made.root.walk()) <= made.ops + 1


@pytest.mark.parametrize("line", ["t.x {", '"t.x"() ({', "^a:", "}", "((((((("])
def test_depth_and_length_are_bounded(line: str) -> None:
    made = parse([line] * 20_000)
    assert made.ops <= 20_000
