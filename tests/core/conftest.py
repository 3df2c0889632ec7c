"""Every graph that a test of core makes is verified after each pass, as with SPEC=1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.helpers import SPEC, Context


@pytest.fixture(autouse=True, scope="module")
def verified() -> Iterator[None]:
    """Turns the verifier on around each module: in its tests, in the fixtures that they share, and
    in the processes that they start."""
    with pytest.MonkeyPatch.context() as patch, Context(SPEC=1):
        patch.setenv("SPEC", "1")
        yield


@pytest.fixture(autouse=True)
def still_verified() -> Iterator[None]:
    """No test leaves the verifier off for those after it."""
    yield
    assert SPEC.value == 1
