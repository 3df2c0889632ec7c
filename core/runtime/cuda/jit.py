"""PTX to machine code by the driver's own compiler, kept on disk for the next time.

What is kept is named by the text, the architecture and the driver's version, so a new driver makes
it anew.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from core.errors import CompileError, DriverError
from core.runtime.gpu.api import Api
from core.toolchain.diskcache import DiskCache

_LOG: Final = 1 << 14
"""Bytes of the compiler's log that an error shows at most."""
cubins: Final = DiskCache("cubin", 256 << 20)


def machine_code(api: Api, ptx: str, name: str, arch: str, version: str) -> bytes:
    """The cubin of PTX text for the current GPU. Raises CompileError with the compiler's log."""
    return cubins.get((ptx, arch, version), lambda: _linked(api, ptx, name))


def _linked(api: Api, ptx: str, name: str) -> bytes:
    option = api.module.CUjit_option
    errors = bytearray(_LOG)
    options: dict[Any, Any] = {
        option.CU_JIT_ERROR_LOG_BUFFER: errors,
        option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG,
    }
    state = api("cuLinkCreate", len(options), list(options), list(options.values()))
    try:
        text = ptx.encode() + b"\0"
        kind = api.module.CUjitInputType.CU_JIT_INPUT_PTX
        api("cuLinkAddData", state, kind, text, len(text), f"{name}.ptx".encode(), 0, [], [])
        address, size = api("cuLinkComplete", state)
        return ctypes.string_at(int(address), int(size))
    except DriverError as error:
        if error.lost:
            raise
        log = errors.split(b"\0", 1)[0].decode(errors="replace").strip()
        raise CompileError(
            f"the driver's compiler rejects kernel {name}: {error.what}", log, error.hint
        ) from error
    finally:
        api("cuLinkDestroy", state)
