"""The C text of casts, compiled by the system's C compiler and run, for every pair of dtypes.

Skipped where there is no C compiler; dtypes that it cannot compute with are left out.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.render import c
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.toolchain.processor import host_target
from core.uop.facts.meaning import cast_value
from tests.core.render.programs import Build
from tests.core.tensor.elements.test_casts import PLAIN, corners

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def compiled(folder: Path, text: str, *more: str) -> Path | str:
    """A shared library, or the compiler's words where it rejects the text."""
    assert COMPILER is not None
    source, library = folder / "casts.c", folder / "casts.so"
    source.write_text(text, encoding="utf-8")
    # conversions of constants out of range are errors, too; products and sums stay as written
    options = ["-std=c11", "-O2", "-shared", "-fPIC", "-ffp-contract=off", "-Werror=overflow"]
    done = subprocess.run(
        [COMPILER, *options, *more, "-o", str(library), str(source), "-lm"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return library if done.returncode == 0 else done.stderr


@pytest.fixture(scope="module")
def computable(tmp_path_factory: pytest.TempPathFactory) -> list[DType]:
    """The dtypes for whose types the compiler has arithmetic."""
    folder, headers = tmp_path_factory.mktemp("types"), "\n".join(c.DIALECT.header)

    def works(name: str) -> bool:
        text = f"{headers}\n{name} f(float x) {{ return ({name})x + ({name})1; }}\n"
        return isinstance(compiled(folder, text), Path)

    return [dtype for dtype in PLAIN if works(c.DIALECT.types[dtype.name])]


def program(source: DType, targets: list[DType], count: int) -> str:
    """A kernel that loads `count` elements of one dtype and stores them as the others."""
    b = Build()
    places = [b.pointer(n, target, count) for n, target in enumerate(targets)]
    x = b.pointer(len(targets), source, count)
    i = b.loop(count, 0)
    value = b.load(x, i)
    last = value
    for place, target in zip(places, targets, strict=True):
        last = b.store(place, i, b.add(value.cast(target)))
    b.end(i, last)
    return c.render(b.done(), "casts", host_target()).text


def run(library: Path, arrays: list[Array]) -> None:
    function = ctypes.CDLL(str(library))["casts"]
    function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))


@pytest.mark.parametrize("source", PLAIN, ids=str)
def test_every_pair_of_dtypes(source: DType, computable: list[DType], tmp_path: Path) -> None:
    if source not in computable:
        pytest.skip(f"the C compiler does not compute with {c.DIALECT.types[source.name]}")
    targets = [target for target in computable if target is not source]
    values = corners(source)
    library = compiled(tmp_path, program(source, targets, len(values)))
    assert isinstance(library, Path), library
    computed = np.array(values, np.float32 if source is dtypes.bfloat16 else memory_dtype(source))
    memory = np.ascontiguousarray(to_memory(computed, source))
    found = [np.zeros(len(values), memory_dtype(t)) for t in targets]
    run(library, [*found, memory])
    for target, array in zip(targets, found, strict=True):
        wanted = [cast_value(value, target) for value in values]
        got = from_memory(array, target).tolist()
        np.testing.assert_array_equal(got, wanted, err_msg=f"{source} to {target}")


def test_a_compiler_without_a_type_is_told_what_it_takes(
    computable: list[DType], tmp_path: Path
) -> None:
    for dtype in (dtypes.float16, dtypes.bfloat16):
        made = compiled(tmp_path, program(dtypes.float32, [dtype], 4))
        assert isinstance(made, Path) == (dtype in computable)
        if isinstance(made, str):
            assert f"computes with {c.DIALECT.types[dtype.name]}, which takes" in made
    text = program(dtypes.float32, [dtypes.float16], 4)
    said = compiled(tmp_path, text, "-U__FLT16_MANT_DIG__")  # as older compilers are
    assert isinstance(said, str)
    assert "computes with _Float16, which takes gcc 12, clang 15 or newer" in said
    assert isinstance(compiled(tmp_path, program(dtypes.float32, [dtypes.int32], 4)), Path)
