"""XLA's dumps: a pass for each file that differs, with the jaxpr and the StableHLO before them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.importers.test_import import is_exact
from viz.cli import main
from viz.importers.roles import roles_of
from viz.importers.xla import hlo, jaxpr
from viz.importers.xla.hlodump import is_dump
from viz.views.store import Store

DUMPS = Path(__file__).parent / "dumps" / "xla"
BEFORE = DUMPS / "module_0004.jit_f.before_optimizations.txt"


def imported(path: Path, *given: Path) -> Store:
    """The trace of dumps."""
    assert main(["import", "-o", str(path), *map(str, given)]) == 0
    return Store(path)


def test_a_folder_is_its_passes(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", DUMPS)
    rows = store.tree()["rows"]
    assert [
        (rows[row["parent"]]["name"], row["name"], row["steps"])
        for row in rows
        if row["kind"] == "rewrite"
    ] == [
        ("jit_f (module_0004)", "to StableHLO", 1),
        ("jit_f (module_0004)", "to HLO", 1),
        ("HLO_passes_after_layout_assignment", "fusion", 1),
        ("HLO_passes_after_layout_assignment", "fusion-wrapper", 1),
        ("jit_f (module_0004)", "after optimizations", 0),  # it says that it is scheduled
    ]
    assert is_exact(store.files[0])
    assert store.run()["problems"] == []
    kernel = store.kernel(rows[0]["id"])
    assert kernel is not None and kernel["name"] == "jit_f"
    assert [(one["kind"], one["target"]) for one in kernel["artifacts"]] == [
        ("llvm", "add_tanh_fusion_kernel_module")
    ]
    assert [place["file"] for place in kernel["places"]] == ["/app/j2.py"]
    store.close()


def test_a_pass_has_its_text_and_its_step(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", DUMPS)
    row = next(row for row in store.tree()["rows"] if row["name"] == "fusion-wrapper")
    texts, bundle = store.pass_texts(row["id"]), store.bundle(row["id"])
    assert texts is not None and bundle is not None
    assert "%wrapped_reduce" in texts["after"]["text"]
    assert "%wrapped_reduce" not in texts["before"]["text"]
    (step,) = bundle["steps"]
    ops, of = bundle["ops"], bundle["nodes"]["op"]
    added = [ops[of[node]] for slot, node, _ in step["set"] if slot in step["added"]]
    assert sorted(added) == ["computation", "fusion", "parameter", "parameter", "reduce"]
    store.close()


def test_a_module_alone_is_a_state(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", BEFORE)
    (problem,) = store.run()["problems"]
    assert problem["what"] == "the dump has one state of the program, and no pass"
    store.close()


def test_two_dumps_of_one_number(tmp_path: Path) -> None:
    """Of two runs in one folder."""
    text = BEFORE.read_text()
    for name in ("p.after_a.before_b", "p.after_c.before_d"):
        path = tmp_path / f"module_0001.jit_f.0003.{name}.txt"
        path.write_text(text.replace("tanh(", "sine(") if "after_c" in name else text)
    store = imported(tmp_path / "a.viz", tmp_path)
    assert [r["name"] for r in store.tree()["rows"] if r["kind"] == "rewrite"] == ["c"]
    store.close()


def test_only_what_jax_lowered(tmp_path: Path) -> None:
    folder = tmp_path / "ir"
    folder.mkdir()
    for name in ("jax_000002_f.jaxpr.txt", "jax_ir0002_jit_f_compile.mlir"):
        shutil.copy(DUMPS / name, folder)
    store = imported(tmp_path / "a.viz", folder)
    assert [r["name"] for r in store.tree()["rows"] if r["kind"] == "rewrite"] == ["to StableHLO"]
    store.close()


def test_instructions_and_frames() -> None:
    with BEFORE.open() as file:
        made, frames = hlo.parse(file)
    assert (made.odd, made.unknown) == (0, 0)
    ops = {op.key: op for op in made.root.walk()}
    dot = next(op for op in ops.values() if op.name == "dot")
    assert dot.text == "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    assert dot.place == "/app/j2.py:4" and dot.type == "f32[4,4]{1,0}"
    reduce = next(op for op in ops.values() if op.name == "reduce")
    assert [getattr(value.of, "name", None) for value in reduce.operands] == [
        "parameter",
        "constant",
        "computation",
    ]
    assert [value.role for value in reduce.operands] == ["", "", "to_apply"]
    assert roles_of("reduce", 2) == ["operand", "init"]
    assert reduce.text == "dimensions={0,1}, to_apply=$2"
    assert set(frames.places.values()) == {"/app/j2.py:4", "/app/j2.py:5"}
    entry = next(op for op in ops.values() if op.text == "ENTRY")
    assert [value.name for value in entry.operands] == [made.root.blocks[0].ops[-2].key]


def test_forms_of_other_versions() -> None:
    text = """HloModule m

