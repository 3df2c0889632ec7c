"""Recurrent layers: of one step (cells), and of whole sequences.

Names of parameters are PyTorch's. What inputs add to all steps is one product; each step then is a
product with the state before it, which is stored.
"""

from __future__ import annotations

from collections.abc import Callable

from core.errors import DTypeError, ShapeError
from core.nn.layers.weights import uniform
from core.tensor import Tensor

State = tuple[Tensor, ...]
Step = Callable[[Tensor, Tensor, State], State]
"""From what the input and the state before add to the gates, and that state, to the next state."""


def _plain(act: Callable[[Tensor], Tensor]) -> Step:
    return lambda x, h, _: (act(x + h),)


def _lstm(x: Tensor, h: Tensor, state: State) -> State:
    """S. Hochreiter and J. Schmidhuber, Long short-term memory (1997). Rows of the weights are
    those of the input gate, the forget gate, the new values and the output gate, in this order."""
    enter, keep, new, leave = (x + h).chunk(4, -1)
    cell = keep.sigmoid() * state[1] + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell


def _gru(x: Tensor, h: Tensor, state: State) -> State:
    """K. Cho et al., https://arxiv.org/abs/1406.1078. Rows are those of the reset gate, the update
    gate and the new values; the reset gate multiplies what the state adds to these."""
    inputs, states = x.chunk(3, -1), h.chunk(3, -1)
    reset, update = ((a + b).sigmoid() for a, b in zip(inputs[:2], states[:2], strict=True))
    new = (inputs[2] + reset * states[2]).tanh()
    return (new + update * (state[0] - new),)


_PLAIN = {"tanh": _plain(Tensor.tanh), "relu": _plain(Tensor.relu)}


def _plain_step(nonlinearity: str) -> Step:
    if nonlinearity not in _PLAIN:
        raise DTypeError(f"an RNN of {nonlinearity!r}", hint='nonlinearity is "tanh" or "relu"')
    return _PLAIN[nonlinearity]


