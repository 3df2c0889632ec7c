"""Random rewrites of kernels, what the checker answers, and what the reference computes.

Each rewrite follows from its seed. Neighbouring seeds are of one kernel, which is compiled once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final

import numpy as np

from core.dtype import DType, dtypes
from core.errors import AccessError, UopvizError
from core.prove.decide import Checker
from core.prove.loops import same_work
from core.prove.samples.rounding import signs_open
from core.prove.verdict import Verdict
from core.runtime.numeric import Array, from_memory
from core.runtime.reference.inputs import Inputs, Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.states import State, kernel_states
from core.uop import Ops, UOp
from core.uop.show import graph_text
from tests.core.passes.kernels import CASES, CPU, GPU
from tests.core.prove.mutations import MUTATIONS, RIGHT, Mutation

PER_KERNEL: Final = 32
"""Neighbouring seeds whose rewrites are of one kernel."""
MAX_NODES: Final = 400
"""Nodes of a state that is rewritten."""
TRIES: Final = 64
"""Nodes and mutations that are tried until one applies."""
INPUTS: Final = (Values.EXACT, Values.PLAIN, Values.CORNERS)


@dataclass(frozen=True)
class Rewrite:
    """One step: `before` becomes `after`, in a kernel that is `sink` and becomes `result`."""

    where: str
    mutation: Mutation
    before: UOp
    after: UOp
    sink: UOp
    result: UOp

    def __str__(self) -> str:
        title = f"{self.mutation.__name__} ({self.mutation.__doc__}), in {self.where}"
        return f"{title}\n{graph_text(self.before)}\nbecomes\n{graph_text(self.after)}"


@lru_cache(maxsize=2)
def _states(number: int) -> tuple[str, tuple[State, ...]]:
    """A random kernel for a random target: its name, and the states that are graphs."""
    rng = Random(number)
    case, target = rng.choice(CASES)(), rng.choice((CPU, GPU))
    states = [s for s in kernel_states(case.ast, target) if isinstance(s.root, UOp)]
    small = tuple(s for s in states if len(_root(s).toposort()) <= MAX_NODES)
    return f"{case.name} for {target.name}", small


def _root(state: State) -> UOp:
    assert isinstance(state.root, UOp)
    return state.root


def random_rewrite(seed: int) -> Rewrite | None:
    """The rewrite of a seed; None where no mutation was found that applies."""
    name, states = _states(seed // PER_KERNEL)
    rng = Random(seed)
    if not states:
        return None
    state = rng.choice(states)
    sink = _root(state)
    nodes = list(sink.toposort())
    for _ in range(TRIES):
        u, mutation = rng.choice(nodes), rng.choice(MUTATIONS)
        try:
            mutated = mutation(u, nodes, rng)
            if mutated is None or mutated is u:
                continue
            root = rng.choice(_roots(u, nodes))
            after = root.substitute({u: mutated})
            result = sink.substitute({root: after})
        except UopvizError:
            continue  # there is no such node
        if after is not root:
            return Rewrite(f"{name}, {state.name}", mutation, root, after, sink, result)
    return None


def _roots(u: UOp, nodes: list[UOp]) -> list[UOp]:
    """The nodes of which a change of `u` may be a rewrite: itself, one that uses it, the kernel. A
    loop is not replaced by another one, nor is what says where to write: the rest would not fit."""
    users = [v for v in nodes if u in v.src]
    return [nodes[-1], *users, *([] if u.op is Ops.RANGE else [u, u])]


def answer(checker: Checker, rewrite: Rewrite) -> Verdict:
    """What is known of a rewrite, as in a check of steps."""
    found = checker.check(rewrite.before, rewrite.after)
    if found.kind == "unchecked":
        how = same_work(rewrite.before, rewrite.after, rewrite.sink, rewrite.result)
        return Verdict("proved", how) if how else found
    return found


def claims_equal(found: Verdict) -> bool:
    """Whether an answer says that the very same is computed. Without z3, integers are sampled,
    as the hint of such an answer says: it claims less."""
    return found.kind in ("proved", "sampled") and not found.ulps and not found.hint


def is_wrong(rewrite: Rewrite, found: Verdict) -> str | None:
    """Why an answer is wrong; None where it is right, or claims too little to be wrong."""
    if found.kind == "differs" and rewrite.mutation in RIGHT:
        return "the same is computed"
    return difference(rewrite) if claims_equal(found) else None


def difference(rewrite: Rewrite, kinds: Sequence[Values] = INPUTS) -> str | None:
    """What a kernel stores otherwise after a rewrite; None where all is the same for some inputs,
    and where the kernel cannot be run. Zeros have signs unless the kernel leaves these open."""
    either = signs_open(rewrite.sink) or signs_open(rewrite.result)
    for values in kinds:
        try:
            inputs = random_inputs(rewrite.sink, rewrite.result, values=values)
            before = _stored(rewrite.sink, inputs)
        except UopvizError:
            return None
        try:
            after = _stored(rewrite.result, inputs)
        except AccessError as error:
            return f"inputs {values.value}: {error.what}"
        except UopvizError:
            return None
        for number, (dtype, array) in before.items():
            changed = np.flatnonzero(~_same(dtype, array, after[number][1], either))
            if len(changed):
                at = int(changed[0])
                x, y = array[at], after[number][1][at]
                return f"inputs {values.value}: argument {number}, element {at} is {x}, then {y}"
    return None


def _stored(state: UOp, inputs: Inputs) -> dict[int, tuple[DType, Array]]:
    """The arguments of a kernel after a run."""
    buffers = inputs.copied()
    with np.errstate(all="ignore"):
        evaluate_kernel(state, buffers, inputs.variables)
    memories = [u for u in state.toposort() if u.op is Ops.DEFINE_GLOBAL]
    return {u.arg: (u.dtype.base, from_memory(buffers[u.arg], u.dtype.base)) for u in memories}


def _same(dtype: DType, x: Array, y: Array, either: bool) -> Array:
    if not dtypes.is_float(dtype):
        return x == y
    signs = (x != 0) | (np.signbit(x) == np.signbit(y)) | either
    return ((x == y) & signs) | ((x != x) & (y != y))
