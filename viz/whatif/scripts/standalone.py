"""The text of a script that launches a kernel through the vendor's bindings, without uopviz.

What a trace says goes into it as data, never as code.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from viz.whatif.scripts import onbindings
from viz.whatif.scripts.script import block, literal, one_line


def bindings_text(title: str, case: Mapping[str, Any]) -> str:
    """The text of the script."""
    source = inspect.getsource(onbindings)
    shown = {key: value for key, value in case.items() if key != "ptx"}
    lines = [f"    {literal(key)}: {literal(value)}," for key, value in shown.items()]
    parts = [
        f"# {one_line(title)}, through the bindings of NVIDIA's driver",
        "# Exit status 0: the result is that of the reference; 1: it is not, or a call fails.",
        source.rstrip(),
        "",
        "",
        f"PTX = {block(str(case['ptx']))}",
        "CASE = {",
        *lines,
        '    "ptx": PTX,',
        "}",
        "",
        'if __name__ == "__main__":',
        "    sys.exit(main(CASE))",
    ]
    return "\n".join(parts) + "\n"
