"""Variants for the device of this machine, where that has less than its target."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from core.runtime.device import Device
from core.target import targets
from viz.whatif.results.trying import device_of, own_target


def test_a_device_with_smaller_images_runs_what_is_compiled_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = targets["opencl"]
    small = replace(whole, image_side=8192, images_written=128)
    opened: dict[str, Any] = {"OPENCL": SimpleNamespace(target=small)}
    monkeypatch.setattr(Device, "_open", opened)
    assert device_of(whole) is None
    assert own_target(whole) is small
    assert device_of(own_target(whole)) == "OPENCL"
    assert own_target(targets["opencl-f32"]) is targets["opencl-f32"], "another kind of device"
    assert own_target(targets["sm_90"]) is targets["sm_90"]
    opened["OPENCL"] = SimpleNamespace(target=replace(whole, images_written=128))
    assert own_target(whole) is whole, "it has more"
