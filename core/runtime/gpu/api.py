"""A vendor's driver API: functions by name, whose error codes become errors.

Every function gives a tuple, the code first; the bindings of both vendors are made so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from core.errors import DeviceError, DriverError
from core.runtime.gpu.driver import FULL


@dataclass(frozen=True)
class Codes:
    """What a vendor's error codes mean: `full`: no memory left; `lost`: the GPU can no longer be
    used in this process; `hints`: what to do, by the name of the code."""

    vendor: str
    describe: str
    full: str
    lost: frozenset[str]
    hints: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Bindings:
    """Where a vendor's API comes from: the module, the package that has it, the vendor, the library
    of their driver that it loads, the function to call first, and how to install both."""

    module: str
    package: str
    vendor: str
    library: str
    first: str
    install: str


def opened(bindings: Bindings, codes: Codes) -> Api:
    """The API, initialised. Raises DeviceError, in one sentence, for what is missing."""
    install = bindings.install
    try:
        module = import_module(bindings.module)
    except ImportError as error:
        raise DeviceError(
            f"the package {bindings.package} is not installed ({error})", hint=install
        ) from error
    found = Api(module, codes)
    try:
        found(bindings.first, 0)
    except DriverError as error:
        raise DeviceError(error.what, hint=error.hint or install) from error
    except RuntimeError as error:  # the bindings find no library
        raise DeviceError(
            f"{bindings.vendor}'s driver is not installed: there is no {bindings.library} on this "
            "machine",
            hint=install,
        ) from error
    return found


class Api:
    """The functions of a module of bindings."""

    def __init__(self, module: Any, codes: Codes) -> None:
        self.module, self._codes = module, codes

    def __call__(self, function: str, *arguments: Any) -> Any:
        """Calls `function`: nothing, its one result, or a tuple of several. Raises DriverError for
        a code that is not success."""
        code, *results = getattr(self.module, function)(*arguments)
        if int(code) != 0:
            raise self.error(code, function)
        return results[0] if len(results) == 1 else tuple(results) if results else None

    def error(self, code: Any, function: str) -> DriverError:
        """What the driver says about a code."""
        codes = self._codes
        name = getattr(code, "name", "") or f"error {int(code)}"
        said = _text(getattr(self.module, codes.describe)(code)) or "unknown to this driver"
        hint = codes.hints.get(name, "")
        error = DriverError(f"{codes.vendor}: {said} ({name} in {function})", hint=hint)
        error.code = FULL if name == codes.full else name
        error.lost = name in codes.lost
        return error


def _text(found: Any) -> str:
    """The text in the answer of a function that describes a code."""
    said = found[-1] if isinstance(found, tuple) else found
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said or "")
