"""`Rule`: a pattern, the function that answers a match, and where the two are written.

A declaration is checked when it is made: a function that asks for a name which its pattern does not
bind raises PatternError at import. Never matches anything by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from core.errors import PatternError
from core.uop.patterns.compiled import Call, compile_match
from core.uop.patterns.upat import MAX_VARIANTS, UPat


class Assumes(StrEnum):
    """What a rule gives up: where it does not hold, the replacement may mean something else."""

    NO_NAN = "no value is NaN"
    FINITE = "every value is finite"
    EITHER_ZERO = "zero has no sign"
    ACCURACY = "the accuracy that docs/numerics.md states is enough"
    CONTEXT = "the other steps of its pass: it is right together with them alone"


class Variant:
    """One way to match a rule: a pattern without any-ofs, and its code, compiled at first use."""

    def __init__(self, rule: Rule, pattern: UPat, call: Call) -> None:
        self.rule = rule
        self.pattern = pattern
        self.call = call

    @cached_property
    def plain(self) -> Callable[[Any, Any], Any]:
        """`match(node, ctx)`: the result of the first match that is not declined, or None."""
        return compile_match(self.pattern, self.call, self.rule.name)

    @cached_property
    def observed(self) -> Callable[[Any, Any, Callable[[Rule, Any, int], None]], Any]:
        """`match(node, ctx, declined)`: (result, bindings, nanoseconds), or None."""
        return compile_match(self.pattern, self.call, self.rule.name, declining=self.rule)


class Rule:
    """One rewrite rule.

    `function` is called with the nodes that the pattern binds, by name, and with the context object
    of the rewrite as `ctx`, if it has such a parameter. It returns the replacement, or None to
    decline. `doc` is the function's docstring; its first paragraph is the equation that users see.
    `changes_type`: the replacement may have another dtype or shape than the node. `assumes`: what
    has to hold for the replacement to mean the same.
    """

    def __init__(
        self,
        pattern: UPat,
        function: Callable[..., Any],
        name: str | None = None,
        *,
        changes_type: bool = False,
        fallback: str = "",
        assumes: Sequence[Assumes] = (),
    ) -> None:
        self.pattern = pattern
        self.function = function
        self.file, self.line = _place(function, fallback)
        self.name = name or _name_of(function, self.file, self.line)
        self.doc = inspect.cleandoc(function.__doc__ or "")
        self.changes_type = changes_type
        self.assumes = tuple(assumes)
        self.variants = self._check()

    @property
    def equation(self) -> str:
        """The first paragraph of the docstring, as one line."""
        return " ".join(self.doc.partition("\n\n")[0].split())

    @cached_property
    def source(self) -> str:
        """The text of the function; empty where Python cannot find it."""
        try:
            return inspect.getsource(self.function)
        except (OSError, TypeError):
            return ""

    @property
    def place(self) -> str:
        """ "file:line" of the function."""
        return f"{self.file}:{self.line}"

    def __repr__(self) -> str:
        return f"Rule({self.name}, {self.place})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself."""
        return self.function(*args, **kwargs)

    def _check(self) -> tuple[Variant, ...]:
        """The variants of the pattern, after checking the function against each."""
        patterns: list[UPat] = []
        for p in self.pattern.variants():
            patterns.append(p)
            if len(patterns) > MAX_VARIANTS:
                raise PatternError(
                    f"rule {self.name} has more than {MAX_VARIANTS} variants",
                    where=self.place,
                    hint="each any-of multiplies them; write several rules",
                )
        try:
            signature = inspect.signature(self.function).parameters.values()
        except (ValueError, TypeError) as error:
            raise PatternError(
                f"the parameters of rule {self.name} cannot be seen",
                where=self.place,
                hint="wrap the function in a lambda",
            ) from error
        named: list[str] = []
        anything = False
        for parameter in signature:
            if parameter.kind is parameter.VAR_KEYWORD:
                anything = True
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
                raise PatternError(
                    f"rule {self.name} takes {parameter}, which is not a name",
                    where=self.place,
                    hint="parameters are the names that the pattern binds, and ctx",
                )
            else:
                named.append(parameter.name)
                if parameter.default is parameter.empty and parameter.name != "ctx":
                    self._require_bound(parameter.name, patterns)
        call = Call(self.function, tuple(named), anything)
        return tuple(Variant(self, p, call) for p in patterns)

    def _require_bound(self, name: str, patterns: list[UPat]) -> None:
        missing = [p for p in patterns if name not in p.names()]
        if not missing:
            return
        bound = ", ".join(sorted(self.pattern.names())) or "nothing"
        some = len(missing) < len(patterns)
        raise PatternError(
            f"rule {self.name} takes {name!r}, which its pattern "
            + ("binds in some of its alternatives only" if some else "does not bind"),
            where=f"{self.place}\n{missing[0]!r}",
            hint=f"give {name!r} a default value" if some else f"the pattern binds {bound}",
        )


def rule(
    pattern: UPat,
    *,
    name: str | None = None,
    changes_type: bool = False,
    assumes: Sequence[Assumes] = (),
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the function answers matches of `pattern`. See `Rule`. Raises PatternError."""
    return lambda function: Rule(
        pattern, function, name, changes_type=changes_type, assumes=assumes
    )


def _place(function: Callable[..., Any], fallback: str) -> tuple[str, int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        return str(code.co_filename), int(code.co_firstlineno)
    file, _, line = fallback.rpartition(":")
    return file, int(line or 0)


def _name_of(function: Callable[..., Any], file: str, line: int) -> str:
    name = getattr(function, "__name__", "") or type(function).__name__
    if name != "<lambda>":
        return name
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{line}"
