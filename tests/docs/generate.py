"""Writes the generated parts of docs/, and generated files, anew: `python -m tests.docs.generate`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; `tables.PARTS` makes it. The
rest of a document is not touched. A file of FILES is generated as a whole.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.docs.of_core import ROOT
from tests.docs.of_viz import answers_module, dialect_module
from tests.docs.tables import PARTS

FILES = {
    ROOT / "viz/web/src/data/answers.ts": answers_module,
    ROOT / "viz/web/test/dev/dialect.ts": dialect_module,
}

_PART = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def documents() -> list[Path]:
    """The README and every file of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def parts_in(text: str) -> list[str]:
    """Names of the generated parts of a text."""
    return [found[2] for found in _PART.finditer(text)]


def generated(text: str) -> str:
    """`text` with its generated parts as the code has them now."""

    def fill(found: re.Match[str]) -> str:
        return f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}"

    return _PART.sub(fill, text)


def main() -> int:
    """Brings all documents up to date, and says which had to change."""
    made = {path: generated(path.read_text(encoding="utf-8")) for path in documents()}
    made |= {path: make() for path, make in FILES.items()}
    for path, new in made.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"updated {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
