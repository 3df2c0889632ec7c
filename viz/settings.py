"""The environment variables of viz, beside VIZ and VIZ_TRACE, which core has.

Loads little: the command line needs some of them before it knows what it will do.
"""

from __future__ import annotations

import os
from typing import Final

from core.helpers import Flag, Text
from core.misspelled import say_misspelled

VIZ_CACHE_MB: Final = Flag(
    "VIZ_CACHE_MB", 2000, "megabytes of old traces that are kept in the cache", high=1 << 30
)
VIZ_CAPTURE: Final = Text(
    "VIZ_CAPTURE",
    "",
    "kernels and captured steps whose values are kept in the trace: names, as in E_*,r_32*,"
    "TinyJit*; * is all; E_4@9: those of launch 9",
)
VIZ_CAPTURE_MB: Final = Flag(
    "VIZ_CAPTURE_MB", 240, "megabytes of values that a process keeps in its trace", high=1 << 20
)
UOPVIZ_STAY: Final = Flag(
    "UOPVIZ_STAY",
    600,
    "seconds that the page of a recorded program stays once the program has ended and nobody looks "
    "at it; 0: it ends with the program",
    high=1 << 30,
)
UOPVIZ_PORT: Final = Text("UOPVIZ_PORT", "", "the port that the page is served on, if it is free")
UOPVIZ_DIALECTS: Final = Text(
    "UOPVIZ_DIALECTS",
    "",
    "adapters of other compilers' traces: FILE.py or MODULE:NAME, with commas between them",
)
UOPVIZ_PYTHON: Final = Text(
    "UOPVIZ_PYTHON",
    "",
    "the Python in which graphs of other compilers are executed to check their passes: the one "
    "that has PyTorch; by default the first on the PATH",
)
UOPVIZ_EDITOR: Final = Text(
    "UOPVIZ_EDITOR", "", "the editor for links to files, such as 'code -g {file}:{line}'"
)
UOPVIZ_TRACEBACK: Final = Flag(
    "UOPVIZ_TRACEBACK",
    0,
    "1 prints the traceback where the command `uopviz` has a defect",
)
UOPVIZ_RUN: Final = "UOPVIZ_RUN"
"""Set by a recording process for those that it starts: "<run>:<path of the main trace>"."""
PREFIXES: Final = ("VIZ_", "UOPVIZ_")
_KNOWN: Final = {
    UOPVIZ_RUN,
    "UOPVIZ_TOKEN",
    "UOPVIZ_BROWSER",
    "UOPVIZ_REQUIRE_BROWSER",
    "UOPVIZ_REQUIRE_OPENCL",
    "UOPVIZ_REQUIRE_WEBGPU",
}
"""Names that are used and are no settings: between processes of a run, and by the tests."""

say_misspelled(os.environ, PREFIXES, _KNOWN)
