"""HLO of the newest JAX: our interpreter gives what JAX computes, and no pass of XLA is blamed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.peers.test_dumps import python_of, run
from tests.viz.foreign.test_hlo import array, execute
from viz.check.part import check_part
from viz.check.parts import Part
from viz.cli import main
from viz.read.tracefile import TraceFile

pytestmark = pytest.mark.nightly


def test_modules_and_passes_of_jax(tmp_path: Path) -> None:
    flags = f"--xla_dump_to={tmp_path}/dump --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text"
    flags += " --xla_dump_large_constants"
    run(python_of("jax"), "modules.py", str(tmp_path), XLA_FLAGS=flags)
    for name, known in json.loads((tmp_path / "jax.json").read_text()).items():
        made = execute((tmp_path / f"{name}.txt").read_text(), *map(array, known["inputs"]))
        share = 2e-2 if name == "halves" else 3e-5
        for mine, theirs in zip(made, map(array, known["outputs"]), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=share, atol=share)
    path = tmp_path / "run.viz"
    assert main(["import", "-o", str(path), str(tmp_path / "dump")]) == 0
    file = TraceFile(path)
    file.refresh()
    checked = check_part(Part(str(path), tuple(file.rewrites)))
    kinds = [one["verdicts"][at]["kind"] for one in checked for _, _, at in one["steps"]]
    assert len(kinds) > 150
    assert {*kinds} == {"proved", "sampled"}
