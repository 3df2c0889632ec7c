"""`Policy`: compiles otherwise, to see what a rule is good for or at which match something breaks.

`with following(Policy(skip={"add_zero"})):` holds for the rewrites of a block, in its thread. Where
none is set, a rewrite asks once and pays nothing else. Never chooses: the block that sets it does.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar
from weakref import WeakKeyDictionary

from core.errors import PolicyError
from core.uop.patterns.rule import Rule


class Rules(Protocol):
    """A rule set that can be changed: a PatternMatcher."""

    def changed(self, skip: Collection[str], replace: Mapping[str, Rule]) -> Self:
        """These rules without those named in `skip`, and others in place of those in `replace`."""
        ...


M = TypeVar("M", bound=Rules)


@dataclass(frozen=True, eq=False)
class Policy:
    """What rewrites may do.

    `skip`: names of rules that are not tried, as if they were not in the list; `replace`: rules
    that take the place of those of these names. `inside`: names of the rewrites where these two
    hold; empty for all.

    `limit`: after so many matches nothing matches any more. They are counted over all rewrites;
    with `rewrite`, in rewrites of that name only, and with `nth` only in one of them (0: the first
    of the kernel, or of the block). A match inside of which others happened, in rewrites that its
    function began, comes after these; where the limit was reached inside it, it does not happen.
    `whole`: matches at so many outer levels do, and so does the next one after the limit, while
    nothing matches in the rewrites inside it.

    `kernel`: the name of the one kernel whose passes the policy is for; None for all, and for
    schedules.
    """

    skip: frozenset[str] = frozenset()
    replace: Mapping[str, Rule] = field(default_factory=lambda: dict[str, Rule]())
    inside: frozenset[str] = frozenset()
    limit: int | None = None
    rewrite: str | None = None
    nth: int | None = None
    whole: int = 0
    kernel: str | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        if self.skip:
            parts.append("left out " + ", ".join(sorted(self.skip)))
        if self.replace:
            parts.append("replaced " + ", ".join(sorted(self.replace)))
        if self.limit is not None:
            where = f" of {self.rewrite}" if self.rewrite else ""
            parts.append(f"stopped after {self.limit} matches{where}")
        return "; ".join(parts) or "changed nothing"


@dataclass(eq=False)
class Applied:
    """A policy in force, and how far it has come. `matches` counts those under the limit."""

    policy: Policy
    matches: int = 0
    depth: int = 0
    """Matches that are being tried, each in a rewrite that the one before it began."""
    kernel: str | None = None
    lost: dict[str, None] = field(default_factory=lambda: dict[str, None]())
    """The rewrites of this kernel whose rules were changed, in order."""
    _seen: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    _made: WeakKeyDictionary[Any, Any] = field(default_factory=lambda: WeakKeyDictionary())

    def rules(self, matcher: M, rewrite: str) -> M:
        """The rules that hold in place of `matcher` in a rewrite of that name."""
        p = self.policy
        if not (p.skip or p.replace) or not self._is_meant():
            return matcher
        if p.inside and rewrite not in p.inside:
            return matcher
        made: M | None = self._made.get(matcher)
        if made is None:
            made = self._made[matcher] = matcher.changed(p.skip, p.replace)
        if made is not matcher:
            self.lost[rewrite] = None
        return made

    def counts(self, rewrite: str) -> bool:
        """Whether the matches of a rewrite that begins now fall under the limit."""
        p = self.policy
        if p.limit is None or not self._is_meant():
            return False
        if p.rewrite is None:
            return True
        if rewrite != p.rewrite:
            return False
        number = self._seen[rewrite] = self._seen.get(rewrite, -1) + 1
        return p.nth is None or number == p.nth

    def allows(self, depth: int) -> bool:
        """Whether a match at this depth, where matches are counted, is within the limit."""
        limit = self.policy.limit
        if limit is None or self.matches < limit:
            return True
        return depth < self.policy.whole and (self.matches == limit or depth < self.depth)

    def _is_meant(self) -> bool:
        return self.policy.kernel is None or self.policy.kernel == self.kernel

    @contextmanager
    def in_kernel(self, name: str) -> Generator[None]:
        """The block compiles the kernel called `name`."""
        before = self.kernel, self._seen, self.lost
        self.kernel, self._seen, self.lost = name, {}, {}
        try:
            yield
        finally:
            self.kernel, self._seen, self.lost = before


_current: Final[ContextVar[Applied | None]] = ContextVar("policy", default=None)
in_force: Final = _current.get
"""The policy of the running thread or task, or None."""


@contextmanager
def following(policy: Policy) -> Generator[Applied]:
    """Rewrites in the block follow `policy`, in place of any that was in force.

    A pass, the verifier or a renderer that cannot do without what it left out raises PolicyError,
    which names it. Nothing that is compiled under a policy is kept for later.
    """
    applied = Applied(policy)
    token = _current.set(applied)
    try:
        yield applied
    finally:
        _current.reset(token)


@contextmanager
def ignoring() -> Generator[None]:
    """No policy holds in the block: for what a result is compared with."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


class stage:
    """`with stage(name):` names what an error under a policy happened in. Raises PolicyError in
    place of any error, where a policy is in force."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, PolicyError):
            return
        applied = in_force()
        if applied is not None:
            raise PolicyError(
                f"{self._what(applied)}: {applied.policy}",
                where=f"{type(error).__name__}: {error}",
                hint=f"{self._name} needs it, or a pass before it left something undone",
            ) from error

    def _what(self, applied: Applied) -> str:
        """Which pass needs what was changed: the one that failed, where its own rules were changed
        or it is not known whose were, else the first of those before it that had others."""
        own = self._name.removeprefix("pass ")
        lost = [*applied.lost]
        if not lost or any(name == own or name.startswith(f"{own}: ") for name in lost):
            return f"{self._name} cannot do without what was changed"
        more = f" (or {lost[1]}{', ...' if len(lost) > 2 else ''})" if len(lost) > 1 else ""
        return f"pass {lost[0]}{more} left undone what {self._name} needs"
