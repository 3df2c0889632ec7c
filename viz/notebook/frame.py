"""A run as a frame of a notebook: the page with its data in one attribute, `srcdoc`.

It asks nothing of any server, so that it works in a saved notebook, in one that was exported, and
offline. The frame is a sandbox with an origin of its own: what a trace says reaches nothing of the
notebook. A frame that a notebook takes away on scrolling, and puts back, asks the notebook where it
was. Behind the frame stand the facts of the run, for notebooks that show no frames.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import Any, Final

from viz.share.html import export_html
from viz.share.webpage import page_file
from viz.terminal import show_command
from viz.views.run import Run
from viz.views.summary import run_title

MOST: Final = 2_000_000
"""Bytes of the data of a run that a frame holds; of a larger run it holds an excerpt."""
HIGH: Final = 640
"""Height of a frame in pixels."""
_KEEPER: Final = (
    "(()=>{if(window.uopvizFrames)return;const kept=window.uopvizFrames={};"
    'addEventListener("message",(event)=>{const said=event.data;'
    'if(!said||typeof said.uopviz!=="string")return;'
    'if(typeof said.address==="string")kept[said.uopviz]=said.address;'
    "else if(event.source)event.source.postMessage("
    '{uopviz:said.uopviz,address:kept[said.uopviz]??""},"*");});})();'
)
"""Keeps the address of each frame for as long as the notebook is open. On one line, and without
comments: some front ends lose line ends."""


def attribute(text: str) -> str:
    """A text as the value of an attribute. Line ends are references: some front ends lose others,
    and with them the scripts, which are allowed by their hashes."""
    return escape(text).replace("\n", "&#10;").replace("\r", "&#13;")


def frame(run: Run, high: int = HIGH) -> tuple[str, str]:
    """The run as HTML and as text. Raises ServerError where the page has not been built, and
    BudgetError where not even the list of passes fits."""
    room = MOST + sum(len(page_file(name, None) or b"") for name in ("app.js", "app.css"))
    made = export_html(run, budget=room)
    facts, hint = _facts(run), f"{show_command(run.path)}: more in a terminal"
    left = " ".join(made.left_out)
    lines = [facts]
    if made.left_out:
        hint = f"uopviz open {run.path}"
        lines.append(f"An excerpt: {left} All of it: {hint}")
    name = "uopviz-" + hashlib.sha256(made.html.encode()).hexdigest()[:16]
    said = "".join(f"<div>{escape(line)}</div>" for line in lines)
    html = (
        f'<div class="uopviz"><div style="font:12px/1.5 system-ui,sans-serif">{said}</div>'
        f"<script>{_KEEPER}</script>"
        f'<iframe name="{name}" title="{attribute(facts)}" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{high}px;border:1px solid #8884" loading="lazy" '
        f'srcdoc="{attribute(made.html)}"></iframe></div>'
    )
    return html, "\n".join([*lines, *([] if made.left_out else [hint])])


def _facts(run: Run) -> str:
    """The run in a line."""
    data: dict[str, Any] = run.run()
    totals = data["totals"]
    counts = (
        f"{totals['kernels']:,} kernels",
        f"{totals['rewrites']:,} passes",
        f"{totals['steps']:,} steps",
        f"{totals['launches']:,} launches",
    )
    return f"{run_title(data)}: {', '.join(counts)}"
