"""Options of tests: how many random cases each fuzz test tries, and whether golden files are
written anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz", type=int, default=0, help="cases that each fuzz test tries (0: a few)"
    )
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files")
