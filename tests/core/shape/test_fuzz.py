"""Random view chains: what they address, also as index arithmetic, simplified."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.core.shape.movements import draw_chain, elements
from tests.core.uop.fuzz import check_view
from tests.fuzzing import cases


def run(seed: str) -> None:
    rng = random.Random(seed)
    tracker, model = draw_chain(rng)
    assert (elements(tracker) == model).all()
    for axis, stride in enumerate(tracker.real_strides()):
        near, far = np.moveaxis(model, axis, 0)[:-1], np.moveaxis(model, axis, 0)[1:]
        steps = (far - near)[(near >= 0) & (far >= 0)]
        assert stride is None or (steps == stride).all(), f"axis {axis} of {tracker}"
    if model.size:
        check_view(tracker, rng)


def test_view_chains(pytestconfig: pytest.Config) -> None:
    seed = random.randrange(1 << 30)
    for at in range(cases(pytestconfig, 1000)):
        try:
            run(f"{seed} {at}")
        except Exception as error:
            raise AssertionError(f'seed "{seed} {at}": {error}') from error
