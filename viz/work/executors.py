"""Where work is done: in processes of this machine, or by a cluster that is named as an address.

`dask://HOST:PORT` is a scheduler of Dask, `ray://HOST:PORT` a cluster of Ray. Their libraries are
extras, imported when they are asked for. Never starts a cluster.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import ModuleType
from typing import Any, Final

from core.errors import ServerError

SCHEMES: Final = ("dask", "ray")


def executor_at(address: str) -> Executor:
    """The executor of a cluster. Raises ServerError where the address is none, its library is not
    installed, or the cluster does not answer."""
    scheme, found, place = address.partition("://")
    if not found or scheme not in SCHEMES or not place:
        raise ServerError(f"{address!r} is no executor", hint="dask://HOST:PORT or ray://HOST:PORT")
    module = _library("distributed" if scheme == "dask" else "ray", scheme)
    try:
        if scheme == "dask":
            return module.Client(f"tcp://{place}").get_executor()
        module.init(address=address)
        return _Ray(module)
    except (OSError, ValueError, RuntimeError, ConnectionError) as error:
        raise ServerError(
            f"{address} does not answer ({type(error).__name__}: {error})"[:500],
            hint="start it, and install uopviz on each of its machines",
        ) from error


class _Ray(Executor):
    """Tasks of a cluster of Ray, which has futures and no executor."""

    def __init__(self, ray: ModuleType) -> None:
        self._ray: Any = ray

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See Executor."""
        return self._ray.remote(fn).remote(*args, **kwargs).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Lets go of the cluster."""
        self._ray.shutdown()


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ServerError(
            f"{name} is not installed, which {extra}:// needs",
            hint=f"pip install 'uopviz[{extra}]'",
        ) from error
