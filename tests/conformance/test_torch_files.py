"""Files that PyTorch writes, read without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core import Tensor
from core.errors import FormatError
from core.nn.state import torch_load


def test_states_of_models(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    x = torch.arange(24.0).reshape(2, 3, 4)
    others = {
        "transposed": x.mT, "part": x[:, 1:, ::2], "repeated": x[0, 0].expand(5, 4),
        "bfloat16": x.bfloat16(), "half": x.half(), "bool": x > 3, "int8": x.to(torch.int8),
        "uint8": x.to(torch.uint8), "float8": x.to(torch.float8_e4m3fn), "number": torch.tensor(5),
        "nothing": torch.zeros(0, 3), "parameter": torch.nn.Parameter(x), "one": x[:1, :, :1],
    }  # fmt: skip
    torch.save(model.state_dict(), tmp_path / "state.pt")
    torch.save({"epoch": 3, "list": [x], "model": others}, tmp_path / "more.pt")
    wanted = {**model.state_dict(), "list.0": x, **{f"model.{k}": v for k, v in others.items()}}
    found = torch_load(tmp_path / "state.pt") | torch_load(tmp_path / "more.pt")
    assert found.keys() == wanted.keys()
    for name, want in wanted.items():
        have = found[name]
        assert have.shape == tuple(want.shape), name
        np.testing.assert_array_equal(have.float().numpy(), want.detach().float().numpy())
    assert torch_load(Tensor(tmp_path / "state.pt"))["0.weight"].device.startswith("DISK")


def test_whole_models_and_old_files_are_refused(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 3), tmp_path / "model.pt")
    with pytest.raises(FormatError, match=r"calls torch\.nn\.modules\.linear\.Linear"):
        torch_load(tmp_path / "model.pt")
    torch.save({}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(FormatError, match="not a zip archive"):
        torch_load(tmp_path / "old.pt")
