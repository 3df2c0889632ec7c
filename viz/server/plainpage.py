"""A page without a script, for what the page itself cannot say: who may ask, what is missing.

Its texts are ours alone: nothing of a trace, a token or a request is ever in it.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Final

from flask import Request, Response

_STYLE: Final = """
:root { color-scheme: light dark; --bg: #f6f7f9; --surface: #fff; --line: #e2e5ea;
  --surface2: #f0f2f5; --text: #1a1e24; --text2: #535b67; --accent: #2a5fd0; }
@media (prefers-color-scheme: dark) { :root { --bg: #0e1013; --surface: #15181c; --line: #272c33;
  --surface2: #1d2126; --text: #e7eaee; --text2: #a6aeb9; --accent: #7fa8ff; } }
body { margin: 0; padding: 12vh 16px 32px; background: var(--bg); color: var(--text2);
  font: 13px/20px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 520px; margin: 0 auto; padding: 24px; background: var(--surface);
  border: 1px solid var(--line); border-radius: 10px; }
.logo { margin: 0; color: var(--text); font-weight: 650; }
h1 { margin: 12px 0 8px; color: var(--text); font-size: 22px; line-height: 28px; font-weight: 600; }
p, ul { margin: 8px 0 0; }
ul { padding: 0 0 0 20px; }
li { margin-top: 8px; }
code { padding: 2px 4px; border-radius: 3px; background: var(--surface2); color: var(--text);
  font: 12px ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, monospace; }
li::marker { color: var(--accent); }
"""
_HASH: Final = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page's Content-Security-Policy: its own style and nothing else."""


def wants_page(asked: Request) -> bool:
    """Whether a browser goes to an address of this server, and no program asks for data."""
    is_visit = asked.method in ("GET", "HEAD") and not asked.path.startswith("/api/")
    return is_visit and "text/html" in asked.headers.get("Accept", "")


def plain_page(status: int, title: str, heading: str, body: str) -> Response:
    """The page; `body` is HTML."""
    html = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} · uopviz</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style>
<main>
<p class="logo">uopviz</p>
<h1>{heading}</h1>
{body}
</main>
</html>
"""
    answer = Response(html, status, content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = POLICY
    return answer
