"""`uopviz show` of a kernel written with tiles: what they are, who holds their elements, and bank
conflicts; of a trace and of exported files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import dtypes, tile
from core.tile import kernels
from core.uop.kernelinfo import KernelInfo
from tests.core.runtime.asts import add
from tests.viz.coredialect.runs import recorded
from tests.viz.test_cli import run
from tests.viz.test_json import SHAPES
from viz.share.html import export_html
from viz.views.store import Store

PRODUCT = """\
Tiles
  tile        shape  dtype    memory              layout            owners              conflicts  if plain
  ST 0  64 x 32 x 2  float16  shared              swizzled, 4 keys  work group                  0        24
  ST 1  32 x 64 x 2  float16  shared              swizzled, 8 keys  work group                  0       224
  RT 0      16 x 32  float16  registers, 4 warps  row               1 lane, 16 in each
  RT 1      32 x 64  float16  registers, 4 warps  col               1 lane, 64 in each
  RT 2      16 x 64  float32  registers, 4 warps  acc               1 lane, 32 in each

  number  steps"""  # noqa: E501


def shown(path: Path, name: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """What is printed of the only kernel whose name begins so."""
    code, out, _ = run(capsys, "show", path, "--kernel", name, *more)
    assert code == 0
    return out


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Store]:
    ast = kernels.matmul(64, 64, 64, "sm_80")
    store = recorded(tmp_path / "product.viz", ast, "sm_80")
    yield store
    store.close()


def test_the_tiles_of_a_product(
    product: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], dist: Path
) -> None:
    """Two loads of matrices would be in each other's way 12 times each, and eight 28 times."""
    wanted = shown(product.path, "matmul", capsys)
    assert wanted.startswith(PRODUCT)
    found = json.loads(shown(product.path, "matmul", capsys, "--json", "--whole"))
    assert not SHAPES.problems(found, "ShowGroup")
    (first,) = (t for t in found["tiles"] if (t["kind"], t["number"]) == ("ST", 0))
    assert (first["swizzle"], first["stages"], first["plain"], first["owners"]) == (4, 2, 24, None)
    made = tmp_path / "run.html"
    made.write_text(export_html(product).html)
    assert shown(made, "matmul", capsys).startswith(PRODUCT)


def test_vectors_plain_tiles_and_conflicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tile.Kernel("columns", target="sm_80") as ker:
        y, x = ker.gl(dtypes.float, (32,)), ker.gl(dtypes.float, (32, 32))
        held = ker.st(dtypes.float, (32, 32), swizzle=False)
        part = ker.rt(dtypes.float, (32, 32), "col")
        sums = ker.rv(dtypes.float, part)
        ker.warp.load(held, x)
        ker.warp.load(part, held)
        ker.warp.row_reduce(sums, part)
        ker.warp.store(y, sums)
    recorded(tmp_path / "t.viz", ker.ast, "sm_80").close()
    found = json.loads(shown(tmp_path / "t.viz", "columns", capsys, "--json", "--whole"))["tiles"]
    held, part, sums = found
    assert (held["swizzle"], held["conflicts"] > 0) == (1, True)
    assert held["conflicts"] == held["plain"]
    assert (part["layout"], part["owners"], part["registers"]) == ("col", 1, 32)
    assert (sums["kind"], sums["rows"], sums["columns"]) == ("RV", 32, 1)
    assert sums["registers"] * 32 == sums["rows"] * sums["owners"], "each lane has some of them"
    text = shown(tmp_path / "t.viz", "columns", capsys)
    assert re.search(r"ST 0 +32 x 32 +float32 +shared +as it is +work group", text)


@pytest.mark.parametrize("target", ["gfx942", "x86-64"])
def test_tiles_of_other_targets(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(tmp_path / "t.viz", kernels.copy(64, 64, target), target).close()
    assert "ST 0" in shown(tmp_path / "t.viz", "copy", capsys)


def test_a_kernel_without_tiles_has_no_such_section(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ast = add(577).replace(arg=KernelInfo("added"))
    recorded(tmp_path / "t.viz", ast, "sm_80").close()
    assert "Tiles" not in shown(tmp_path / "t.viz", "added", capsys)
    assert (
        json.loads(shown(tmp_path / "t.viz", "added", capsys, "--json", "--whole"))["tiles"] == []
    )
