"""The option of every fuzzer: how many random cases."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", type=int, default=0, help="cases per fuzzer (0: its own number)")
