"""Runs a program whose nodes also tell what tinygrad itself says of their shapes and bounds: what
the dialect works out is compared with that."""

import contextlib
import json
import runpy
import sys
from types import SimpleNamespace

import _uopviz_tap.of_tinygrad as tap
import tinygrad  # noqa: F401

tell = tap._Tap._tell_node


def tell_with_facts(self, u, number, sources):
    ops, silent = self._ops, self._ops.Context(TRACK_MATCH_STATS=0)
    said = {}
    with silent, contextlib.suppress(Exception):
        shape = u._shape if hasattr(ops.UOp, "_shape") else u.st and u.st.shape
        if shape is not None and all(type(n) is int for n in shape):
            said["shape"] = "x".join(map(str, shape)) or "()"
    with silent, contextlib.suppress(Exception):
        low, high = u._min_max
        if all(type(n) in (int, bool) for n in (low, high)):
            said["lo"], said["hi"] = str(int(low)), str(int(high))
    lines = []
    stream, self._stream = self._stream, SimpleNamespace(line=lines.append)
    try:
        tell(self, u, number, sources)
    finally:
        self._stream = stream
    event = json.loads(lines[0])
    more = event[5] if len(event) > 5 else {}
    stream.put(*event[:5], {**more, **said})


tap._Tap._tell_node = tell_with_facts
runpy.run_path(sys.argv[1], run_name="__main__")
