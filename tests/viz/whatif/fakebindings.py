"""A stand-in for `cuda.bindings.driver`: memory of the host, and the emulator in place of a GPU.

Keeps the calls. A function named in `failing` returns an error.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx import front
from core.runtime.emulator.state import Checks, Launch


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


class FakeBindings:
    """The functions that a script calls."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.memory: dict[int, np.ndarray[Any, Any]] = {}
        self.values: list[int] = []
        self._functions: dict[str, Callable[..., tuple[Any, ...]]] = {
            "cuGetErrorString": self._error_string,
            "cuDeviceGet": self._device,
            "cuDevicePrimaryCtxRetain": self._retain,
            "cuModuleLoadData": self._load,
            "cuModuleGetFunction": self._function,
            "cuMemAlloc": self._alloc,
            "cuMemFree": self._free,
            "cuMemcpyHtoD": self._upload,
            "cuMemcpyDtoH": self._download,
            "cuLaunchKernel": self._launch,
        }

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def function(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name, arguments))
            if name == self.failing:
                return (CUresult.CUDA_ERROR_INVALID_VALUE,)
            does = self._functions.get(name)
            return (CUresult.CUDA_SUCCESS, *(does(*arguments) if does is not None else ()))

        return function

    def names(self) -> list[str]:
        """The functions that were called."""
        return [name for name, _ in self.calls]

    def count(self, name: str) -> int:
        """How many times one was."""
        return self.names().count(name)

    def _error_string(self, code: CUresult) -> tuple[bytes]:
        return (b"invalid argument",)

    def _device(self, number: int) -> tuple[int]:
        return (number,)

    def _retain(self, device: int) -> tuple[str]:
        return (f"context {device}",)

    def _load(self, code: bytes) -> tuple[str]:
        assert code.endswith(b"\0")
        return (code[:-1].decode(),)

    def _function(self, module: str, name: bytes) -> tuple[tuple[str, str]]:
        return ((module, name.decode()),)

    def _alloc(self, nbytes: int) -> tuple[int]:
        address = (1 << 32) + (len(self.memory) << 24)
        self.memory[address] = np.zeros(nbytes, np.uint8)
        return (address,)

    def _free(self, address: int) -> tuple[()]:
        del self.memory[address]
        return ()

    def _upload(self, target: int, host: int, nbytes: int) -> tuple[()]:
        ctypes.memmove(self.memory[target].ctypes.data, host, nbytes)
        return ()

    def _download(self, host: int, source: int, nbytes: int) -> tuple[()]:
        ctypes.memmove(host, self.memory[source].ctypes.data, nbytes)
        return ()

    def _launch(self, function: tuple[str, str], *rest: Any) -> tuple[()]:
        code = front.read(*function)
        grid, block, (_, _, parameters, _) = rest[:3], rest[3:6], rest[6:]
        pointers = (ctypes.c_void_p * len(code.parameters)).from_address(parameters)
        params = bytearray(max(p.offset + p.nbytes for p in code.parameters))
        for parameter, at in zip(code.parameters, pointers, strict=True):
            end = parameter.offset + parameter.nbytes
            params[parameter.offset : end] = ctypes.string_at(int(at or 0), parameter.nbytes)
            self.values.append(int.from_bytes(params[parameter.offset : end], "little"))
        regions = tuple(Region(f"{at:#x}", at, held) for at, held in self.memory.items())
        execute(prepare(code, Checks()), Launch(grid, block, bytes(params), regions))
        return ()
