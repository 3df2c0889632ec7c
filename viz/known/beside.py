"""The results of checks in the file beside a trace, taken up by a run that is open, and kept there.

The file is read again where it has changed: a command may check the trace meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from viz.known.kept import Kept, identity, kept_path, load, save
from viz.views.checks import Checks
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE, Process
from viz.views.store import Store

Data = dict[str, Any]
_LOCKS: Final = WeakKeyDictionary[Checks, AbstractContextManager[bool]]()
_GUARD: Final = threading.Lock()


def place_of(store: Store) -> Path:
    """The file that the results for a run are in."""
    return kept_path(store.path, store.held_as)


def identity_of(store: Store) -> Data | None:
    """`identity` of a run, hashed once for each state of its files; None where one of them cannot
    be read."""
    processes = store.processes
    files = tuple(processes[at].file.path for at in _by_name(processes))
    if files[0] != store.path:  # of an exported file, which is one file
        files = (store.path,)
    states = tuple(_state(path, follow=True) for path in files)
    try:
        return None if None in states else _hashed(files, states, store.held_as)
    except OSError:
        return None


def take_kept(store: Store) -> Checks:
    """What is known of the passes of a run, with what lies beside its trace."""
    with _keeping(store.checks):
        path = place_of(store)
        state = _state(path)
        if state is not None and state != store.checks.read:
            if (of := identity_of(store)) is not None:
                _take(store, load(path, of))
            store.checks.read = state
        return store.checks


def _take(store: Store, kept: Kept) -> None:
    """Takes up what is kept and not known yet."""
    known, run_here = store.checks.whole(), store.checks.run_here()
    for checked in map(partial(_taken, store), kept.passes.values()):
        number = checked["rewrite"]
        if number not in known and store.scope_of(number) is not None:
            store.checks.add(checked)
    kernels = set(store.kernels()) - run_here
    for whole in map(partial(_taken_kernel, store), kept.kernels.values()):
        if whole["kernel"] in kernels:
            store.checks.add_kernel(whole)


def keep(store: Store) -> bool:
    """Keeps what is known of whole passes and of kernels beside the trace; whether that was
    possible. What a program still writes is kept in memory alone, and so is what was compiled on
    request."""
    with _keeping(store.checks):
        checks = take_kept(store)
        if store.live or (of := identity_of(store)) is None:
            return False
        own = {number for number in checks.whole() if number < FIRST * STRIDE}
        found = [_given(store, one) for one, _ in checks if one["rewrite"] in own]
        passes = {checked["rewrite"]: checked for checked in found}
        run_here = checks.run_here()
        whole = [_given_kernel(store, k) for k in checks.kernels() if k["kernel"] in run_here]
        kernels = {one["kernel"]: one for one in whole}
        path = place_of(store)
        if not (passes or kernels) or not save(path, of, Kept(passes, kernels)):
            return False
        checks.read = _state(path)
        return True


def renumbered(store: Store, checked: Data) -> Data:
    """The result of a pass, with the numbers that `store` gives to rules. Another `Store` of the
    same files may give a rule of several processes that of another one of them."""
    processes = store.processes

    def rule(number: int) -> int:
        at, local = divmod(number, STRIDE)
        return processes[at].rule(local) if 0 <= at < len(processes) and local else number

    return checked | {"steps": [[step, rule(n), verdict] for step, n, verdict in checked["steps"]]}


def _given(store: Store, checked: Data) -> Data:
    """The result of a pass as it is kept: processes are numbered by the names of their files, as in
    a run that is opened once it has ended, and rules as in their process."""
    at, local = divmod(checked["rewrite"], STRIDE)
    processes = store.processes
    first = _by_name(processes).index(at) * STRIDE
    locals_ = {number: own for own, number in processes[at].rules.items()}
    steps = [[step, n and first + locals_.get(n, n % STRIDE), v] for step, n, v in checked["steps"]]
    return checked | {"rewrite": first + local, "steps": steps}


def _taken(store: Store, checked: Data) -> Data:
    """What `_given` has made, with the numbers of `store`."""
    order = _by_name(store.processes)

    def here(number: int) -> int:
        at, local = divmod(number, STRIDE)
        return order[at] * STRIDE + local if 0 <= at < len(order) else number

    steps = [[step, here(n), verdict] for step, n, verdict in checked["steps"]]
    return renumbered(store, checked | {"rewrite": here(checked["rewrite"]), "steps": steps})


def _given_kernel(store: Store, whole: Data) -> Data:
    """What is known of a kernel as it is kept, with the number of its process as `_given`."""
    at, local = divmod(whole["kernel"], STRIDE)
    return whole | {"kernel": _by_name(store.processes).index(at) * STRIDE + local}


def _taken_kernel(store: Store, whole: Data) -> Data:
    """What `_given_kernel` has made, with the number of `store`."""
    order = _by_name(store.processes)
    at, local = divmod(whole["kernel"], STRIDE)
    return whole | {"kernel": order[at] * STRIDE + local if at < len(order) else whole["kernel"]}


def _by_name(processes: Sequence[Process]) -> list[int]:
    """The numbers of processes, the first one first, then by the names of their files."""
    return [0, *sorted(range(1, len(processes)), key=lambda at: processes[at].file.path.name)]


@lru_cache(maxsize=8)
def _hashed(files: tuple[Path, ...], states: tuple[object, ...], held_as: str) -> Data:
    return identity(files, held_as)


def _keeping(checks: Checks) -> AbstractContextManager[bool]:
    """The lock of one run: a thread that keeps results waits for one that still takes them up, and
    would else write a part of them over the whole."""
    with _GUARD:
        return _LOCKS.setdefault(checks, threading.RLock())


def _state(path: Path, follow: bool = False) -> tuple[int, ...] | None:
    """What changes when a file is written; None where it is not there."""
    try:
        found = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
