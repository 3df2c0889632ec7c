"""Images in kernels: each rule by itself, and what it leaves of a value."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from core import Tensor
from core.dtype import IMAGE_SIDE, ImageDType, dtypes
from core.errors import CompileError, DTypeError
from core.passes.images import in_two_coordinates, plain_memory
from core.passes.pipeline import lower_kernel, run_passes
from core.passes.schedule.simplify.simplify_tensors import simplification
from core.prove.decide import Checker
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.uop import Ops, PatternMatcher, UOp, graph_rewrite
from core.uop.engine.observe import recording
from core.uop.kernelinfo import KernelInfo
from core.uop.pointer import image_of, texel_at
from tests.core.passes.images import Gated, Line, gated_read, kernel, loop, numbers, read
from tests.fuzzing import seeds

OPENCL, CPU = targets["opencl"], targets["x86-64"]
CASES = 10
"""Random loads of a seed."""
IMAGE = dtypes.imagef((5, 6, 4))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 3, 0))


def fired(graph: UOp, matcher: PatternMatcher, name: str) -> tuple[UOp, list[str]]:
    """The graph rewritten, and the rules of the matcher that did it."""
    with recording() as steps:
        found = graph_rewrite(graph, matcher, name=name)
    own = {r.name for r in matcher.rules}
    return found, [rule for rule in steps.rules if rule in own]


def images_in(root: UOp) -> list[ImageDType]:
    return [u.dtype for u in root.toposort() if isinstance(u.dtype, ImageDType)]


def values(shape: tuple[int, ...] = (5, 24)) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), device="CPU")


# the Tensor graph


def test_a_cast_to_the_same_image_is_removed() -> None:
    x = values()
    twice = x.cast(IMAGE).cast(IMAGE)
    found, rules = fired(UOp.sink(twice.uop), simplification, "images")
    assert "same_image" in rules
    assert sum(u.op is Ops.CONTIGUOUS for u in found.toposort()) == 1
    assert found.src[0] is fired(UOp.sink(x.cast(IMAGE).uop), simplification, "images")[0].src[0]


@pytest.mark.parametrize(
    "kind",
    [dtypes.imagef((5, 5, 4)), dtypes.imagef((IMAGE_SIDE + 1, 1, 4)), dtypes.imageh((4, 6, 4))],
    ids=str,
)
def test_what_cannot_be_an_image_is_none(kind: ImageDType) -> None:
    x = values()
    found, rules = fired(UOp.sink(x.cast(kind).uop), simplification, "images")
    assert "no_image" in rules and not images_in(found)
    np.testing.assert_array_equal(x.cast(kind).numpy(), x.numpy())


def test_a_constant_is_no_image() -> None:
    x = Tensor.full((5, 24), 0.1, device="CPU").cast(dtypes.imageh((5, 6, 4)))
    found, _ = fired(UOp.sink(x.uop), simplification, "images")
    assert not images_in(found)
    assert x.numpy()[0, 0] == np.float32(np.float16(0.1))


def test_what_is_read_are_floats() -> None:
    """After an INDEX the base dtype holds, of floats kept in 16 bits, too."""
    for kind in (IMAGE, dtypes.imageh((5, 6, 4))):
        (store, load) = ((values() * 2).cast(kind) + 1).schedule()
        assert [b.dtype for b in store.bufs] == [kind, dtypes.float32]
        loads = [u for u in load.ast.toposort() if u.op is Ops.LOAD]
        assert loads and all(u.dtype is dtypes.float32 for u in loads)
        assert not any(u.op is Ops.CAST for u in load.ast.toposort())


def test_an_image_is_computed_once() -> None:
    """Before what reads it several times."""
    x = values((6, 4)).exp2().cast(dtypes.imagef((6, 1, 4)))
    store, *others = (x.reshape(6, 1, 4) * x.reshape(1, 6, 4)).sum(-1).schedule()
    assert any(u.op is Ops.EXP2 for u in store.ast.toposort())
    assert not any(u.op is Ops.EXP2 for k in others for u in k.ast.toposort())


def test_texels_go_along_the_last_axis() -> None:
    """Of a value whose last axis is no multiple of four, too."""
    x = values((6, 10))
    found = (x * 3).cast(dtypes.imagef((5, 3, 4)))
    np.testing.assert_array_equal((found + 1).numpy(), x.numpy() * 3 + 1)


def test_between_images_of_other_shapes_is_a_kernel() -> None:
    first = (values() * 2).cast(IMAGE)
    assert len((first.cast(dtypes.imagef((10, 3, 4))) + 1).schedule()) == 3
    assert len((first.cast(IMAGE) + 1).schedule()) == 2


def test_shapes_of_images_are_checked() -> None:
    for shape in ((4, 4), (4, 4, 3), (0, 4, 4)):
        with pytest.raises(DTypeError, match="images have shapes"):
            dtypes.imagef(shape)


def test_gradients_pass() -> None:
    x = values((4, 8))
    x.requires_grad = True
    (x * 3).cast(dtypes.imagef((4, 2, 4))).square().sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), x.numpy() * 18)


# kernels


def evaluated(ast: UOp, image: ImageDType, size: int) -> object:
    memory = [np.zeros(size, np.float32), numbers(image)]
    evaluate_kernel(ast, memory, {})
    return memory[0]


def image_loads(sink: UOp) -> list[UOp]:
    return [u for u in sink.toposort() if u.op is Ops.LOAD and image_of(u.src[0]) is not None]


def test_loads_are_whole_texels() -> None:
    a = loop(30, 0)
    lanes = loop(4, 1)
    ast = kernel(IMAGE, (a, lanes), read(IMAGE, a * 4 + lanes))
    found = run_passes(ast, OPENCL)
    (load,) = image_loads(found)
    assert load.dtype is dtypes.float32.vec(4)
    np.testing.assert_array_equal(evaluated(found, IMAGE, 120), numbers(IMAGE))


def test_a_part_of_a_texel_is_chosen() -> None:
    a = loop(39, 0)
    ast = kernel(IMAGE, (a,), read(IMAGE, a * 3 + 1))
    found = run_passes(ast, OPENCL)
    assert all(u.dtype is dtypes.float32.vec(4) for u in image_loads(found))
    np.testing.assert_array_equal(evaluated(found, IMAGE, 39), numbers(IMAGE)[1:118:3])


def test_an_element_of_a_known_texel_is_taken() -> None:
    a = loop(15, 0)
    found = run_passes(kernel(IMAGE, (a,), read(IMAGE, a * 8 + 5)), OPENCL)
    assert not any(u.op is Ops.WHERE for u in found.toposort())
    np.testing.assert_array_equal(evaluated(found, IMAGE, 15), numbers(IMAGE)[5::8])


def test_texels_have_two_coordinates() -> None:
    a, b = loop(5, 0), loop(6, 1)
    at = UOp(Ops.DEFINE_GLOBAL, IMAGE.ptr(), (), 1).index((a * 6 + b) * 4)
    found, rules = fired(at.load(dtype=dtypes.float32.vec(4)), in_two_coordinates, "images")
    assert rules == ["coordinates"]
    assert found.src[0].src[1].src == (b, a)


def gated(gate: Callable[[UOp, UOp], UOp], x: Callable[[UOp, UOp], UOp]) -> list[str]:
    """The rules that a load of the texel x(a, b) of row 2 makes fire, under gate(a, b)."""
    a, b = loop(4, 0), loop(5, 1)
    pointer = UOp(Ops.DEFINE_GLOBAL, IMAGE.ptr(), (), 1)
    at = UOp.vectorize(x(a, b).simplify(), UOp.const(dtypes.index, 2))
    place = texel_at(pointer, at, gate(a, b).simplify())
    vector = dtypes.float32.vec(4)
    found, rules = fired(
        place.load(UOp.const(vector, 0.0), dtype=vector), in_two_coordinates, "images"
    )
    assert (len(found.src[0].src) == 2) == bool(rules)
    return rules


def test_a_gate_of_a_sum_of_at_least_one_is_dropped() -> None:
    assert gated(lambda a, b: a * 3 + b >= 1, lambda a, b: a + b * 2 - 1) == ["gate_of_sum"]
    assert gated(lambda a, b: a * 3 + b >= 1, lambda a, b: a + b * 2) == []


def test_a_gate_of_a_bound_is_dropped() -> None:
    assert gated(lambda a, b: a + b < 4, lambda a, b: a + b + 2) == ["gate_of_bound"]
    assert gated(lambda a, b: a + b < 4, lambda a, b: a * 2 + b * 2 - 1) == ["gate_of_bound"]
    assert gated(lambda a, b: a + b < 4, lambda a, b: a + b + 1) == []
    assert gated(lambda a, b: a >= 1, lambda a, b: a - 1) == ["gate_of_bound"]


def test_a_gate_stays_where_something_else_is_the_alternative() -> None:
    a = loop(4, 0)
    pointer = UOp(Ops.DEFINE_GLOBAL, IMAGE.ptr(), (), 1)
    place = texel_at(pointer, UOp.vectorize(a - 1, a), a >= 1)
    vector = dtypes.float32.vec(4)
    for other in (1.0, -0.0):
        load = place.load(UOp.const(vector, other), dtype=vector)
        assert fired(load, in_two_coordinates, "images") == (load, [])


def test_random_gated_loads(seed: int) -> None:
    rng = Random(seed)
    for _ in range(CASES):
        case = gated_read(rng)
        size = 4 * case.lengths[0] * case.lengths[1]
        found = evaluated(run_passes(case.ast, OPENCL), case.image, size)
        np.testing.assert_array_equal(found, case.computed(numbers(case.image)), str(case))


def test_gates_of_a_padded_image_are_dropped() -> None:
    """All four of them: each keeps the load inside."""
    case = Gated(IMAGE, (7, 8), Line(0, 1, -1), Line(1, 0, -1), None)
    loads = image_loads(run_passes(case.ast, OPENCL))
    assert loads and all(len(u.src[0].src) == 2 and len(u.src) == 1 for u in loads)


def test_a_store_that_is_no_texel_is_an_error() -> None:
    a = loop(40, 0)
    pointer = UOp(Ops.DEFINE_GLOBAL, IMAGE.ptr(), (), 0)
    value = UOp.const(dtypes.float32, 1.0)
    sink = UOp.sink(pointer.index(a * 3).store(value).end(a), arg=KernelInfo())
    with pytest.raises(CompileError, match="not all of a texel"):
        run_passes(sink, OPENCL)
    run_passes(sink, CPU)


def test_opts_keep_the_lanes_of_a_texel() -> None:
    store, _ = ((values() * 2).cast(IMAGE) + 1).schedule()
    for opts in (None, ()):
        uops = lower_kernel(store.ast, OPENCL, opts)
        (stored,) = (u for u in uops if u.op is Ops.STORE)
        assert stored.src[1].dtype is dtypes.float32.vec(4)


def test_targets_without_images_have_plain_memory() -> None:
    store, load = ((values() * 2).cast(dtypes.imageh((5, 6, 4))) + 1).schedule()
    for target in (CPU, targets["sm_90"], targets["gfx1100"], targets["webgpu"]):
        for k in (store, load):
            uops = lower_kernel(k.ast, target)
            assert not any(image_of(u) is not None for u in uops)
            kinds = {u.dtype.base.scalar() for u in uops if u.op is Ops.DEFINE_GLOBAL}
            assert kinds == {dtypes.float16, dtypes.float32}


@pytest.mark.parametrize("kind", [IMAGE, dtypes.imageh((5, 6, 4))], ids=str)
def test_an_image_and_its_plain_memory_are_one_argument(kind: ImageDType) -> None:
    """As the check sees it, read and stored to: of the same place they are equal, of another one or
    with another value not. What an image of float16 keeps is rounded."""
    at, value = UOp.variable("at", 0, 40), UOp.variable("value", 0, 9).cast(dtypes.float32)
    place = UOp(Ops.DEFINE_GLOBAL, kind.ptr(), (), 0).index(at)
    for before, part, other in (
        (read(kind, at), at, at + 1),
        (place.store(value), at, at + 1),
        (place.store(value), value, value + 1.0),
    ):
        after = graph_rewrite(before, plain_memory, frozenset({0, 1}), name="plain")
        assert after is not before
        assert Checker().check(before, after).kind == "proved"
        assert Checker().check(before, after.substitute({part: other})).kind == "differs"
