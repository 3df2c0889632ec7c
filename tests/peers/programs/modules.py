"""Functions of JAX that have the ops of HLO between them, each compiled; XLA_FLAGS has their dumps
written to FOLDER/dump.

Writes FOLDER/jax.json: inputs and what JAX computes of them; and FOLDER/NAME.txt: the module before
any pass, without where it came from. `tests/viz/foreign/modules` holds what this wrote.
"""

import glob
import json
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FOLDER = sys.argv[1]
R = np.random.default_rng(0)
CASES = {}
NHWC = ("NHWC", "HWIO", "NHWC")


def f(*shape):
    return R.standard_normal(shape).astype(np.float32).round(3)


def i(*shape, n=5):
    return R.integers(0, n, shape).astype(np.int32)


def case(*args):
    def add(function):
        CASES[function.__name__] = (function, args)
        return function

    return add


@case(f(3, 4), f(4, 2))
def elements(x, w):
    h = jnp.tanh(x @ w) + jnp.exp(-(x[:, :2] ** 2))
    return (
        h,
        jnp.where(x > 0, x, jnp.log1p(jnp.abs(x))),
        (lax.erf(x), lax.rsqrt(jnp.abs(x) + 1), jnp.sign(x), lax.cbrt(x), jnp.round(x * 3)),
        (lax.round(x * 2), jnp.clip(x, -0.5, 0.5), jax.nn.sigmoid(x), jnp.arctan2(x, x + 1)),
        (jnp.expm1(x), jnp.floor(x), jnp.ceil(x), lax.is_finite(x / 0)),
    )


@case(i(6, n=100) - 50, i(6, n=9) - 4)
def integers(a, b):
    u = a.astype(jnp.uint32)
    return (
        (lax.div(a, b), lax.rem(a, b), a // jnp.where(b == 0, 1, b)),
        (lax.shift_right_arithmetic(a, b), lax.shift_right_logical(a, jnp.abs(b))),
        (lax.shift_left(a, jnp.abs(b)), lax.population_count(a), lax.clz(a), ~a, a & b, a ^ b),
        (u * jnp.uint32(2654435761), lax.bitcast_convert_type(a, jnp.float32)),
        ((a * 1.7).astype(jnp.uint8), a.astype(jnp.int8) * 3, a**3),
    )


@case(f(2, 3, 4, 5))
def moves(x):
    return (
        (jnp.transpose(x, (2, 0, 3, 1)), x[:, ::-1, 1:3, ::2], jnp.pad(x[0, 0], ((1, 2), (0, 3)))),
        (lax.pad(x[0, 0], 9.0, ((-1, 2, 1), (2, -3, 2))), jnp.concatenate([x, x + 1], 2)),
        (x.reshape(6, 20), jnp.broadcast_to(x[:, :1], x.shape), jnp.roll(x, 2, 3)),
    )


@case(f(4, 5, 6))
def reduces(x):
    return (
        (x.sum(1), x.max((0, 2)), x.argmax(2), x.argmin(0), jnp.cumsum(x, 1), lax.cummax(x, 2)),
        ((x > 0).any(1), (x > -3).all(), jax.nn.softmax(x), jax.nn.logsumexp(x, axis=0)),
        (x.std(2), x.prod(2)),
    )


@case(f(2, 3, 4), f(2, 4, 5), f(4, 3))
def dots(a, b, c):
    return (
        jnp.einsum("bij,bjk->bki", a, b),
        jnp.einsum("bij,jk->kbi", a, c),
        lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
    )


@case(f(2, 8, 8, 4), f(3, 3, 2, 6), f(3, 3, 4, 4))
def convolutions(x, w, k):
    def conv(x, w, step, pad, **how):
        return lax.conv_general_dilated(x, w, step, pad, dimension_numbers=NHWC, **how)

    spread = {"lhs_dilation": (2, 1), "rhs_dilation": (1, 2)}
    return (
        conv(x, w, (2, 1), "SAME", feature_group_count=2),
        conv(x, k, (1, 1), ((2, 0), (1, 1)), **spread),
        jax.grad(lambda w: (conv(x, w, (1, 1), "VALID", feature_group_count=2) ** 2).sum())(w),
        jax.grad(lambda x: (conv(x, k, (2, 2), "SAME") ** 2).sum())(x),
    )


@case(f(2, 6, 6, 2))
def pools(x):
    def most(x, size, pad):
        return lax.reduce_window(
            x, -jnp.inf, lax.max, (1, size, size, 1), (1, 2, 2, 1), pad
        )  # fmt: skip

    around = ((0, 0), (1, 0), (0, 2), (0, 0))
    return (
        (most(x, 2, "VALID"), most(x, 3, "SAME")),
        jax.grad(lambda x: (most(x, 3, "SAME") ** 2).sum())(x),
        lax.reduce_window(
            x, 0.0, lax.add, (1, 2, 3, 1), (1, 1, 2, 1), around, (1, 1, 1, 1), (1, 2, 1, 1)
        ),
    )


@case(f(7, 3), i(4, 2, n=9) - 1, f(4, 2, 3), f(3, 4, 5), i(3, 2, n=4))
def indices(x, n, u, y, m):
    return (
        (x[n], x[:, n[:, 0] % 3], x.at[n].add(u), x.at[n[:, 0]].set(u[:, 0])),
        (x.at[n, 1].max(u[..., 0]), jnp.take_along_axis(y, m[:, :, None], 1)),
        (
            lax.dynamic_slice(x, (n[0, 0], 1), (3, 2)),
            lax.dynamic_update_slice(x, u[0], (n[1, 0], 0)),
        ),
        (jnp.take(x, n, axis=0, mode="clip"), x[n[0, 0], n[0, 1]], x.at[n[:, 0]].mul(2.0)),
        jax.grad(lambda x: (x[n] ** 2).sum())(x),
        jax.vmap(lambda r, k: r.at[k].add(1.0))(y[:, :, 0], m[:, 0]),
    )


@case(f(4, 9), i(4, 9, n=4))
def sorts(x, n):
    pair = lax.sort((n, x), dimension=1, num_keys=2)
    return jnp.sort(x, 1), jnp.argsort(n, 1), jnp.sort(n, 0), pair, jnp.median(x)


@case(f(5), f(5, 5), i(n=4))
def loops(x, w, n):
    def body(carry, v):
        return jnp.tanh(w @ carry) + v, carry.sum()

    return (
        lax.scan(body, x, x),
        lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] * 2 + 1, s[1] + w[0]), (n, x)),
        lax.cond(n > 2, lambda v: v * 2, lambda v: v - 1, x),
        lax.switch(n, [lambda v: v, jnp.sin, lambda v: -v], x),
        lax.fori_loop(0, n, lambda k, v: v.at[k].set(k * 1.0), x),
        jax.grad(lambda x: lax.scan(lambda c, v: (c * jnp.sin(v), c), 1.0, x)[0])(x),
    )


