"""Axes whose length is a variable: as a Tensor of that length, for every value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import Context, Tensor, TinyJit, Variable, dtypes
from core.errors import DTypeError, RunError, ShapeError
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.ops import Ops
from core.uop.uop import UOp

ROWS, COLUMNS = 6, 4
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda x: x * 1,
    "sum of rows": lambda x: x.sum(0),
    "sum of columns": lambda x: x.sum(1),
    "sum of all": lambda x: x.sum(),
    "max": lambda x: x.max(0),
    "min": lambda x: x.min(0, keepdim=True),
    "prod": lambda x: x.prod(0),
    "mean": lambda x: x.mean(0),
    "mean of all": lambda x: (x * 2).mean(),
    "std": lambda x: x.std(0, correction=0),
    "argmax": lambda x: x.argmax(0),
    "argmin": lambda x: x.argmin(0),
    "any": lambda x: (x > 1).any(0),
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "layer norm": lambda x: x.layernorm(-1),
    "one over": lambda x: (1 / x).sum(0),
    "broadcast": lambda x: x - x.mean(0, keepdim=True),
    "by columns": lambda x: (x + Tensor([1.0, 2, 3, 4])).sum(0),
    "transposed": lambda x: x.T.exp().sum(1),
    "new axes": lambda x: x.reshape(1, ROWS, 2, 2).permute(3, 1, 0, 2).sum((0, 1)),
    "expanded": lambda x: x.unsqueeze(1).expand(ROWS, 3, COLUMNS).max((0, 1)),
    "product": lambda x: x @ Tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]),
    "product over it": lambda x: x.T @ x,
    "with itself": lambda x: x @ x.T,
    "attention": lambda x: (x @ x.T).softmax(-1) @ x,
    "einsum": lambda x: Tensor.einsum("ij,ik->jk", x, x),
    "columns of it": lambda x: x[:, 1:3].sum(0),
    "stored on the way": lambda x: (x * 2).contiguous().sum(0),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "cummax": lambda x: x.cummax(0)[0],
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "sort": lambda x: x.sort(0)[0],
    "argsort": lambda x: x.argsort(0),
    "ones": lambda x: (x.ones_like() + x).sum(),
    "loss": lambda x: x.sigmoid().binary_crossentropy(x.sigmoid()),
    "cross entropy": lambda x: x.cross_entropy(x.argmax(1)),
    "smoothed": lambda x: x.T.cross_entropy(x.T.argmax(1), label_smoothing=0.25),
    "probabilities": lambda x: x.T.cross_entropy(x.T.softmax(), label_smoothing=0.25),
    "nll": lambda x: x.log_softmax(1).nll_loss(x.argmax(1)),
    "joined": lambda x: x.cat(x, dim=1).sum(0),
    "scattered": lambda x: x.scatter(0, Tensor([[0, 0, 0, 0]]), Tensor([[9.0, 9, 9, 9]])),
    "picked": lambda x: x[Tensor([0, 0])],
    "picked from the end": lambda x: x[Tensor([-1, -4, 0])],
    "gathered from the end": lambda x: x.gather(0, Tensor([[-1, -1, 0, -2]])),
    "where": lambda x: (x > 0).where(x, 1.0).sum(0),
}

FLAT = ("argmax", "argmin", "argsort", "any", "new axes", "expanded")
"""Those without a gradient, and those that name the length."""


def numbers(seed: int = 0) -> Tensor:
    rng = np.random.default_rng(seed)
    return Tensor(rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)).realize()


def length(n: int, most: int = ROWS) -> UOp:
    return Variable("n", 0, most).bind(n)


def shorter(f: Callable[[Tensor], Tensor], x: Tensor, n: int) -> Tensor:
    """`f` of the first rows alone, where it makes axes of all rows."""
    return f(x[:n].contiguous().realize())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_the_part(name: str) -> None:
    x, f, n = numbers(), FUNCTIONS[name], 1 + len(name) % ROWS
    found = f(x[: length(n)]).numpy()
    if name in ("new axes", "expanded"):  # which name the length
        full = np.arange(ROWS)[:, None] < n
        part = x.numpy()[:n]
        wanted = (
            part.reshape(1, n, 2, 2).transpose(3, 1, 0, 2).sum((0, 1))
            if name == "new axes"
            else part.max(0)
        )
        assert full.sum() == n
    else:
        wanted = shorter(f, x, n).numpy()
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["sum of rows", "prod", "mean", "itself", "any"])
def test_no_rows(name: str) -> None:
    x, f = numbers(), FUNCTIONS[name]
    np.testing.assert_array_equal(f(x[: length(0)]).numpy(), shorter(f, x, 0).numpy())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in FLAT])
def test_gradients_are_those_of_the_part(name: str) -> None:
    f, n = FUNCTIONS[name], 1 + len(name) % ROWS
    grads: list[np.ndarray] = []
    for end in (length(n), n):
        x, b = numbers().requires_grad_(), Tensor([0.5, 1.0, -1.0, 2.0], requires_grad=True)
        ((f(x[:end] * b)) * 3).sum().backward()
        assert x.grad is not None and b.grad is not None
        grads += [x.grad.numpy(), b.grad.numpy()]
    np.testing.assert_allclose(grads[0], grads[2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(grads[1], grads[3], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opt", range(4))
def test_no_level_changes_values(opt: int) -> None:
    x = numbers()
    with Context(OPT=opt):
        found = FUNCTIONS["attention"](x[: length(3)]).numpy()
    np.testing.assert_allclose(found, shorter(FUNCTIONS["attention"], x, 3).numpy(), rtol=1e-5)


def test_what_lies_behind_the_length_is_never_seen() -> None:
    x = Tensor([1.0, 2.0, float("nan"), float("inf")]).realize()
    part = x[: length(2, 4)]
    assert part.sum().item() == 3
    assert part.max().item() == 2
    assert (part / part.sum()).numpy().tolist() == [np.float32(1 / 3), np.float32(2 / 3)]


def test_one_kernel_for_all_values() -> None:
    x = numbers()
    asts = [x[: length(n)].sum(0).schedule()[-1].ast for n in (1, 2, 5)]
    assert asts[0] is asts[1] is asts[2]


def test_two_lengths_and_values_made_of_variables() -> None:
    x = Tensor.arange(24).reshape(4, 6).realize()
    n, m = Variable("n", 1, 3).bind(2), Variable("m", 1, 6).bind(5)
    found = x[: n + 1, :m]
    assert found.numpy().tolist() == x.numpy()[:3, :5].tolist()
    assert found.sum().item() == x.numpy()[:3, :5].sum()
    assert found.shape == (4, 6)


def test_a_variable_is_an_index() -> None:
    x = Tensor.arange(12).reshape(4, 3).realize()
    at = Variable("at", 0, 3).bind(2)
    assert x[at].tolist() == [6, 7, 8]
    assert x[:, Variable("column", 0, 2).bind(1)].tolist() == [1, 4, 7, 10]
    x[at] = Tensor([7, 7, 7], dtype=x.dtype)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5], [7, 7, 7], [9, 10, 11]]


def test_a_cache_that_grows_is_one_captured_graph() -> None:
    rng = np.random.default_rng(1)
    heads, size, most = 2, 8, 12
    caches = [Tensor.zeros(heads, most, size).contiguous().realize() for _ in range(2)]
    seen = [np.zeros((heads, most, size), np.float32) for _ in range(2)]
    position = Variable("position", 0, most - 1)
    ran: list[UOp] = []

    @TinyJit
    def step(q: Tensor, new: list[Tensor], at: UOp) -> tuple[Tensor, Tensor]:
        ran.append(at)
        for cache, row in zip(caches, new, strict=True):
            cache[:, at] = row
        keys, values = (cache[:, : at + 1] for cache in caches)
        scores = q @ keys.transpose(1, 2)
        return scores.realize(), (scores.softmax(-1) @ values).realize()

    for i in range(most):
        q, k, v = (rng.standard_normal((heads, 1, size)).astype(np.float32) for _ in range(3))
        for cache, row in zip(seen, (k, v), strict=True):
            cache[:, i] = row[:, 0]
        scores, out = step(Tensor(q), [Tensor(k[:, 0]), Tensor(v[:, 0])], position.bind(i))
        wanted = q @ seen[0][:, : i + 1].transpose(0, 2, 1)
        weights = np.exp(wanted - wanted.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        np.testing.assert_allclose(scores.numpy(), wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(out.numpy(), weights @ seen[1][:, : i + 1], rtol=1e-4, atol=1e-5)
    assert len(ran) == 2


def test_a_capture_checks_its_variables() -> None:
    @TinyJit
    def step(x: Tensor, n: UOp, m: UOp) -> Tensor:
        return (x[:n] + m).realize()

    x, n = numbers(), Variable("n", 1, 6)
    step(x, n.bind(2), n.bind(2))
    assert step(x, n.bind(3), n.bind(3)).numpy().shape == (3, COLUMNS)
    assert step(x, n.bind(5), n.bind(5)).numpy().shape == (5, COLUMNS)
    with pytest.raises(RunError, match="two values of the variable n"):
        step(x, n.bind(3), n.bind(4))
    with pytest.raises(RunError, match="captured with other arguments"):
        step(x, Variable("k", 1, 6).bind(3), n.bind(3))


def test_bad_lengths() -> None:
    x = numbers()
    assert x[: length(7, 7)].tolist() == x.tolist()
    with pytest.raises(ShapeError, match="a slice with the step"):
        x[: length(3) : length(2)]
    with pytest.raises(ShapeError, match="which may be -1"):
        x[length(3) - 1 :]
    with pytest.raises(ShapeError, match=r"cannot reshape \(n, 4\) to \(n, 3\)"):
        x[: length(3)].reshape(length(3), 3)
    with pytest.raises(ShapeError, match="index 3 is out of range on axis 0"):
        x[: length(3)][3]
    with pytest.raises(ShapeError, match="argmax along axis 0, which has no elements"):
        x[: length(0)].argmax(0)
    with pytest.raises(DTypeError, match="made of n without a value"):
        x[: Variable("n", 0, 6)]
    with pytest.raises(ShapeError, match="an index of 0 to 6 on an axis of 6"):
        x[length(2)]
    with pytest.raises(DTypeError, match="a length made of"):
        x[: UOp.const(dtypes.float32, 2.0)]
    with pytest.raises(ShapeError, match="two lengths"):
        (x[: length(2)] + x[: Variable("m", 0, 6).bind(2)]).realize()


def test_written_in_place_it_writes_to_what_it_was_taken_from() -> None:
    x = Tensor([0.0, 1, 2, 3]).realize()
    part = x[: length(2, 4)]
    part += 1
    twice = part * 2
    part.assign(part + 1)
    assert part.tolist() == [2, 3]
    assert twice.tolist() == [2, 4]
    assert x.tolist() == [2, 3, 2, 3]


def test_attention_by_kernels_is_for_whole_axes() -> None:
    rng = np.random.default_rng(3)
    q, k, v = (
        Tensor(rng.standard_normal((1, 2, 24, 64)).astype(np.float16), "PTX:EMU:sm_80").realize()
        for _ in range(3)
    )
    n = Variable("n", 1, 24)
    found = q.scaled_dot_product_attention(k[:, :, : n.bind(9)], v[:, :, : n.bind(9)]).numpy()
    a, b, c = (x.numpy().astype(np.float64) for x in (q, k[:, :, :9], v[:, :, :9]))
    weights = np.exp(a @ b.transpose(0, 1, 3, 2) / 8)
    wanted = weights / weights.sum(-1, keepdims=True) @ c
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=2e-3)
    part = k[..., : n.bind(9)]
    with pytest.raises(ShapeError, match="vectors whose length"):
        q.scaled_dot_product_attention(part, part)


def test_kernels_written_by_hand_take_whole_axes() -> None:
    def build(target: Target, out: Parameter, x: Parameter) -> UOp:
        return UOp.sink(out[0].store(x[0].load()))

    x = Tensor([1.0, 2.0]).realize()[: length(1, 2)]
    with pytest.raises(ShapeError, match="cannot hand a kernel"):
        Tensor.call_kernel(build, x, outputs=((1,), x.dtype)).realize()


def test_arguments_of_a_capture_have_the_length_of_each_call() -> None:
    x, n = numbers(), Variable("n", 0, ROWS)

    @TinyJit
    def total(part: Tensor) -> Tensor:
        return part.sum().realize()

    for value in (2, 2, 3, 5):
        np.testing.assert_allclose(
            total(x[: n.bind(value)]).item(), x.numpy()[:value].sum(), rtol=1e-5
        )
    with pytest.raises(RunError, match=r"argument 0 \(n, 4\) float32 on CPU, now it is \(6, 4\)"):
        total(x)


@pytest.mark.parametrize(
    "copied", [Tensor.clone, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_keep_the_length(copied: Callable[[Tensor], Tensor]) -> None:
    part = numbers()[: length(2)]
    np.testing.assert_array_equal(copied(part).numpy(), part.numpy())


def test_a_part_is_no_longer_than_its_axis() -> None:
    """A slice up to a variable that is larger than what is left from that variable on."""
    rows = np.arange(18, dtype=np.float32).reshape(6, 3)
    m = Variable("m", 0, 4).bind(1)
    x = Tensor(rows)[:, m:] * 1
    x[:, :m] += 1
    wanted = rows[:, 1:].copy()
    wanted[:, :1] += 1
    np.testing.assert_array_equal(x.numpy(), wanted)


def test_what_is_stored_has_the_length_of_its_place() -> None:
    x = Tensor.arange(24).reshape(ROWS, COLUMNS).realize()
    part = x[: length(2)]
    part[:, 0] += 10
    assert part.tolist() == [[10, 1, 2, 3], [14, 5, 6, 7]]
    assert part.assign(x * 2).tolist() == [[20, 2, 4, 6], [28, 10, 12, 14]]
    x[3] = part.sum(0)
    assert x[3].tolist() == [48, 12, 16, 20]
    with pytest.raises(ShapeError, match="axis 0 is as long as n"):
        x[:, 0] = part[:, 0]
    with pytest.raises(ShapeError, match="axis 0 is as long as n"):
        x.assign(part)


def test_what_is_scattered_ends_at_the_length() -> None:
    rows = numbers()[:, 0][: length(4)]
    places = Tensor.arange(ROWS)
    stored = Tensor.full((ROWS,), 5.0).scatter(0, places, rows)
    assert stored.tolist() == [*rows.tolist(), 5.0, 5.0]
    added = Tensor.full((ROWS,), 5.0).scatter_reduce(0, places, rows, "mean", include_self=False)
    assert added.tolist() == stored.tolist()


def test_a_file_has_what_counts(tmp_path: Path) -> None:
    rows = numbers()[: length(4)]
    assert rows.to(f"DISK:{tmp_path / 'rows'}").tolist() == rows.tolist()


def test_an_axis_of_one_element_is_not_repeated() -> None:
    row = Tensor([[1.0, 2, 3, 4]])[: Variable("n", 0, 1).bind(1)]
    with pytest.raises(ShapeError, match="cannot expand an axis whose length"):
        row + numbers()


def test_numbers_of_elements_are_not_told() -> None:
    x = numbers()[: length(1)]
    for count in (len, Tensor.numel):
        with pytest.raises(ShapeError, match="number of elements is a variable"):
            count(x)
    assert x[:, :1].item() == x.numpy()[0, 0]


def test_nodes_say_what_they_are() -> None:
    x = numbers()[: length(3)]
    assert x.uop.op is Ops.LENGTH
    assert [(axis, n.val) for axis, n in x.uop.lengths] == [(0, 3)]
    assert x.T.uop.lengths == ((1, x.uop.lengths[0][1]),)
    assert x.sum(0).uop.lengths == ()
    assert numbers()[: Variable("n", 4, 6).bind(5)][:4].uop.lengths == ()


PLACES: dict[str, tuple[Callable[[Tensor], object], Callable[[np.ndarray], object]]] = {
    "up to": (
        lambda t: t[: length(3)].assign(t[: length(3)] * 10),
        lambda x: x.__setitem__(slice(3), x[:3] * 10),
    ),
    "added up to": (lambda t: t[: length(4)].add_(1), lambda x: x.__setitem__(slice(4), x[:4] + 1)),
    "place": (lambda t: t[length(2, 5)].assign(Tensor([9.0] * 4)), lambda x: x.__setitem__(2, 9)),
    "added at a place": (lambda t: t[length(2, 5)].add_(1), lambda x: x.__setitem__(2, x[2] + 1)),
    "part": (
        lambda t: t[length(1) : length(4) + 1].assign(Tensor([5.0])),
        lambda x: x.__setitem__(slice(1, 5), 5),
    ),
    "from": (lambda t: t[length(4) :].mul_(2), lambda x: x.__setitem__(slice(4, None), x[4:] * 2)),
    "numbers": (
        lambda t: t.__setitem__(slice(length(1), length(3)), Tensor([[1.0] * 4, [2.0] * 4])),
        lambda x: x.__setitem__(slice(1, 3), [[1.0] * 4, [2.0] * 4]),
    ),
    "of a view": (
        lambda t: t.T[1][length(2, 5)].assign(Tensor(7.0)),
        lambda x: x.__setitem__((2, 1), 7),
    ),
    "indices": (
        lambda t: t[Tensor([1, 4])].assign(Tensor.ones(2, 4)),
        lambda x: x.__setitem__([1, 4], 1),
    ),
    "a copy": (lambda t: t[Tensor([1, 4])].add_(1), lambda x: None),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_a_key_names_is_written(name: str) -> None:
    """An index Tensor copies out, as in NumPy: to change the copy in place leaves the other one."""
    x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    t = Tensor(x).realize()
    ours, theirs = PLACES[name]
    ours(t)
    theirs(x)
    np.testing.assert_array_equal(t.numpy(), x)


def test_a_value_of_a_key_is_written_only_while_the_other_is_there() -> None:
    t = Tensor([1.0, 2.0, 3.0]).realize()
    part = t[length(1, 2)]
    del t
    assert part.assign(Tensor(5.0)).item() == 5


def test_variables_with_several_values() -> None:
    x = Tensor(np.ones((ROWS, COLUMNS), np.float32), requires_grad=True)
    ((x[: length(2)] * 2).sum() + (x[: length(4)] * 3).sum()).backward()
    assert x.grad is not None
    assert x.grad.numpy()[:, 0].tolist() == [5, 5, 3, 3, 0, 0]


@pytest.mark.parametrize("opt", [0, 1, 2, 3])
def test_values_of_variables_at_every_level(opt: int) -> None:
    x = numbers()
    with Context(OPT=opt):
        assert (Tensor.ones(3) * length(2)).tolist() == [2, 2, 2]
        part = x.numpy()[:4]
        np.testing.assert_allclose(x[: length(4)].mean(0).numpy(), part.mean(0), rtol=1e-5)
        np.testing.assert_allclose(x[: length(4)].std(0).numpy(), part.std(0, ddof=1), rtol=1e-5)
        np.testing.assert_array_equal(x[length(3, 5)].numpy(), x.numpy()[3])


def test_gradients_flow_on_from_what_is_stored() -> None:
    x = Tensor(np.ones((ROWS, COLUMNS), np.float32), requires_grad=True)
    y = ((x * 1)[: length(2)] * 3).contiguous()
    y.numpy()
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.numpy()[:, 0].tolist() == [3, 3, 0, 0, 0, 0]


@pytest.mark.parametrize("devices", [None, ("CPU:1", "CPU:2")])
def test_one_length_in_memory_for_different_numbers(devices: tuple[str, ...] | None) -> None:
    """Operands and values that are stored have room for 6, 5 and 4 rows."""
    rows, n = np.arange(24, dtype=np.float32).reshape(6, 4), length(3, 4)
    other = np.arange(20, dtype=np.float32).reshape(5, 4) - 8
    x, y = (Tensor(v) if devices is None else Tensor(v).shard(devices) for v in (rows, other))
    x.realize(y)
    a, b = rows[:3], other[:3]
    pairs: list[tuple[Tensor, np.ndarray]] = [
        (x[:n] + y[:n], a + b),
        (x[1 : n + 1] - x[:n], rows[1:4] - a),
        ((x[:n] > y[:n]).where(x[:n], y[:n]), np.maximum(a, b)),
        (x[:n].T @ y[:n], a.T @ b),
        (y[:n] @ x[:n].T, b @ a.T),
    ]
    for made, wanted in pairs:
        np.testing.assert_array_equal(made.numpy(), wanted)
    for write, kept in (
        ("x[:n] = x[:n] * 2", "x[:3] *= 2"),
        ("x[:n] += y[:n]", "x[:3] += y[:3]"),
        ("x[:n].assign(y[:n].flip(0))", "x[:3] = y[2::-1]"),
        ("x[1 : n + 1] = x[:n]", "x[1:4] = x[:3].copy()"),
        ("x[2 : n + 2].assign(y[1 : n + 1])", "x[2:5] = y[1:4]"),
    ):
        exec(write, {"x": x, "y": y, "n": n})
        exec(kept, {"x": rows, "y": other})
        np.testing.assert_array_equal(x.numpy(), rows, err_msg=write)
    with pytest.raises(ShapeError, match="as long as"):
        x[:n].assign(y[: n + 1])


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("rows", [1, 5])
def test_an_axis_of_at_most_one_element_is_no_axis_that_repeats(n: int, rows: int) -> None:
    numbers = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
    length, other = Variable("n", 0, 1).bind(n), Variable("m", 0, 5).bind(2 + n)
    parts = [(Tensor(numbers)[:length], numbers[:n])]
    if rows > 1:
        parts.append((Tensor(numbers)[2:other], numbers[2 : 2 + n]))
        parts.append((Tensor(numbers)[0 : 2 * length : 2], numbers[: 2 * n : 2]))
    for x, array in parts:
        x.requires_grad = True
        np.testing.assert_array_equal((x @ x.T).numpy(), array @ array.T)
        np.testing.assert_array_equal((x + x.flip(0)).numpy(), array + array[::-1])
        np.testing.assert_array_equal(x.T.reshape(-1).numpy(), array.T.reshape(-1))
        np.testing.assert_array_equal(x.unsqueeze(0).sum(1).numpy(), array[None].sum(1))
        np.testing.assert_array_equal(x.cat(x).numpy(), np.concatenate([array, array]))
        np.testing.assert_array_equal(x.sum(1, keepdim=True).numpy(), array.sum(1, keepdims=True))
    whole = Tensor(numbers).realize()
    whole[:length].assign(whole[:length] + 1)
    whole[:length] += 1
    numbers[:n] += 2
    np.testing.assert_array_equal(whole.numpy(), numbers)
