"""The fixture that compares with golden text files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(file, text)` compares with the file, or rewrites it under --update-golden."""
    update = request.config.getoption("--update-golden")

    def check(file: str, text: str) -> None:
        path = GOLDEN / file
        if update:
            path.write_text(text)
        assert path.exists(), f"{path} is missing: run pytest tests/core/render --update-golden"
        assert text == path.read_text(), f"{file} changed: see --update-golden"

    return check
