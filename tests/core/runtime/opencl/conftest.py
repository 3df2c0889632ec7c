"""The tests of OPENCL are skipped, with the name of what is missing, where it cannot be tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.opencl_setup import missing

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacks = missing()
    for item in items if lacks else ():
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"OPENCL needs {lacks}"))