@case(np.array([3, 17], np.uint32))
def bits(key):
    wrapped = jax.random.wrap_key_data(key)
    return jax.random.normal(wrapped, (3,)), jax.random.bernoulli(wrapped, 0.3, (5,))


@case(f(4, 4), f(4, 4))
def halves(x, y):
    b, h = x.astype(jnp.bfloat16), y.astype(jnp.float16)
    made = (b * 3 + b @ b, h @ h - h, jnp.tanh(b), b.sum(0))
    return [v.astype(jnp.float32) for v in made], lax.reduce_precision(x, 8, 7)


@case(f(4), f(4))
def complexes(x, y):
    z = lax.complex(x, y)
    return jnp.abs(z), (z * z).real, jnp.exp(z).imag, jnp.conj(z).imag


@case(f(4, 4), f(4, 4), f(4, 4), f(4, 4), f(6, 4))
def trained(q, k, v, o, x):
    def loss(p):
        q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
        s = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), q @ k.T / 2.0, -1e9)
        h = jax.nn.softmax(s) @ v
        h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
        return (jax.nn.gelu(h @ p["o"]) ** 2).mean()

    return jax.value_and_grad(loss)({"q": q, "k": k, "v": v, "o": o})


def encoded(value):
    array = np.asarray(value)
    flat = array.reshape(-1).tolist()
    if array.dtype.kind == "f":
        flat = [float(f"{v:.8g}") if np.isfinite(v) else repr(v) for v in flat]
    return {"dtype": str(array.dtype), "shape": [*array.shape], "values": flat}


def plain(text):
    """Without metadata and the tables that it points into."""
    text = re.sub(r", metadata=\{[^{}]*\}", "", text)
    tables = "FileNames|FunctionNames|FileLocations|StackFrames"
    return re.sub(rf"^(?:{tables})\n(?:\d.*\n)*\n*", "", text, flags=re.MULTILINE)


known = {}
for name, (function, args) in CASES.items():
    results = jax.tree.leaves(jax.jit(function)(*args))
    known[name] = {"inputs": [*map(encoded, args)], "outputs": [*map(encoded, results)]}
    (path,) = glob.glob(f"{FOLDER}/dump/*.jit_{name}.before_optimizations.txt")
    with open(path) as dump, open(f"{FOLDER}/{name}.txt", "w") as out:
        out.write(plain(dump.read()))
with open(f"{FOLDER}/jax.json", "w") as out:
    json.dump(known, out)
    out.write("\n")