class _Cell:
    """One step, of inputs (batch, input_size) or one input."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, gates: int, step: Step
    ) -> None:
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = gates * hidden_size
        self.weight_ih = uniform((rows, input_size), hidden_size)
        self.weight_hh = uniform((rows, hidden_size), hidden_size)
        self.bias_ih = uniform((rows,), hidden_size) if bias else None
        self.bias_hh = uniform((rows,), hidden_size) if bias else None
        self._step = step

    def _next(self, x: Tensor, state: State | None, parts: int) -> State:
        """The state of so many parts after `x`; None is zeros."""
        if state is None:
            zeros = Tensor.zeros(*x.shape[:-1], self.hidden_size, dtype=x.dtype, device=x.device)
            state = (zeros,) * parts
        inside = x.linear(self.weight_ih.transpose(), self.bias_ih)
        return self._step(inside, state[0].linear(self.weight_hh.transpose(), self.bias_hh), state)


class RNNCell(_Cell):
    """tanh (or relu) of weight_ih x + bias_ih + weight_hh h + bias_hh."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, _plain_step(nonlinearity))

    def __call__(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """The hidden state after `x`, from that before it; None is zeros."""
        return self._next(x, None if hx is None else (hx,), 1)[0]


class GRUCell(_Cell):
    """One step of a gated recurrent unit, https://arxiv.org/abs/1406.1078"""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__(input_size, hidden_size, bias, 3, _gru)

    def __call__(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """The hidden state after `x`, from that before it; None is zeros."""
        return self._next(x, None if hx is None else (hx,), 1)[0]


class LSTMCell(_Cell):
    """One step of a long short-term memory, of S. Hochreiter and J. Schmidhuber (1997)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__(input_size, hidden_size, bias, 4, _lstm)

    def __call__(self, x: Tensor, hc: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """(hidden, cell) after `x`, from those before it; None is zeros."""
        hidden, cell = self._next(x, hc, 2)
        return hidden, cell


class _Recurrent:
    """Layers of sequences (steps, batch, input_size); with `batch_first` the batch is axis 0, and
    without a batch there is no such axis. A layer reads the hidden states of the one below, after
    `dropout` while training; with `bidirectional` those of both directions, side by side."""

    def __init__(
        self,
        sizes: tuple[int, int, int],
        gates: int,
        step: Step,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
    ) -> None:
        self.input_size, self.hidden_size, self.num_layers = sizes
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        if min(sizes) < 1:
            raise ShapeError(
                f"{type(self).__name__} of sizes {sizes}",
                hint="give input_size, hidden_size and num_layers of 1 or more",
            )
        self._step, self._names = step, list[str]()
        size, rows, fan = self.input_size, gates * self.hidden_size, self.hidden_size
        for layer in range(self.num_layers):
            for way in ("", "_reverse")[: 1 + bidirectional]:
                name = f"l{layer}{way}"
                setattr(self, f"weight_ih_{name}", uniform((rows, size), fan))
                setattr(self, f"weight_hh_{name}", uniform((rows, fan), fan))
                setattr(self, f"bias_ih_{name}", uniform((rows,), fan) if bias else None)
                setattr(self, f"bias_hh_{name}", uniform((rows,), fan) if bias else None)
                self._names.append(name)
            size = self.hidden_size * (1 + bidirectional)

    def _run(self, x: Tensor, states: State | None, parts: int) -> tuple[Tensor, State]:
        """(hidden states of all steps, the last states): as many parts of each, per layer and
        direction."""
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__} of {self.input_size} inputs for a Tensor of {x.shape}",
                hint="give (steps, batch, inputs), or (steps, inputs)",
            )
        if x.ndim == 2:
            states = None if states is None else tuple(s.unsqueeze(1) for s in states)
            batch = int(not self.batch_first)
            out, last = self._run(x.unsqueeze(batch), states, parts)
            return out.squeeze(batch), tuple(s.squeeze(1) for s in last)
        x = x.transpose(0, 1) if self.batch_first else x
        shape = (len(self._names), x.shape[1], self.hidden_size)
        if states is None:
            states = (Tensor.zeros(shape, dtype=x.dtype, device=x.device),) * parts
        if any(s.shape != shape for s in states) or not len(x):
            raise ShapeError(
                f"{type(self).__name__} of {x.shape} with states of {states[0].shape}",
                hint=f"give one step or more, and states of {shape}",
            )
        ends: list[State] = []
        ways = 1 + self.bidirectional
        for k in range(0, len(self._names), ways):
            rows: list[Tensor] = []
            for at in range(k, k + ways):
                start = tuple(s[at] for s in states)
                hidden, end = self._along(x, self._names[at], start, at > k)
                rows.append(hidden)
                ends.append(end)
            x = rows[0].cat(*rows[1:], dim=-1)
            x = x.dropout(self.dropout) if k + ways < len(self._names) else x
        last = tuple(part[0].stack(*part[1:]) for part in zip(*ends, strict=True))
        return x.transpose(0, 1) if self.batch_first else x, last

    def _along(self, x: Tensor, name: str, state: State, backwards: bool) -> tuple[Tensor, State]:
        """One layer in one direction: (its hidden states in the order of the steps, the last
        state)."""
        weight_ih, weight_hh, bias_ih, bias_hh = (
            getattr(self, f"{kind}_{name}")
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inside = x.linear(weight_ih.transpose(), bias_ih).contiguous().contiguous_backward()
        turned = weight_hh.transpose()
        hidden: list[Tensor] = []
        for t in reversed(range(len(x))) if backwards else range(len(x)):
            state = self._step(inside[t], state[0].linear(turned, bias_hh), state)
            # stored on the way back, too, where each step reads the next one several times
            state = tuple(s.contiguous().contiguous_backward() for s in state)
            hidden.append(state[0])
        hidden = hidden[::-1] if backwards else hidden
        return hidden[0].stack(*hidden[1:]), state


class RNN(_Recurrent):
    """Layers of `RNNCell`: (hidden states of the last layer, the last hidden state of each)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        step = _plain_step(nonlinearity)
        sizes = input_size, hidden_size, num_layers
        super().__init__(sizes, 1, step, bias, batch_first, dropout, bidirectional)

    def __call__(self, x: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """From hidden states (layers and directions, batch, hidden_size); None is zeros."""
        out, ends = self._run(x, None if hx is None else (hx,), 1)
        return out, ends[0]


class GRU(_Recurrent):
    """Layers of `GRUCell`: (hidden states of the last layer, the last hidden state of each)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        sizes = input_size, hidden_size, num_layers
        super().__init__(sizes, 3, _gru, bias, batch_first, dropout, bidirectional)

    def __call__(self, x: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """From hidden states (layers and directions, batch, hidden_size); None is zeros."""
        out, ends = self._run(x, None if hx is None else (hx,), 1)
        return out, ends[0]


class LSTM(_Recurrent):
    """Layers of `LSTMCell`: (hidden states of the last layer, last (hidden, cell) of each)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        sizes = input_size, hidden_size, num_layers
        super().__init__(sizes, 4, _lstm, bias, batch_first, dropout, bidirectional)

    def __call__(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """From states (layers and directions, batch, hidden_size) twice; None is zeros."""
        out, ends = self._run(x, hx, 2)
        return out, (ends[0], ends[1])
