"""The programs that mistakes are tried on, of programs.toml: what each begins with, and what is
computed one after the other, the elements of its last statement, `out = [...]`.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

_HEAD: Final = """\
import numpy as np
from core import Context, Tensor, TinyJit, Variable, dtypes
i32, f32 = np.int32, np.float32
def ints(*values, dtype=i32, device=None):
    return Tensor(np.array(values, dtype=dtype), device=device).realize()
def noise(*shape, dtype=f32, seed=7, device=None):
    made = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return Tensor(made, device=device).realize()
def count(*shape, dtype=i32, device=None):
    made = np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)
    return Tensor(made, device=device).realize()
"""


@dataclass(frozen=True)
class Program:
    """`close`: by how much of the largest value floats may differ; 0: by no bit."""

    body: str
    close: float = 1e-5

    @cached_property
    def pieces(self) -> tuple[str, tuple[str, ...]]:
        """(what it begins with, the expressions)"""
        *setup, last = ast.parse(_HEAD + self.body).body
        assert isinstance(last, ast.Assign), self.body
        assert isinstance(last.value, ast.List), self.body
        beginning = ast.unparse(ast.Module([*setup], []))
        return beginning, tuple(ast.unparse(one) for one in last.value.elts)


def _programs() -> dict[str, Program]:
    held = tomllib.loads(Path(__file__).with_name("programs.toml").read_text())
    return {
        name: Program(str(one["body"]), float(one.get("close", 1e-5))) for name, one in held.items()
    }


PROGRAMS: Final[Mapping[str, Program]] = _programs()
