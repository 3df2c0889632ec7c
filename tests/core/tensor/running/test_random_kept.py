"""Random programs compute the same values and gradients whether what they compute is stored on the
way or not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from core.errors import GradientError
from tests.core.tensor.running.test_kept import X, close, leaf


class Program:
    """The same statements with values stored on the way, and without."""

    def __init__(self, store: bool) -> None:
        self.store = store
        self.x = [leaf(X[:, :2]), leaf(X[:, 1:] - 1)]
        self.data = [Tensor(X[:, :2] * 0.5).realize()]
        self.values: list[Tensor] = list(self.x)
        self.leaves = list(self.x)
        """And views of them."""

    def run(self, statement: tuple[int, int, int, bool]) -> None:
        kind, i, j, stores = statement
        a, b = (self.values[k % len(self.values)] for k in (i, j))
        computed = a if a.requires_grad and not any(a is x for x in self.leaves) else None
        new: Tensor | None = None
        match kind:
            case 0:
                new = a * b
            case 1:
                new = a + b * 0.5
            case 2:
                new = (a * 0.7).sin()
            case 3:
                new = a @ b.T * 0.5
            case 4:
                new = a.T
            case 5:
                new = a.reshape(4).flip(0).reshape(2, 2)
            case 6:
                new = a.sum(0, keepdim=True).expand(2, 2) * 0.5
            case 7:
                new = (a * 1.5).contiguous()
            case 8:
                new = a.to("CPU:1").to("CPU")
            case 9:
                new = a.detach() * b
            case 10:
                new = a * self.data[0]
            case 11:
                new = a - self.data[0]
            case 12 if computed is not None:
                computed += b * 0.25
            case 13 if computed is not None:
                computed[0] = b[1] * 0.5
            case 14 if computed is not None:
                computed.assign(b * 0.5 + 0.1)
            case 15:
                self.data[0].assign(self.data[0] * 0.5 + b.detach() * 0.1)
            case _:
                pass
        if new is not None:
            self.values.append(new)
            if kind in (4, 5) and any(a is x for x in self.leaves):
                self.leaves.append(new)
        if stores and self.store:
            self.values[j % len(self.values)].realize(*self.data)


@given(
    st.lists(
        st.tuples(st.integers(0, 15), st.integers(0, 9), st.integers(0, 9), st.booleans()),
        min_size=1,
        max_size=10,
    )
)
def test_programs_have_the_same_gradients(
    statements: list[tuple[int, int, int, bool]],
) -> None:
    lazy, stored = Program(False), Program(True)
    for statement in statements:
        lazy.run(statement)
        stored.run(statement)
    for program in (lazy, stored):
        try:
            sum((v.square().sum() for v in program.values[-3:]), Tensor(0.0)).backward()
        except GradientError:
            if program is lazy or all(kind != 15 for kind, *_ in statements):
                raise
            return  # it would read what was in `data`
    for want, got in zip(lazy.values, stored.values, strict=True):
        close(got, want.numpy())
    for want, got in zip(lazy.x, stored.x, strict=True):
        assert (want.grad is None) == (got.grad is None)
        if want.grad is not None:
            close(got.grad, want.grad.numpy())
