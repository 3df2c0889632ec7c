"""The option of every fuzz test: how many random cases it tries."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz", type=int, default=0, help="cases that each fuzz test tries (0: a few)"
    )
