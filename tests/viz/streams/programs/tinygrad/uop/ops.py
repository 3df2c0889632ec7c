"""A stand-in for the compiler that a tap is for: the names, attributes and arguments that the tap
uses, and an engine that rebuilds users of what was replaced without telling anybody."""

from __future__ import annotations

import dataclasses
import enum
import functools


class Ops(enum.Enum):
    CONST, ADD, MUL, NEG, SINK, PROGRAM, SOURCE = range(7)


class Setting:
    def __init__(self, value):
        self.value = value

    def __ge__(self, other):
        return self.value >= other


TRACK_MATCH_STATS = Setting(0)
KNOWN = {}


@dataclasses.dataclass(eq=False)
class UOp:
    op: Ops
    dtype: str = "int"
    src: tuple = ()
    arg: object = None
    tag: object = None

    @staticmethod
    def of(op, *src, arg=None):
        key = op, src, arg
        return KNOWN.setdefault(key, UOp(op, "int", src, arg))


class UPat:
    def __init__(self, op, name=None, src=None, location=(__file__, 1)):
        self.op, self.name, self._in_src, self.location = (op,), name, src, location
        self.arg = self.match_dtype = None
        self.is_any, self.strict_length = False, True

    def match(self, uop, store):
        if uop.op not in self.op:
            return []
        if self.name is not None:
            store = {**store, self.name: uop}
        if self._in_src is None:
            return [store]
        for pattern, source in zip(self._in_src, uop.src, strict=True):
            found = pattern.match(source, store)
            if not found:
                return []
            store = found[0]
        return [store]


class PatternMatcher:
    def __init__(self, patterns):
        self.patterns, self.pdict = patterns, {}
        for pattern, function in patterns:
            entry = [pattern, functools.partial(self._try, pattern, function), set()]
            for op in pattern.op:
                self.pdict.setdefault(op, []).append(entry)

    @staticmethod
    def _try(pattern, function, uop, ctx):
        found = pattern.match(uop, {})
        return function(**found[0]) if found else None

    def rewrite(self, uop, ctx=None):
        for _, match, early in self.pdict.get(uop.op, []):
            if early.issubset({s.op for s in uop.src}):
                made = match(uop, ctx)
                if made is not None and made is not uop:
                    return made
        return None


def rewrite_group(name=True, replay=False, new_ctx=True):
    def decorate(function):
        return lambda *args, **kwargs: function(*args, **kwargs)

    return decorate


def graph_rewrite(sink, pm, ctx=None, bottom_up=False, name=None):
    known = {}

    def visit(node):
        if node not in known:
            new = UOp.of(node.op, *map(visit, node.src), arg=node.arg)
            made = pm.rewrite(new, ctx)
            known[node] = new if made is None else visit(made)
        return known[node]

    return visit(sink)
