"""Which dialect a trace is in, and where its adapter comes from.

An adapter comes with uopviz, is installed (an entry point of the group `uopviz.dialects`, by the
name of the dialect), or is named by the user: UOPVIZ_DIALECTS, or `--dialect`. A trace only says a
name: nothing of it is ever imported, and no file that it names is looked at.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from core.errors import EnvError
from viz.dialect.adapters import BUILT_IN, CORE, load
from viz.dialect.dialect import GROUPS, PLAIN, Dialect, Op
from viz.dialect.rundialect import RunDialect
from viz.format.cells import as_int, as_text
from viz.format.schema import COMPILER
from viz.read.database import Problem
from viz.settings import UOPVIZ_DIALECTS

GROUP: Final = "uopviz.dialects"
"""The group of entry points."""
_ATTRIBUTE: Final = "DIALECT"
_WORD: Final = 60
"""Characters of a name."""
_MAX_OPS: Final = 5000


def named_in(meta: Mapping[str, Any]) -> tuple[str, int]:
    """Name and version of the dialect that a trace is in; ("", 0) for one that names none."""
    stated = meta.get("dialect")
    if isinstance(stated, dict):
        fields = cast("dict[str, Any]", stated)
        return as_text(fields.get("name"), _WORD), as_int(fields.get("version"))
    return (CORE, 1) if _is_of_core(meta) else ("", 0)


def _is_of_core(meta: Mapping[str, Any]) -> bool:
    """Whether the recorder of `core` wrote a trace that names no dialect; one of before it said so
    is known by the flags that it noted."""
    if "compiler" in meta:
        return meta["compiler"] == COMPILER
    return "VIZ" in cast("Mapping[str, Any]", meta.get("flags") or {})


def dialect_of(meta: Mapping[str, Any]) -> RunDialect:
    """The dialect of the run that says this of itself. Raises EnvError where the user names an
    adapter that cannot be loaded."""
    name, version = named_in(meta)
    if not name:
        return RunDialect()
    try:
        dialect = find(name, UOPVIZ_DIALECTS.value)
    except EnvError:
        raise
    except Exception as error:
        why = f"cannot be loaded ({type(error).__name__}: {str(error)[:200]})"
        return _plain(name, version, why, "fix the package that provides it")
    if dialect is None:
        hint = "install the package that brings it, or name its file: --dialect FILE.py"
        return _plain(name, version, "is not installed", hint)
    if version > dialect.version:
        why = f"is newer than version {dialect.version}, which is installed"
        return _plain(name, version, why, "install a newer version of it")
    return RunDialect(dialect)


def _plain(name: str, version: int, why: str, hint: str) -> RunDialect:
    what = f"the dialect of this run, {name} {version}, {why}: it is shown as nodes and texts"
    return RunDialect(PLAIN, Problem(what, f"dialect {name} {version}", hint))


@functools.cache
def find(name: str, named: str = "") -> Dialect | None:
    """The dialect of this name, of those that come with uopviz, those in `named` and those that are
    installed; None for none. Raises what its module raises, and EnvError for what is wrong in
    `named`."""
    if name in BUILT_IN:
        return _checked(load(BUILT_IN[name].dialect), BUILT_IN[name].dialect)
    for one in filter(None, (part.strip() for part in named.split(","))):
        dialect = _named(one)
        if dialect.name == name:
            return dialect
    from importlib import metadata  # 50 ms, which a trace of `core` need not wait for

    for entry in metadata.entry_points(group=GROUP, name=name):
        return _checked(entry.load(), entry.value)
    return None


@functools.cache
def _named(where: str) -> Dialect:
    """The dialect that the user names: FILE.py, or MODULE:NAME."""
    try:
        return _checked(_loaded(where), where)
    except EnvError:
        raise
    except Exception as error:
        raise EnvError(
            f"the dialect {where!r} cannot be loaded: {type(error).__name__}: {str(error)[:300]}",
            where=f"--dialect or {UOPVIZ_DIALECTS.name}",
            hint=f"a Python file that has {_ATTRIBUTE}, or MODULE:NAME of one that is installed",
        ) from error


def _loaded(where: str) -> object:
    if where.endswith(".py"):
        return getattr(_module_of(Path(where)), _ATTRIBUTE)
    return load(where if ":" in where else f"{where}:{_ATTRIBUTE}")


def _module_of(path: Path) -> ModuleType:
    name = f"uopviz_dialect_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _checked(found: object, where: str) -> Dialect:
    """What was loaded, if it is a dialect. Raises TypeError."""
    if not isinstance(found, Dialect):
        raise TypeError(f"{where} is no viz.dialect.dialect.Dialect")
    ops = cast("Mapping[object, object]", found.ops)
    if len(ops) > _MAX_OPS:
        raise TypeError(f"{where} lists more than {_MAX_OPS:,} ops; use names that end in a dot")
    for name, op in ops.items():
        if not isinstance(name, str) or not isinstance(op, Op) or op.group not in GROUPS:
            raise TypeError(f"{where} has no Op of a group for {str(name)[:_WORD]!r}")
    return found
