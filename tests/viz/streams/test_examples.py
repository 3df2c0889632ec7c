"""The examples of writers of streams: the one in C++ compiled and run, the one of the documents
run as it stands there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.viz.importers.test_import import is_exact
from viz.cli import main
from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[3]
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def imported(stream: Path) -> Store:
    path = stream.with_suffix(".viz")
    assert main(["import", "-o", str(path), str(stream)]) == 0
    store = Store(path)
    assert store.run()["problems"] == [] and is_exact(store.files[0])
    return store


def steps(store: Store) -> list[tuple[str, int]]:
    return [(row["name"], row["steps"]) for row in store.tree()["rows"]]


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_a_compiler_in_cpp(tmp_path: Path) -> None:
    program, stream = tmp_path / "toycc", tmp_path / "toy.jsonl"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", str(program)]
    subprocess.run([str(COMPILER), *flags, str(ROOT / "examples" / "toycc.cpp")], check=True)
    subprocess.run([str(program), str(stream)], check=True)
    store = imported(stream)
    assert steps(store) == [("kernel a", 1), ("fold", 1)]
    (rewrite,) = store.files[0].rewrites
    texts = store.pass_texts(rewrite)
    assert texts is not None and texts["after"]["text"] == "return x * 2\n"
    kernel = store.kernel(store.kernels()[0])
    assert kernel is not None and kernel["artifacts"][0]["text"] == 'mul x, 2\nret\t"done"\n'
    store.close()


def test_the_writer_of_the_document(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "stream.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
    store = imported(tmp_path / "toy.jsonl")
    assert steps(store) == [("fold", 1)]
    store.close()
