"""The order in which one GPU does its work, and the errors of work that fails.

Kernels run after they were asked for, so a driver reports a fault at a later call: the error names
the kernels that can have caused it.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from core.errors import DriverError, RunError
from core.runtime.gpu.driver import Driver

_REMEMBERED: Final = 16


class Queue:
    """One GPU's main stream. `name` is the device's name."""

    def __init__(self, name: str, driver: Driver) -> None:
        self.name, self.driver = name, driver
        self._lost = ""
        self._running: deque[str] = deque(maxlen=_REMEMBERED)
        self._more = 0
        driver.enter()
        self.stream: Any = driver.new_stream()

    def open(self) -> Driver:
        """The driver, current for this thread. Raises RunError where the GPU was lost."""
        if self._lost:
            raise RunError(
                f"{self.name} is lost to this process since {self._lost}",
                hint="start the program again; its other devices still work",
            )
        self.driver.enter()
        return self.driver

    def free(
        self,
        give_back: Callable[[Driver], None],
        finalizing: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        """What an object does with the driver when it goes: nothing where it was never made, where
        the GPU is lost, or at exit, when the modules' names are gone and the driver frees all."""
        if finalizing():
            return
        try:
            give_back(self.open())
        except (RunError, AttributeError):
            return

    def launched(self, kernel: str) -> None:
        """Remembers a kernel that has not been waited for."""
        if len(self._running) == _REMEMBERED:
            self._more += 1
        self._running.append(kernel)

    def done(self) -> None:
        """Everything asked for so far is known to be done, and done right."""
        self._running.clear()
        self._more = 0

    def wait(self) -> None:
        """Returns when everything is done. Raises DriverError for what went wrong since the last
        time."""
        driver = self.open()
        try:
            driver.synchronize(self.stream)
        except DriverError as error:
            raise self.explained(error, "waiting for it") from None
        self.done()

    def explained(self, error: DriverError, doing: str) -> DriverError:
        """The error with what was being done, and with the kernels that may have caused it."""
        if not error.lost:
            error.locate(f"{doing}, on {self.name}")
            return error
        running = list(self._running)
        before = f" and {self._more} before" if self._more else ""
        if running:
            kernels = ", ".join(running) + before
            self._lost = (
                f"a fault of kernel {kernels}"
                if len(running) == 1
                else (f"a fault of one of the kernels {kernels}")
            )
        else:
            self._lost = f"a fault in {doing}"
        error.hint = error.hint or (
            "DEBUG=1 waits for each kernel and so names the one; the emulator finds the line: "
            "run with the emulated device of the same name, such as DEV=PTX:EMU"
        )
        error.locate(f"{self._lost}, on {self.name}")
        return error
