"""The kinds of inputs of a workbench, by name. Knows nothing of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CAPTURED: Final = "captured"
"""The values that the kernel read in the run, where the trace has them; all others are values of
`core.runtime.reference.inputs.Values`."""
KINDS: Final[Mapping[str, str]] = {
    CAPTURED: "Captured from the run",
    "normal": "Normal, seed 0",
    "uniform": "Uniform 0 to 1",
    "zeros": "All zero",
    "ones": "All one",
    "subnormals": "Subnormals",
    "specials": "Inf and NaN",
}
"""What they are called, in the order in which they are run."""


def kinds_data() -> list[dict[str, str]]:
    """All kinds in the form of the page."""
    return [{"kind": kind, "title": title} for kind, title in KINDS.items()]
