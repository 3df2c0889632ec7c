"""LLVM's passes, in a log or in Triton's dumps, and what passes say that they did not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.importers.test_import import imported, is_exact
from viz.cli import main
from viz.importers.mlir import llvm
from viz.importers.mlir.remarks import remarks_of
from viz.importers.snapshot import Op

MODULE = """; ModuleID = 'm'
source_filename = "m"
target triple = "nvptx64"
@g = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.tid()

define ptx_kernel void @add(ptr addrspace(1) %0, i32 %n) #0 !dbg !6 {
  %2 = call i32 @llvm.tid(), !dbg !12
  %3 = mul i32 %2, 1, !dbg !12
  br label %loop
loop:                                             ; preds = %loop, %1
  %i = phi i32 [ 0, %1 ], [ %j, %loop ]
  %j = add nsw i32 %i, %3, !dbg !13
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %end, !llvm.loop !1
end:
  store i32 %j, ptr addrspace(1) %0, align 4
  ret void
}
attributes #0 = { nounwind }
!6 = distinct !DISubprogram(name: "add")
!7 = !DIFile(filename: "a.py", directory: "/app")
!12 = !DILocation(line: 5, column: 24, scope: !6)
!13 = !DILocation(line: 6, column: 24, scope: !6)
"""
AFTER = MODULE.replace("  %3 = mul i32 %2, 1, !dbg !12\n", "").replace("%i, %3", "%i, %2")
TTIR = """module {
  tt.func public @add(%x: !tt.ptr<f32>) {
    %0 = tt.load %x : !tt.ptr<f32>
    tt.store %x, %0 : !tt.ptr<f32>
    tt.return
  }
}
"""
REMARKS = """--- !Missed
Pass:            cse
Name:            NotCommon
DebugLoc:        { File: '/app/a.py', Line: 4, Column: 3 }
Function:        f
Args:
  - String:          'the loads '
  - String:          'may differ'
  - Reason:          'it''s volatile'
...
--- !Passed
Pass:            cse
Name:            Common
Function:        f
...
--- !Failure
Pass:            Unroll
Function:        f
Args:
  - Remark:          "the trip count is \\"unknown\\""
...
"""


def functions(root: Op) -> dict[str, Op]:
    """Instructions by what they are called, else by opcode."""
    return {op.key or op.name: op for op in root.walk()}


def test_functions_and_instructions() -> None:
    made, _ = llvm.parse(MODULE.splitlines())
    assert (made.odd, made.unknown) == (0, 0)
    ops = functions(made.root)
    assert ops["llvm.mul"].place == "/app/a.py:5" and ops["llvm.mul"].type == "i32"
    assert [v.name for v in ops["%c"].operands] == ["%j", "%n"]
    assert [v.name for v in ops["%i"].operands] == ["%j"]
    assert [block.label for block in ops["llvm.func"].blocks] == ["", "loop", "end"]
    assert "!llvm.loop" not in str([op.text for op in ops.values()])


def test_a_log_of_llvm(tmp_path: Path) -> None:
    log = f"*** IR Dump At Start ***\n{MODULE}; *** IR Dump After InstCombinePass on [module] ***\n"
    log += f"{AFTER}*** IR Dump After GVNPass on add omitted because no change ***\n"
    log += (
        "# *** IR Dump After Finalize ISel (finalize-isel) ***:\n# Machine code for function add\n"
    )
    (tmp_path / "a.log").write_text(log)
    store = imported(tmp_path / "a.viz", tmp_path / "a.log")
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert [(row["name"], row["steps"]) for row in rows] == [("InstCombinePass", 1)]
    assert is_exact(store.files[0])
    texts = store.pass_texts(rows[0]["id"])
    assert texts is not None and texts["after"]["kind"] == "llvm"
    assert "mul" in texts["before"]["text"] and "mul" not in texts["after"]["text"]
    store.close()


def test_a_folder_of_triton(tmp_path: Path) -> None:
    folder = tmp_path / "dump" / "ABC"
    folder.mkdir(parents=True)
    (folder / "add.ttir").write_text(TTIR)
    (folder / "add.ttgir").write_text(TTIR.replace("tt.load", "ttg.async_copy"))
    (folder / "add.llir").write_text(MODULE)
    (folder / "add.ptx").write_text(".visible .entry add() {\nret;\n}\n")
    (folder / "add.cubin").write_bytes(b"\x7fELF")
    store = imported(tmp_path / "a.viz", tmp_path / "dump")
    rows = store.tree()["rows"]
    assert [row["name"] for row in rows] == ["add", "to TritonGPU IR", "to LLVM IR"]
    kernel = store.kernel(rows[0]["id"])
    assert kernel is not None and [one["kind"] for one in kernel["artifacts"]] == ["ptx"]
    assert is_exact(store.files[0])
    store.close()


def test_the_text_of_a_kernel_in_a_log(tmp_path: Path) -> None:
    log = "// -----// IR Dump Before X (x) //----- //\n" + TTIR
    log += "// -----// NVPTX Dump //----- //\n.visible .entry add(\n)\n{\nret;\n}\n"
    (tmp_path / "a.log").write_text(log)
    store = imported(tmp_path / "a.viz", tmp_path / "a.log")
    row = next(row for row in store.tree()["rows"] if row["label"] == "kernel")
    kernel = store.kernel(row["id"])
    assert row["name"] == "add" and kernel is not None
    assert kernel["artifacts"][0]["text"].startswith(".visible")
    store.close()


def test_remarks_are_declines_with_their_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "// -----// IR Dump {} CSEPass (cse) //----- //\n"
    text = """module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32 loc("a.py":4:3)
    return %0 : i32
  }
}
"""
    (tmp_path / "a.log").write_text(head.format("Before") + text + head.format("After") + text)
    (tmp_path / "a.yaml").write_text(REMARKS)
    store = imported(tmp_path / "a.viz", tmp_path / "a.yaml", tmp_path / "a.log")
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert [(row["name"], row["declines"]) for row in rows] == [
        ("cse", 1),
        ("remarks of Unroll", 1),
    ]
    rules = {rule["name"]: rule["doc"] for rule in store.rules()}
    assert rules["cse: NotCommon"] == "the loads may differ it's volatile"
    assert rules["Unroll"] == 'the trip count is "unknown"'
    file = store.files[0]
    op = file.nodes.field("op")
    declined = [
        file.text(int(op[node]))
        for arrays in file.event_blocks.all()
        for _, node in arrays.decline.tolist()
    ]
    assert declined == ["arith.addi", "func.func"]
    store.close()
    assert main(["import", str(tmp_path / "a.yaml")]) == 2
    assert "give the log of the same run as well" in capsys.readouterr().err


PIECES = st.sampled_from(
    ["define void @f(i32 %a) {\n", "}\n", "%b = ", "add i32 ", "%a", ", ", "%1", "x:\n",
     "label %x", "phi ", "[", "]", "\n", "!dbg !3", ", !llvm.loop !3",
     "!3 = !DILocation(line: 4)\n", "@g = global", '"', "call void @f()", "; c",
     '!1 = !DIFile(filename: "a", directory: "b")\n',
     "declare ", "\\"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60))
def test_no_text_raises(pieces: list[str]) -> None:
    text = "".join(pieces)
    made, _ = llvm.parse(("define void @g(i32 %a) {\n" + text).splitlines())
    assert sum(1 for _ in made.root.walk()) == made.ops + 1
    assert len([*remarks_of(("--- !Missed\n" + text).splitlines())]) == 1
