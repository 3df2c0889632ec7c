"""Environment variables that are no settings: a line for those that look like one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.helpers import Flag, Text
from core.misspelled import ELSEWHERE, misspelled, say_misspelled
from viz.settings import PREFIXES

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = sorted({*Flag.table, *Text.table})
PLAIN = [
    "HOME", "LANG", "CI", "CUDA_VISIBLE_DEVICES", "JOBS", "PATH", "PWD", "TERM", "TZ", "CC",
    "CXX", "CPP", "TMP", "TEMP", "USER", "SHELL", "LOGNAME", "DISPLAY", "EDITOR", "PAGER", "LESS",
    "COLUMNS", "LINES", "PS1", "_", "A", "CFLAGS", "LDFLAGS", "CPATH", "GPU", "CPUS_PER_TASK",
    "DEVICE", "OUT", "GIT_DIR", "TEAM", "KING", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "PYTHONPATH", "VIRTUAL_ENV", "NO_COLOR", "DEBIAN_FRONTEND", "ROCM_PATH", "CUDA_PATH",
    "XDG_CACHE_HOME", "JAVA_OPTS", "GITHUB_ACTIONS", "RUNNER_DEBUG", "VIZIER", "TRAIN", "OPTIONS"
]  # fmt: skip


def slips(setting: str) -> set[str]:
    """Names that one slip makes of a setting."""
    if len(setting) <= 3:
        return {setting + "S", setting + setting[-1]} - {*SETTINGS}
    at = len(setting) // 2
    first, second = setting[at], setting[at + 1]
    doubled, swapped = first * 2 + second, second + first
    made = {
        setting[:at] + new + setting[at + 2 :] for new in (second, doubled, "Q" + second, swapped)
    }
    return (made | {setting + "S", setting[:-1]}) - {*SETTINGS}


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_is_named_where_it_is_misspelled(setting: str) -> None:
    wrong = slips(setting)
    assert misspelled(wrong) == dict.fromkeys(wrong, setting)


def test_settings_and_names_of_other_programs_are_none() -> None:
    assert misspelled([*SETTINGS, *PLAIN], PREFIXES) == {}


def test_names_without_a_close_setting() -> None:
    assert misspelled([*ELSEWHERE, "VIZ_WHATEVER"], PREFIXES) == dict.fromkeys(
        [*ELSEWHERE, "VIZ_WHATEVER"], ""
    )
    assert misspelled(["VIZ_WHATEVER"]) == {}


def test_names_that_are_known_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    say_misspelled(["UOPVIZ_RUN"], PREFIXES, {"UOPVIZ_RUN"})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("module", ["core", "viz.cli"])
def test_each_is_one_line_on_standard_error(module: str) -> None:
    wrong = {"FUSE_ARANGE": "0", "DEBUGG": "1", "BEAN": "2", "OPTS": "0", "VIZ_TRCE": "x"}
    more = {"UOPVIZ_STAYY": "0", "HOME": "/nowhere", "CI": "1", "UOPVIZ_RUN": ""}
    told = [*wrong, "UOPVIZ_STAYY"] if module == "viz.cli" else [*wrong]
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        env=os.environ | wrong | more | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stderr.splitlines()
    assert sorted(line.split()[1] for line in lines) == sorted(told)
    assert all(line.startswith("uopviz: ") for line in lines)
    assert "uopviz: BEAN is set, but there is no such setting; did you mean BEAM?" in lines
