"""Taps: what a recorded program loads to tell what its compiler does, as a stream of events.

They run in other people's programs: nothing but the standard library of Python 3.9 and newer, no
import of `core` or `viz`, no output, and no exception ever reaches the program. `SITE` is the
folder that goes in front of PYTHONPATH.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SITE: Final = Path(__file__).resolve().parent / "site"
"""Holds `sitecustomize`, which Python imports when it starts, and the taps."""
FOLDER: Final = "UOPVIZ_STREAMS"
"""The environment variable that names the folder for streams; without it no tap does anything."""
