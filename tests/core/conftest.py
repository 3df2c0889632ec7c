"""Every graph that a test of core makes is verified after each pass, as with SPEC=1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.helpers import Context


@pytest.fixture(autouse=True)
def verified() -> Iterator[None]:
    """Turns the verifier on around each test."""
    with Context(SPEC=1):
        yield
