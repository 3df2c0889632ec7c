"""How values in memory were computed: what gradients continue with once a value is stored.

When a value is stored, the graphs of Tensors name its BUFFER and forget what computed it. For a
BUFFER that gradients flow through, the expression is kept here: of what is in memory already, so
that nothing is computed twice, and up to date, like the graph of a Tensor. Expressions make no
cycle: that of a BUFFER names others that were stored before, which live as long as it does. Never
keeps a BUFFER for its own sake, and never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from weakref import WeakKeyDictionary, ref

from core.errors import GradientError
from core.gradients.gradient import gradients, ways
from core.tensor.running import lost
from core.tensor.state.base import TensorBase, live
from core.tensor.state.live import memory_of
from core.uop.ops import Ops
from core.uop.uop import UOp


class Kept:
    """The expression that computed what is in a BUFFER. `uop` is a SINK of it: no value, which
    could be stored again."""

    __slots__ = ("__weakref__", "_uop", "buffer")

    def __init__(self, buffer: UOp, expression: UOp) -> None:
        self.buffer = ref(buffer)
        self.uop = UOp.sink(expression)

    @property
    def uop(self) -> UOp:
        """A SINK of the expression."""
        return self._uop

    @uop.setter
    def uop(self, uop: UOp) -> None:
        self._uop = uop
        live.add_storage(self)

    @property
    def expression(self) -> UOp:
        """As many elements as the BUFFER has, in row-major order."""
        return self._uop.src[0]


_kept: WeakKeyDictionary[UOp, Kept] = WeakKeyDictionary()


def keep(buffer: UOp, expression: UOp) -> None:
    """Gradients that flow to a BUFFER flow on to what `expression` is made of."""
    _kept[buffer] = Kept(buffer, expression)


def forget(buffer: UOp) -> UOp | None:
    """The expression of a BUFFER, which has none from now on."""
    found = _kept.pop(buffer, None)
    return None if found is None else found.expression


def is_kept(buffer: UOp) -> bool:
    """Whether the expression of a BUFFER is known."""
    return buffer in _kept


def readers(nodes: Collection[UOp]) -> list[Kept]:
    """What is kept that reads one of some BUFFERs or other nodes."""
    if not nodes or not _kept:
        return []
    return [t for t in live.above(dict.fromkeys(nodes))[1] if isinstance(t, Kept)]


def cut(gone: Iterable[Kept]) -> None:
    """Marks BUFFERs as lost, and all that only leads a gradient on to them: what they were computed
    from is released."""
    stack = list(gone)
    while stack:
        buffer = stack.pop().buffer()
        if buffer is not None and _kept.pop(buffer, None) is not None:
            lost.mark(buffer)
            stack += [k for k in readers([buffer]) if is_cut_off(k.expression)]


def cut_at(written: Collection[UOp]) -> None:
    """Cuts what is in some BUFFERs, and what is computed from that: they are overwritten."""
    found = readers(written)
    cut([*(_kept[buffer] for buffer in written if buffer in _kept), *found])


def is_cut_off(uop: UOp) -> bool:
    """Whether a gradient that flows to `uop`, or to another output of the same kernel, flows on to
    where it is lost."""
    end = uop.src[0] if uop.op is Ops.OUTPUT else uop
    return any(lost.is_lost(u) for u in _leading(end))


def is_leaf(uop: UOp) -> bool:
    """Whether a value is in memory, or is stored in some when it is computed, and no gradient flows
    on from there."""
    memory = memory_of(uop)
    if memory is not uop.base:  # detached
        return memory.op in (Ops.BUFFER, Ops.ASSIGN)
    if memory.op is Ops.BUFFER:
        return memory not in _kept and not lost.is_lost(memory)
    return memory.op is Ops.ASSIGN and not leads(memory.src[1])


def leads(uop: UOp) -> bool:
    """Whether a gradient that flows to `uop` reaches a Tensor that requires one, or is lost."""
    graph = _leading(uop)
    if any(u in _kept or lost.is_lost(u) for u in graph):
        return True
    return any(isinstance(t, TensorBase) and t.requires_grad for t in live.named_in(graph))


def _leading(uop: UOp) -> Collection[UOp]:
    """The nodes that a gradient may flow on to, `uop` included."""
    done: dict[UOp, None] = {uop: None}
    stack = [uop]
    while stack:
        for s in ways(stack.pop()):
            if s not in done:
                done[s] = None
                stack.append(s)
    return done.keys()


def sources(u: UOp) -> tuple[UOp, ...]:
    """What a node reads: of an ASSIGN not its target."""
    return u.src[1:] if u.op is Ops.ASSIGN else u.src


def expand(
    ends: Iterable[UOp],
    inside: Callable[[UOp], UOp | None],
    new: dict[UOp, UOp],
    below: Callable[[UOp], tuple[UOp, ...]] = sources,
) -> None:
    """Adds to `new` what `ends`, and all nodes `below` them, are once each BUFFER that `inside` has
    an expression for is that expression, and so on within it."""
    stack = list(ends)
    while stack:
        u = stack[-1]
        if u in new:
            stack.pop()
            continue
        value = inside(u) if u.op is Ops.BUFFER else None
        needed = below(u) if value is None else (value,)
        if todo := [s for s in needed if s not in new]:
            stack += reversed(todo)
        elif value is not None:
            new[u] = _flat(new[value], u)
        elif needed:
            others = u.src[: len(u.src) - len(needed)]  # the target of an ASSIGN
            new[u] = u.rebuild((*others, *(new[s] for s in needed)))
        else:
            new[u] = u


def _flat(value: UOp, buffer: UOp) -> UOp:
    """A value in the shape of the BUFFER that it is stored in."""
    if value.shape == buffer.shape:
        return value
    return UOp(Ops.RESHAPE, value.dtype, (value,), buffer.shaped, origin=value.origin)


def flow(root: UOp, seed: UOp, targets: Iterable[UOp]) -> dict[UOp, UOp]:
    """`gradients`, by way of what is kept. Values that are in memory are read from there.

    Raises GradientError where a value that it needs was overwritten, or that of a Tensor that
    requires a gradient.
    """
    used: dict[UOp, UOp] = {}

    def inside(buffer: UOp) -> UOp | None:
        found = _kept.get(buffer)
        return None if found is None else used.setdefault(buffer, found.expression)

    new: dict[UOp, UOp] = {}
    expand([root], inside, new, ways)
    gone = [new[u] for u in lost.lost_among(new)]
    wanted = {t: new[t] for t in targets if t in new}
    found = gradients(new[root], seed, [*wanted.values(), *gone])
    if not found.keys().isdisjoint(gone):
        raise _overwritten("a Tensor that requires a gradient was", "before the Tensor is changed")
    result = UOp.sink(*(found[t] for t in wanted.values() if t in found))
    if used:
        # an ASSIGN is done once, by the node that all who read it afterwards have in common
        pending = {u: u for u in root.toposort() if u.op is Ops.ASSIGN}
        result = result.substitute(_memory(used, new) | pending)
        if lost.reads_former(result):
            raise _overwritten("memory that the gradient is computed from was", "before that")
    grads = iter(result.src)
    return {t: next(grads) for t in wanted if wanted[t] in found}


def _memory(used: Mapping[UOp, UOp], new: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """Where the values of expressions are, and the nodes as they were, by what `expand` made."""
    found: dict[UOp, UOp] = {}
    for buffer, expression in used.items():
        value = new[expression]
        while value.base.op is not Ops.BUFFER:
            found.setdefault(value, buffer.reshape(value.shaped))
            if value.op not in (Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD):
                break
            value = value.src[0]
        if expression.op is Ops.OUTPUT:
            for k in readers(expression.src):
                other, memory = k.expression, k.buffer()
                if other.src == expression.src and memory is not None:
                    value = other.rebuild((new[expression.src[0]],))
                    found.setdefault(value, memory.reshape(other.shaped))
    for u, made in new.items():
        if made is not u and made.base.op is not Ops.BUFFER:
            found.setdefault(made, u)
    return found


def _overwritten(what: str, when: str) -> GradientError:
    return GradientError(
        f"{what} changed in place after it was used here",
        hint=f"call backward() {when}, or use x.detach() of what needs no gradient",
    )
