"""What is asked of every refusal of a tile kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import UopvizError


def check_refused(
    wrong: Callable[[Any], object],
    kind: type[UopvizError],
    what: str,
    hint: str,
    kernel: object,
    file: str,
) -> None:
    """Fails unless `wrong` of the kernel raises an error that says what and what to do, at a line
    of the user's file."""
    with pytest.raises(kind) as found:
        wrong(kernel)
    assert what in found.value.what
    assert hint in found.value.hint
    assert found.value.where.startswith(f"{file}:")
