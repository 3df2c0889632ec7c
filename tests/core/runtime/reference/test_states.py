"""Every state of a kernel, from its AST to the program that text is made of, runs and stores what
the AST stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from core import Tensor, Variable
from core.dtype import DType, dtypes
from core.errors import CompileError, UopvizError
from core.helpers import Context
from core.passes.pipeline import PASSES, TEXT_PASSES
from core.runtime.numeric import from_memory
from core.runtime.reference.inputs import Inputs, Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.states import State, kernel_states
from core.target import targets
from core.uop import Ops, UOp
from core.uop.engine.observe import recording
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.kernels import stores_of
from core.uop.patterns.policy import Policy, following
from core.uop.pointer import pointer_of
from tests.core.passes.programs import kernels_of, legal_opts, matrix_product, program
from tests.core.tile.running import dtypes_of, memory_of
from tests.core.tile.test_kernels import CASES as TILE_KERNELS
from tests.fuzzing import cases, seeds

Array = np.ndarray[Any, Any]
TARGETS = ("x86-64", "sm_90", "gfx942")
BY_HAND = ("softmax", "copy_half", "matmul", "layer_norm", "attention_128", "keys", "queries")
"""Kernels of tiles; those after the first one with --fuzz alone."""
SEED = 41
ROUNDED = 8
"""Units in the last place by which a result of approximated functions may be off."""


@dataclass(frozen=True)
class Case:
    """A kernel, opts for it by the family of the target (others: those chosen), which
    arguments it gets, and how many units in the last place its floats may be off."""

    make: Callable[[], Tensor]
    opts: dict[str, tuple[Opt, ...]]
    values: Values = Values.EXACT
    ulps: int = 0


def tensor(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor.empty(*shape, dtype=dtype)


def softmax() -> Tensor:
    return tensor(6, 20).softmax().fuse()


def in_place() -> Tensor:
    x = tensor(5, 12).contiguous().realize()
    return x.assign(x * 2 + tensor(5, 12))


def summed_in_part() -> Tensor:
    n = Variable("n", 1, 24).bind(9)
    return tensor(6, 24)[:, :n].sum(axis=1)


def product(dtype: str) -> Callable[[], Tensor]:
    return lambda: tensor(32, 16, dtype=dtype).matmul(tensor(16, 32, dtype=dtype), dtype="float32")


UPCAST = (Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UPCAST, 1, 4), Opt(OptOps.UNROLL, 0, 2))
GROUPED = (Opt(OptOps.GROUP, 0, 8), Opt(OptOps.UNROLL, 0, 4))
TILES = (Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.TC, 0, (-1, 2, 1)))
WARPS = (*TILES, Opt(OptOps.LOCAL, 0, 2))
PADDED = (Opt(OptOps.PADTO, 0, 8), Opt(OptOps.UPCAST, 0, 4))
CASES: dict[str, Case] = {
    "elementwise": Case(lambda: (tensor(9, 16) * tensor(9, 16) + 1).relu(), {}),
    "corners": Case(lambda: (tensor(99) * tensor(99)).maximum(tensor(99)), {}, Values.CORNERS),
    "integers": Case(
        lambda: (tensor(70, dtype="int32") // tensor(70, dtype="int32")) * 3, {}, Values.CORNERS
    ),
    "sum": Case(lambda: tensor(7, 40).sum(axis=1), {}),
    "cores": Case(lambda: tensor(8, 40).sum(axis=1), {"cpu": (Opt(OptOps.THREAD, 0, 0),)}),
    "maximum": Case(lambda: tensor(7, 40).max(axis=0), {}, Values.CORNERS),
    "softmax": Case(softmax, {}, Values.PLAIN, ROUNDED),
    "functions": Case(lambda: tensor(33).sin() + tensor(33).exp2(), {}, Values.PLAIN, 4),
    "product": Case(
        lambda: tensor(16, 12) @ tensor(12, 24), {"cpu": UPCAST, "nvidia": UPCAST, "amd": UPCAST}
    ),
    "padded": Case(lambda: (tensor(5, 7).pad(((1, 2), (0, 3))) + 1).flip(0), {}, Values.CORNERS),
    "padded loop": Case(lambda: tensor(13, 3).exp2(), {"cpu": PADDED, "amd": PADDED}, ulps=4),
    "rows": Case(lambda: tensor(50, 8)[tensor(6, dtype="int32")], {}, Values.CORNERS),
    "count": Case(lambda: Tensor.arange(37).reshape(37, 1) * tensor(1, 3, dtype="int32"), {}),
    "running sum": Case(lambda: tensor(3, 30).cumsum(1), {}),
    "window": Case(lambda: tensor(1, 2, 6, 6).conv2d(tensor(4, 2, 3, 3), padding=1), {}),
    "grouped": Case(lambda: tensor(4, 64).sum(axis=1), {"nvidia": GROUPED, "amd": GROUPED}),
    "grouped total": Case(lambda: tensor(512).max(), {}, Values.CORNERS),
    "tiles": Case(product("float16"), {"nvidia": TILES, "amd": TILES}),
    "warps": Case(product("bfloat16"), {"nvidia": WARPS, "amd": WARPS}),
    "halves": Case(lambda: tensor(40, dtype="float16") * tensor(40, dtype="float16"), {}),
    "narrow": Case(
        lambda: tensor(40).cast("fp8e4m3").cast("float32") + tensor(40).cast("bfloat16"), {}
    ),
    "narrower": Case(lambda: tensor(64, dtype="fp8e5m2").cast("fp8e4m3"), {}, Values.CORNERS),
    "bits": Case(lambda: tensor(40).bitcast("int32") ^ tensor(40, dtype="int32"), {}),
    "in place": Case(in_place, {}),
    "length": Case(summed_in_part, {}),
    "bools": Case(lambda: (tensor(45) < tensor(45)) & tensor(45, dtype="bool"), {}, Values.CORNERS),
}


def kernels_in(t: Tensor) -> list[UOp]:
    return [item.ast for item in t.schedule() if item.ast.op is Ops.SINK]


def off(found: Array, right: Array, dtype: DType) -> float:
    """How many units in the last place two arrays differ at most; infinite for other kinds."""
    if not dtypes.is_float(dtype):
        return 0.0 if np.array_equal(found, right) else np.inf
    a, b = found.astype(np.float64), right.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    a, b = a[~same], b[~same]
    if not (np.isfinite(a) & np.isfinite(b)).all():
        return np.inf
    info = dtypes.finfo(dtype)
    _, exponent = np.frexp(np.maximum(abs(a), abs(b)))
    least = int(np.log2(info.smallest_normal)) + 1
    return float((abs(a - b) / np.exp2(np.maximum(exponent, least) - 1.0 - info.mantissa)).max())


def stored(state: State, inputs: Inputs) -> dict[int, Array]:
    """What the arguments hold after a run, as numbers."""
    memory = inputs.copied()
    evaluate_kernel(state.root, memory, inputs.variables)
    return memory


def compare(ast: UOp, states: Sequence[State], inputs: Inputs, ulps: float, what: str) -> None:
    """Fails unless every state stores what the AST stores."""
    right = stored(State("ast", ast), inputs)
    kinds = {pointer_of(u.src[0]).arg: pointer_of(u.src[0]).dtype.base for u in stores_of(ast)}
    for state in states:
        found = stored(state, inputs)
        for number in right:
            dtype = kinds.get(number)
            if dtype is None:
                np.testing.assert_array_equal(found[number], inputs.buffers[number])
                continue
            a, b = (from_memory(m[number], dtype) for m in (found, right))
            assert off(a, b, dtype) <= ulps, f"{what}: after {state.name}"


def near(ast: UOp) -> int:
    """The units in the last place that sums of narrow floats may be off: a matrix instruction does
    not round the products, and the reference does."""
    narrow = any(
        dtypes.is_float(u.dtype) and u.dtype.itemsize < 4
        for u in ast.toposort()
        if u.op in (Ops.ADD, Ops.MUL, Ops.REDUCE_AXIS)
    )
    return 4 if narrow else 0


def check(ast: UOp, target: str, opts: Sequence[Opt] | None, case: Case, what: str) -> list[State]:
    states = list(kernel_states(ast, targets[target], opts))
    check_states(ast, states, case.values, case.ulps, what)
    return states


def check_states(ast: UOp, states: Sequence[State], values: Values, ulps: int, what: str) -> None:
    inputs = random_inputs(*(state.root for state in states), values=values)
    compare(ast, states, inputs, ulps, what)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "target"),
    [(n, t) for n in CASES for t in TARGETS if (n, t) != ("warps", "x86-64")],
)
def test_every_state_stores_what_the_ast_stores(name: str, target: str) -> None:
    case = CASES[name]
    opts = case.opts.get(targets[target].family)
    for ast in kernels_in(case.make()):
        states = check(ast, target, opts, case, f"{name} on {target}")
        assert [state.name for state in states][:2] == ["ast", "lower"]


def test_the_cases_have_what_states_may_hold() -> None:
    """Loops of every kind, vectors on the way, hardware indices, shared memory, barriers, products
    of matrices, gates, accumulators, operations and addresses of one machine."""
    ops: set[Ops] = set()
    kinds: set[AxisType] = set()
    for name in ("product", "cores", "grouped", "tiles", "warps", "length", "rows"):
        for target in TARGETS:
            opts = CASES[name].opts.get(targets[target].family)
            for ast in kernels_in(CASES[name].make()):
                for state in kernel_states(ast, targets[target], opts):
                    program = state.root
                    nodes = program.toposort() if isinstance(program, UOp) else program
                    ops.update(u.op for u in nodes)
                    kinds.update(u.arg[-1] for u in nodes if u.op is Ops.RANGE)
    assert kinds == set(AxisType)
    assert ops >= {
        Ops.VIEW, Ops.REDUCE, Ops.END, Ops.AFTER, Ops.SPECIAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG,
        Ops.BARRIER, Ops.WMMA, Ops.VECTORIZE, Ops.GEP, Ops.DEFINE_VAR, Ops.IF, Ops.ENDIF,
        Ops.ADDRESS, Ops.GROUP, Ops.MULACC,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "target"),
    [("product", "x86-64"), ("tiles", "sm_90"), ("grouped", "gfx942"), ("rows", "sm_90")],
)
def test_states_in_the_middle_of_a_pass(
    name: str, target: str, pytestconfig: pytest.Config
) -> None:
    """A pass that ends after some of its matches: what is left of the kernel before it, and what is
    new, run as one."""
    opts = CASES[name].opts.get(targets[target].family)
    (ast,) = kernels_in(CASES[name].make())
    states = list(kernel_states(ast, targets[target], opts))
    inputs = random_inputs(*(state.root for state in states), values=CASES[name].values)
    steps = {step.name: step for step in (*PASSES, *TEXT_PASSES["ptx"])}
    del steps["optimize"]  # which needs each of its rewrites for the next
    found: list[State] = []
    rng, tries = Random(SEED), cases(pytestconfig, 3)
    for before, after in pairwise(states):
        if after.name not in steps or not isinstance(before.root, UOp):
            continue
        function = steps[after.name].function
        with recording() as recorded:
            function(before.root, targets[target])
        count = len(recorded.matches)
        for limit in rng.sample(range(1, max(2, count)), min(max(1, count - 1), tries)):
            with Context(SPEC=0), following(Policy(limit=limit)), suppress(UopvizError):
                part = function(before.root, targets[target])
                found.append(State(f"{limit} matches of {after.name}", part))
    assert len(found) > 15
    compare(ast, found, inputs, 0, f"{name} on {target}")


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_states_of_kernels_written_by_hand(target: str, pytestconfig: pytest.Config) -> None:
    """With lanes of a warp that exchange values; they enter after `lower`."""
    for name in BY_HAND[: cases(pytestconfig, 1)]:
        case = TILE_KERNELS[name](target)
        kinds = dtypes_of(case.ast)
        for state in kernel_states(case.ast, targets[target]):
            memory = [memory_of(a, d) for a, d in zip(case.arrays, kinds, strict=True)]
            evaluate_kernel(state.root, memory)
            found = zip(memory, kinds, case.arrays, strict=True)
            case.check([from_memory(m, d).reshape(a.shape) for m, d, a in found])


@pytest.fixture(scope="module")
def numbers(pytestconfig: pytest.Config) -> list[int]:
    return seeds(pytestconfig, 4, 700)


def test_states_of_random_kernels(numbers: list[int]) -> None:
    """Random programs under random opts, for every target in turn."""
    for number in numbers:
        rng = Random(number)
        target = TARGETS[number % len(TARGETS)]
        t = matrix_product(rng) if number % 2 else program(rng)
        for ast in kernels_of(rng, t):
            try:
                opts = legal_opts(rng, ast, targets[target], 0.5)
                states = list(kernel_states(ast, targets[target], opts))
            except CompileError:  # what does not fit the target
                continue
            what = f"seed {number} on {target}, opts {opts}"
            check_states(ast, states, Values.EXACT, near(ast), what)
