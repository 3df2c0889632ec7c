"""The option that rewrites golden text files, and the fixture that compares with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden text of renderers"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(file, text)` compares with the file, or rewrites it under --update-golden."""
    update = request.config.getoption("--update-golden", default=False)

    def check(file: str, text: str) -> None:
        path = GOLDEN / file
        if update:
            path.write_text(text)
        assert path.exists(), f"{path} is missing: run pytest tests/core/render --update-golden"
        assert text == path.read_text(), f"{file} changed: see --update-golden"

    return check
