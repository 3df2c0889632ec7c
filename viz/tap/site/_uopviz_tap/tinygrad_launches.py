"""tinygrad's launches and memory: the events of its profiler, told when the process ends.

The profiler is switched on when the first pass begins, not before `tinygrad.device` has been
imported: it would write a file of its own then. Where the program has switched it on itself, its
events are read after it has done its own work with them.
"""

from __future__ import annotations

import atexit
import sys
from typing import Any

from _uopviz_tap.stream import Stream

_HOST = ("TINY", "USER", "GC")
"""What events of the compiler and of the program name as their device."""
_MOST = 1_000_000
"""Events that are told."""


class Launches:
    """Reads what the profiler of `tinygrad.helpers` has collected."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._generation = -1
        self._seen = 0
        self._diffs: dict[str, float] = {}
        self._named: dict[bytes, str] = {}
        self._counts: dict[str, int] = {}

    def kernel(self, key: bytes, name: str) -> str:
        """The name of a kernel whose launches are told by this key: kernels of one name, which
        newer versions have, are told apart as older ones did it."""
        known = self._named.get(key)
        if known is None:
            count = self._counts[name] = self._counts.get(name, -1) + 1
            known = self._named[key] = f"{name}n{count}" if count else name
        return known

    def begin(self) -> None:
        """Switches the profiler on, once in each process, as soon as that is possible."""
        if self._generation == self._stream.generation:
            return
        device = sys.modules.get("tinygrad.device")
        helpers = sys.modules.get("tinygrad.helpers")
        if device is None or helpers is None:
            return
        if getattr(device.__spec__, "_initializing", False):
            return
        is_first = self._generation < 0
        self._generation = self._stream.generation
        self._seen = len(helpers.cpu_events)
        if not is_first:
            return
        if helpers.PROFILE.value:
            self._stream.at_end(self._tell_safely)
        else:
            if not hasattr(device.Buffer, "trace_num"):  # 0.11: buffers of before have no number
                device.Buffer._prof_num = -1
            helpers.PROFILE.value = 1
            atexit.register(self._end)  # before tinygrad closes its devices

    def _end(self) -> None:
        try:
            device = sys.modules["tinygrad.device"]
            opened = [device.Device[name] for name in device.Device._opened_devices]
            for one in opened:
                one.synchronize()
            for one in opened:
                one._at_profile_finalize()
        except Exception as error:
            self._stream.problem("launches could not be read", repr(error))
        else:
            self._tell_safely()

    def _tell_safely(self) -> None:
        try:
            self._tell()
        except Exception as error:
            self._stream.problem("launches could not be read", repr(error))

    def _tell(self) -> None:
        helpers, device = sys.modules["tinygrad.helpers"], sys.modules["tinygrad.device"]
        events = [*helpers.cpu_events[self._seen :], *device.Compiled.profile_events]
        for event in events:  # how far the clock of a device is from this one's
            if type(event).__name__ == "ProfileDeviceEvent":
                ahead = getattr(event, "tdiff", getattr(event, "comp_tdiff", 0))
                self._diffs[event.device] = float(ahead or 0)
        for event in events[:_MOST]:
            kind = type(event).__name__
            if kind == "ProfileRangeEvent" and event.en is not None:
                if event.device not in _HOST:
                    self._launch(event, event.device, event.st, event.en)
            elif kind == "ProfileGraphEvent":
                for entry in event.ents:
                    times = event.sigs[entry.st_id], event.sigs[entry.en_id]
                    self._launch(entry, entry.device, *times)
        self._memory(device.Buffer.profile_events[:_MOST])
        if len(events) > _MOST:
            self._stream.problem(f"{len(events) - _MOST:,} launches and copies are left out")

    def _launch(self, event: Any, device: str, begun: Any, ended: Any) -> None:
        ahead = self._diffs.get(device, 0.0)
        at, ns = self._stream.since(float(begun) + ahead), round(float(ended - begun) * 1000)
        said = str(getattr(event.name, "display_name", event.name))
        name = self._named.get(getattr(event, "profile_key", None) or b"", said)
        self._stream.put("launch", name, device, at, max(0, ns))

    def _memory(self, events: list[Any]) -> None:
        """What was allocated on each device, from its allocations and what was given back."""
        held: dict[Any, tuple[str, int]] = {}
        total: dict[str, int] = {}
        for event in events:
            at = self._stream.since(float(event.ts))
            if event.name == "alloc":
                said = event.arg.get("dtype")
                size = event.arg.get("nbytes") or event.arg["sz"] * getattr(said, "itemsize", 1)
                held[event.key] = event.device, size
                total[event.device] = total.get(event.device, 0) + size
                row = event.device, total[event.device], at, event.key + 1, size
            elif event.name == "free" and event.key in held:
                name, size = held.pop(event.key)
                total[name] -= size
                row = name, total[name], at, event.key + 1, 0
            else:
                continue
            self._stream.put("memory", *row)
