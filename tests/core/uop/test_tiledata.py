"""What is said of a kernel's tiles travels as data, and nothing else is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import FormatError
from core.target import targets
from core.tensor_cores import fragment
from core.tile import kernels
from core.uop.data.args import decode_arg, encode_arg
from core.uop.data.serial import from_data, to_data
from core.uop.kernelinfo import KernelInfo, TileInfo

BASE = fragment("n1 n2 m0 m1 m2", "n0 m3")
TILE = TileInfo("RT", 2, 16, 64, 4, "acc", BASE)
SHARED = TileInfo("ST", 0, 64, 32, 4, swizzled=True, stages=2)


@pytest.mark.parametrize("target", [name for name in targets if targets[name].has_local])
@pytest.mark.parametrize("build", [kernels.matmul, kernels.layer_norm], ids=["product", "norm"])
def test_tiles_of_kernels_come_back(target: str, build: Any) -> None:
    tile = (64, 64, 32) if targets[target].shared_bytes > 1 << 15 else (64, 16, 16)
    kernel = build is kernels.matmul
    ast = build(64, 64, 64, target, tile=tile) if kernel else build(64, 64, target)
    assert ast.arg.tiles
    assert from_data(json.loads(json.dumps(to_data([ast])))) == [ast]


def test_kernels_without_tiles_say_nothing_of_them() -> None:
    assert encode_arg(KernelInfo("k", ())) == {"kernelinfo": {"name": "k", "opts": []}}
    assert decode_arg({"kernelinfo": {"name": "k", "opts": []}}) == KernelInfo("k", ())
    assert "tiles" not in repr(KernelInfo("k", (), (TILE,)))


def data(**changed: Any) -> Any:
    made: Any = json.loads(json.dumps(encode_arg(KernelInfo("k", None, (TILE, SHARED)))))
    made["kernelinfo"]["tiles"][0].update(changed)
    return made


def test_what_was_written_is_read() -> None:
    assert decode_arg(data()) == KernelInfo("k", None, (TILE, SHARED))


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "GL"},
        {"kind": 3},
        {"kind": "ST"},  # with a layout
        {"number": -1},
        {"number": True},
        {"shape": [16]},
        {"shape": [16, 0]},
        {"shape": [16, 1 << 40]},
        {"shape": [24, 64]},  # no multiple of the base
        {"warps": 0},
        {"stages": "2"},
        {"layout": "x" * 1000},
        {"swizzled": 1},
        {"base": None},
        {"base": ["n1 n2 m0 m1 m2"]},
        {"base": ["k1 k2 m0 m1 m2", "k0 m3"]},
        {"base": ["n1 n2 m0 m1 m3", "n0 m4"]},  # a bit is missing
        {"base": ["- " * 4000, "m0"]},
        {"base": ["m0", " ".join(f"n{i}" for i in range(9))]},
        {"base": ["m0 m0", "n0"]},
        {"more": 1},
    ],
    ids=lambda changed: json.dumps(changed)[:40],
)
def test_anything_else_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(FormatError):
        decode_arg(data(**changed))


def test_too_many_tiles_are_refused() -> None:
    made = data()
    made["kernelinfo"]["tiles"] *= 1000
    with pytest.raises(FormatError):
        decode_arg(made)
