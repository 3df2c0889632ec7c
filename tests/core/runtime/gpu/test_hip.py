"""AMD devices over a driver that does nothing before somebody waits, and their code objects."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, DeviceError, DriverError, RunError
from core.launch import run
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.gpu.driver import Limits
from core.runtime.hip import api, hiprtc
from core.runtime.hip.device import code_object, target_for
from core.target import targets
from core.tensor import Tensor
from core.toolchain import amd_link
from tests.core.runtime.asts import add
from tests.core.runtime.gpu.fake_cuda import CUresult, FakeCuda, FaultError
from tests.core.runtime.gpu.fake_hip import FakeHip
from tests.core.runtime.gpu.grids import check_grids

N = 12
linked = pytest.mark.skipif(amd_link.find_linker() is None, reason="no lld on this machine")


@pytest.fixture
def amd(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHip]:
    fake = FakeHip()
    monkeypatch.setitem(sys.modules, api.BINDINGS.module, fake)
    monkeypatch.setattr(Device, "_open", {})
    forget = (api.api.cache_clear, run._kept.cache_clear)
    for clear in forget:
        clear()
    yield fake
    for clear in forget:
        clear()


def filled(device: str, values: np.ndarray) -> Buffer:
    made = Buffer(device, values.size, dtypes.float32).allocate()
    return made.copyin(values.astype(np.float32).view(np.uint8).data)


def limits(arch: str) -> Limits:
    return Limits("A GPU", arch, "HIP 7.0", 1, 1, 64, 1024, (1, 1, 1), (1, 1, 1), 1)


def test_the_target_is_that_of_the_gpu(amd: FakeHip) -> None:
    device = Device["AMD"]
    assert device.target == targets["gfx942"]


def test_bytes_go_there_and_back_and_to_another(amd: FakeHip) -> None:
    values = np.arange(N, dtype=np.float32)
    far = Buffer("AMD:1", N, dtypes.float32).allocate()
    far.copy_from(filled("AMD", values))
    assert (far.as_array() == values).all()
    assert amd.cuda.log.count("peer 0 -> 1") == 1


@linked
def test_a_kernel_runs(amd: FakeHip) -> None:
    def ones(fake: FakeCuda, values: list[int]) -> None:
        found = np.frombuffer(bytes(fake.bytes_at(values[1], 4 * N)), np.float32) + 1
        fake.bytes_at(values[0], 4 * N)[:] = found.astype(np.float32).tobytes()

    y = Tensor(np.arange(N, dtype=np.float32)).to("AMD") + 1
    amd.cuda.kernels = type("All", (dict,), {"__missing__": lambda *_: ones})()
    assert (y.numpy() == np.arange(N) + 1).all()


@linked
def test_a_grid_of_variables_is_that_of_the_values(amd: FakeHip) -> None:
    amd.cuda.kernels = type("None", (dict,), {"__missing__": lambda *_: lambda *_: None})()
    check_grids("AMD", "gfx1100", amd.cuda)


def test_a_fault_says_so(amd: FakeHip) -> None:
    def wrong() -> None:
        raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

    made = filled("AMD", np.ones(N))
    amd.cuda.streams[0].waiting.append(wrong)
    with pytest.raises(DriverError, match=r"HIP: illegal address \(hipErrorIllegalAddress"):
        made.as_array()
    with pytest.raises(RunError, match="AMD is lost"):
        made.as_array()


def test_no_memory_left(amd: FakeHip) -> None:
    with pytest.raises(RunError, match="AMD has no 1073741824 bytes left"):
        Device["AMD"].allocator.alloc(1 << 30)


class TestWhatIsMissing:
    def test_the_package(self, amd: FakeHip, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, api.BINDINGS.module, None)
        with pytest.raises(DeviceError, match="hip-python is not installed"):
            Device["AMD"]

    def test_a_gpu(self, amd: FakeHip) -> None:
        amd.cuda.initialised = CUresult.CUDA_ERROR_NO_DEVICE
        with pytest.raises(DeviceError, match="no device") as found:
            Device["AMD"]
        assert "render and video" in found.value.hint

    def test_the_driver(self, amd: FakeHip, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(flags: int) -> None:
            raise RuntimeError("libamdhip64.so: cannot open shared object file")

        monkeypatch.setattr(amd, "hipInit", missing, raising=False)
        with pytest.raises(DeviceError, match="AMD's driver is not installed"):
            Device["AMD"]

    def test_a_linker_and_hiprtc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(amd_link, "find_linker", lambda: None)
        monkeypatch.setattr(hiprtc, "present", lambda: False)
        with pytest.raises(CompileError, match="no linker") as found:
            code_object(compile_kernel(add(), targets["gfx942"]))
        assert "ROCm" in found.value.hint


@pytest.mark.parametrize(
    ("arch", "processor"), [("gfx1100", "gfx1100"), ("gfx1101", "gfx1101"), ("gfx1200", "gfx1200")]
)
def test_code_for_relatives_of_a_target(arch: str, processor: str) -> None:
    assert target_for(limits(arch)).processor == processor


@pytest.mark.parametrize("arch", ["gfx906", "gfx90a", "gfx1030"])
def test_no_code_for_others(arch: str) -> None:
    with pytest.raises(DeviceError, match=f"is a {arch}, for which no code is made"):
        target_for(limits(arch))


@linked
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201", "gfx942", "gfx950"])
def test_code_objects_are_linked(arch: str) -> None:
    program = compile_kernel(add(), targets[arch])
    linker = amd_link.find_linker()
    assert linker is not None
    found = amd_link.code_object(program.source.text, program.name, program.target, linker)
    assert found[:4] == b"\x7fELF"
    assert int.from_bytes(found[16:18], "little") == 3  # ET_DYN
    assert program.name.encode() + b".kd" in found


def test_a_linker_that_fails_is_quoted(tmp_path: Path) -> None:
    linker = tmp_path / "ld.lld"
    linker.write_text("#!/bin/sh\necho the linker says no >&2\nexit 1\n")
    linker.chmod(0o755)
    program = compile_kernel(add(), targets["gfx1100"])
    with pytest.raises(CompileError, match="the linker says no"):
        amd_link.code_object(program.source.text, program.name, program.target, linker)


class FakeRtc:
    """hiprtc: "compiles" to the text itself."""

    def __init__(self, log: str = "") -> None:
        self.log = log

    def hiprtcVersion(self) -> tuple[int, int, int]:
        return 0, 9, 0

    def hiprtcGetErrorString(self, code: int) -> bytes:
        return b"compilation"

    def hiprtcCreateProgram(self, text: bytes, *_: Any) -> tuple[int, Any]:
        return 0, SimpleNamespace(text=text)

    def hiprtcCompileProgram(self, made: Any, count: int, options: list[bytes]) -> tuple[int]:
        assert options[0].startswith(b"--offload-arch=gfx")
        return (6 if self.log else 0,)

    def hiprtcGetProgramLogSize(self, made: Any) -> tuple[int, int]:
        return 0, len(self.log)

    def hiprtcGetProgramLog(self, made: Any, out: bytearray) -> tuple[int]:
        out[:] = self.log.encode()
        return (0,)

    def hiprtcGetCodeSize(self, made: Any) -> tuple[int, int]:
        return 0, len(made.text)

    def hiprtcGetCode(self, made: Any, out: bytearray) -> tuple[int]:
        out[:] = made.text
        return (0,)


class TestHiprtc:
    @pytest.fixture(autouse=True)
    def forgotten(self) -> Iterator[None]:
        hiprtc._api.cache_clear()
        yield
        hiprtc._api.cache_clear()

    def test_compiles_the_hip_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, hiprtc.MODULE, FakeRtc())
        monkeypatch.setattr(amd_link, "find_linker", lambda: None)
        made = code_object(compile_kernel(add(), targets["gfx942"]))
        assert re.search(rb"__global__ void .*\(", made)

    def test_quotes_its_log(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fake = FakeRtc("line 3: error: no such type")
        monkeypatch.setitem(sys.modules, hiprtc.MODULE, fake)
        with pytest.raises(CompileError, match="line 3: error: no such type"):
            hiprtc.compiled(compile_kernel(add(), targets["gfx942"]))

    def test_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, hiprtc.MODULE, None)
        assert not hiprtc.present()
