"""Sizes of an installation: its dependencies, and what each extra adds. They are those of the files
that are installed in the running environment, as their distributions record them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench.measure import table

_NAME: Final = "uopviz"


def figures() -> str:
    """Megabytes (1000 * 1000 bytes) of packages."""
    plain, absent = needed("")
    rows: list[Sequence[object]] = [["dependencies", len(plain), _megabytes(plain, absent)]]
    rows += [[f"of it {name}", 1, f"{size_of(name) / 1e6:.1f}"] for name in _largest_first(plain)]
    for extra in distribution(_NAME).metadata.get_all("Provides-Extra") or []:
        names, missing = needed(extra)
        rows.append([f"`[{extra}]` adds", len(names - plain), _megabytes(names - plain, missing)])
    return table("Sizes", ("what", "packages", "MB"), rows)


def needed(extra: str) -> tuple[set[str], set[str]]:
    """The packages that this one needs with an extra, "" for none: (installed, absent). A package
    that no marker of this machine asks for is in neither."""
    found: set[str] = set()
    absent: set[str] = set()
    seen: set[tuple[str, str]] = set()
    rest = [(_NAME, ""), (_NAME, extra)]
    while rest:
        name, wanted = rest.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            requirements = distribution(name).requires or []
        except PackageNotFoundError:
            absent.add(name)
            continue
        found.add(name)
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate({"extra": wanted}):
                other = canonicalize_name(requirement.name)
                rest += [(other, more) for more in ("", *requirement.extras)]
    return found - {_NAME}, absent


def size_of(name: str) -> int:
    """Bytes of the files of an installed package; compiled modules are not counted, as pip makes
    them on its own."""
    files = distribution(name).files or []
    return sum(file.size or 0 for file in files if file.suffix != ".pyc")


def _largest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=size_of, reverse=True)[:3]


def _megabytes(names: set[str], absent: set[str]) -> str:
    """The sum, and what of it is not installed here and so not counted."""
    if absent and not names:
        return "not installed here"
    said = f"{sum(map(size_of, names)) / 1e6:.1f}"
    return f"{said}, without {', '.join(sorted(absent))}" if absent else said
