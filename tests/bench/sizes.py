"""How large each room of the code is: `python -m tests.bench.sizes [FOLDER]` prints a table.

Lines are those that are not blank. Tokens are Python's, without comments, docstrings and layout, so
that neither line breaks nor explanations count.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def size_of(text: str) -> tuple[int, int]:
    """(lines, tokens) of a module."""
    lines = sum(bool(line.strip()) for line in text.splitlines())
    all_tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    tokens = sum(token.type not in _LAYOUT for token in all_tokens)
    explanations = sum(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for node in ast.walk(ast.parse(text))
    )
    return lines, tokens - explanations


def table(root: Path) -> list[tuple[str, int, int, int]]:
    """(room, modules, lines, tokens) of each folder with modules, and of both packages."""
    rows: dict[str, list[tuple[int, int]]] = {}
    for path in sorted([*root.glob("core/**/*.py"), *root.glob("viz/**/*.py")]):
        room = path.parent.relative_to(root)
        if "web" in room.parts:
            continue
        size = size_of(path.read_text(encoding="utf-8"))
        for name in {str(room), f"{room.parts[0]}, all"}:
            rows.setdefault(name, []).append(size)
    return [
        (room, len(sizes), sum(n for n, _ in sizes), sum(n for _, n in sizes))
        for room, sizes in sorted(rows.items())
    ]


if __name__ == "__main__":
    print("| room | modules | lines | tokens |\n|---|---|---|---|")
    for room, modules, lines, tokens in table(Path(sys.argv[1]) if sys.argv[1:] else ROOT):
        print(f"| {room} | {modules:,} | {lines:,} | {tokens:,} |")
