"""A run as a frame of a notebook: the page with its data in one attribute, `srcdoc`.

It asks nothing of any server, so that it works in a saved notebook, in one that was exported, and
offline. The frame is a sandbox with an origin of its own: what a trace says reaches nothing of the
notebook. A frame that a notebook takes away on scrolling, and puts back, asks the notebook where it
was. Behind the frame stands a picture of the facts of the run, for notebooks that fill no frames,
or leave them out of outputs that they do not trust.
"""

from __future__ import annotations

import base64
import secrets
from html import escape
from typing import Final

from viz.notebook.picture import facts_picture
from viz.share.html import export_html
from viz.share.webpage import page_file
from viz.terminal import show_command
from viz.views.runs.run import Run
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
_SCRIPT: Final = f"<script>{_KEEPER}</script>"


def attribute(text: str) -> str:
    """A text as the value of an attribute. Line ends are references: some front ends lose others,
    and with them the scripts, which are allowed by their hashes."""
    return escape(text).replace("\n", "&#10;").replace("\r", "&#13;")


def frame(run: Run, high: int = HIGH) -> tuple[str, str]:
    """The run as HTML and as text. Raises ServerError where the page has not been built, and
    BudgetError where not even the list of passes fits."""
    room = MOST + sum(len(page_file(name, None) or b"") for name in ("app.js", "app.css"))
    made = export_html(run, budget=room)
    title, facts = run_title(run.run()), _facts(run)
    said = f"{title}: {facts}"
    left = " ".join(made.left_out)
    rest = f"An excerpt: {left} All of it: uopviz open {run.path}"
    lines = [said, rest] if left else [said]
    shown = "".join(f"<div>{escape(line)}</div>" for line in lines)
    kernels = [row for row in run.tree()["rows"] if row["label"] == "kernel"]
    picture = base64.b64encode(facts_picture(title, facts, kernels).encode()).decode()
    look = "display:block;width:100%;border:1px solid #8884;background:none"
    # notebooks that do not trust an output leave out the frame and all of its styles but few: then
    # the picture stands alone
    html = (
        f'<div class="uopviz"><div style="font:12px/1.5 system-ui,sans-serif">{shown}</div>'
        f"{_SCRIPT}"
        '<div style="display:grid">'
        f'<img alt="{attribute(said)}" style="grid-area:1/1;max-width:100%" '
        f'src="data:image/svg+xml;base64,{picture}">'
        # the place is that of an element of its own: some notebooks put one around each frame
        '<div style="grid-area:1/1">'
        f'<iframe name="uopviz-{secrets.token_hex(8)}" title="{attribute(said)}" '
        f'sandbox="allow-scripts allow-downloads" style="{look};height:{high}px" '
        f'loading="lazy" srcdoc="{attribute(made.html)}"></iframe></div></div></div>'
    )
    hint = f"{show_command(run.path)}: more in a terminal"
    return html, "\n".join(lines if left else [*lines, hint])


def without_script(html: str) -> str:
    """What `frame` made, for notebooks that take no frame away on scrolling, and that put HTML with
    a script into a frame of their own, which is too low for it."""
    return html.replace(_SCRIPT, "", 1)


def _facts(run: Run) -> str:
    """How much there is of a run."""
    totals: dict[str, int] = run.run()["totals"]
    counts = (
        f"{totals['kernels']:,} kernels",
        f"{totals['rewrites']:,} passes",
        f"{totals['steps']:,} steps",
        f"{totals['launches']:,} launches",
    )
    return ", ".join(counts)