%body.1 (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], /*index=1*/f32[4]{0}) parameter(0)
  %g = s32[] get-tuple-element((s32[], f32[4]{0}) %p), index=0
  ROOT %t = (s32[], f32[4]) tuple(s32[] %g, f32[4]{0} %q), control-predecessors={%g}
}

ENTRY main {
  c = s32[] constant(5), metadata={op_type="Const" source_file="/x y.py" source_line=7}
  k = (s32[], f32[4]) custom-call(c), custom_call_target="f", backend_config={"a": {"b": "}"}}
  ROOT w = (s32[], f32[4]) while(k), condition=%body.1, body=%body.1
}
"""
    made, _ = hlo.parse(text.splitlines())
    assert (made.odd, made.unknown) == (0, 1)  # %q is nowhere
    ops = {op.key: op for op in made.root.walk()}
    assert ops["c"].place == "/x y.py:7"
    assert [value.name for value in ops["w"].operands] == ["k", "body.1", "body.1"]
    assert [value.name for value in ops["t"].operands] == ["g", "q", "g"]
    assert ops["k"].operands[0].name == "c" and 'custom_call_target="f"' in ops["k"].text


def test_a_jaxpr() -> None:
    made = jaxpr.parse((DUMPS / "jax_000002_f.jaxpr.txt").read_text())
    assert made.odd == 0
    names = [op.name for op in made.root.walk()]
    assert names[:2] == ["parameter", "parameter"] and names[-2:] == ["output", "jaxpr"]
    assert {"dot_general", "reduce_sum", "tanh", "mul"} <= {*names}
    inner = (
        "{ lambda ; a:f32[3]. let\n    b:f32[] c:f32[3] = scan[\n      jaxpr={ lambda ; d:f32[]. "
    )
    made = jaxpr.parse(inner + "let e:f32[] = sin d in (e,) }\n    ] 0.0:f32[] a\n  in (b, c) }\n")
    scan = next(op for op in made.root.walk() if op.name == "scan")
    assert made.odd == 0 and scan.type == "f32[], f32[3]" and len(scan.operands) == 1


def test_names_of_files() -> None:
    assert is_dump("module_0001.jit_f.0003.pipeline.after_pass.before_next.txt")
    assert is_dump("module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt")
    assert is_dump("module_0001.jit_f.ptx")
    assert not is_dump("module_0001.jit_f.debug_options")
    assert not is_dump("module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt")
    assert not is_dump("a.txt")


PIECES = st.sampled_from(
    ["%a = ", "ROOT b = ", "f32[2]{0} ", "(f32[], s32[]) ", "add(", "%a", ", ", ")", "\n", "}", "{",
     "ENTRY %m () -> f32[] {\n", "%c (x: f32[]) -> f32[] {\n", "to_apply=%c", "calls={%a,%c}", '"',
     "metadata={", 'source_file="a" ', "stack_frame_id=1", "FileNames\n", '1 "a"\n',
     "StackFrames\n", "HloModule m\n", "1 {file_location_id=1 parent_frame_id=1}\n", "/*", "*/",
     "constant(", "\\"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60))
def test_no_module_raises(pieces: list[str]) -> None:
    text = "".join(pieces)
    made, _ = hlo.parse(("HloModule m\n" + text).splitlines())
    assert sum(1 for _ in made.root.walk()) == made.ops + 1
    jaxpr.parse("{ lambda ; a:f32[]. let\n" + text)


@pytest.mark.parametrize(
    "line",
    ["(" * 100_000, "%a = f32[] add(" * 9_000, "%a = (" * 20_000, "ENTRY a {" * 9_000],
    ids=["brackets", "instructions", "types", "computations"],
)
def test_length_is_bounded(line: str) -> None:
    hlo.parse(["ENTRY m {", line, "}"])
    jaxpr.parse("{ lambda ; a:f32[]. let\n" + line)
