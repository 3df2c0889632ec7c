"""`Tensor`: a lazy array. Operations build a graph of UOps; asking for values runs it.

A method is a function in the room of its subject; the class is the table of all of them. A room
uses only those before it: `calls` (arguments and user lines), `state` (what a Tensor is), `running`
(values, gradients, kernels by hand), `views` (movement), `elements` (functions of single elements),
`axes` (of whole axes), `neural` (of neural networks).
"""

from __future__ import annotations

from typing import cast

from core.dtype import dtypes
from core.tensor.calls.origin import mark_methods
from core.tensor.elements.operators import in_place, operator_of, operators_of
from core.tensor.state.base import Number, TensorBase
from core.tensor.state.conversion import cast_to

__all__ = ["Tensor"]


@mark_methods
class Tensor(TensorBase):
    """A lazy array of numbers on a device.

    `Tensor(data, device=None, dtype=None, requires_grad=None)`: `data` is a number, nested lists of
    numbers, a NumPy array, bytes (as uint8 unless `dtype` says otherwise), None (no elements), a
    UOp, another Tensor, or a Path. Numbers become constants in the kernels that use them; anything
    with axes is copied to the device at once. Python floats are float32 and ints int32 (int64 where
    they do not fit) unless `dtype` is given; arrays keep their dtype.

    A Path is the bytes of a file, or elements of `dtype`. They stay in the file, on a device
    `DISK:path`, where they are sliced, moved and bitcast, until they are copied with `to`; with
    `device`, they are copied there when they are computed.

    Nothing is computed before `realize`, `numpy`, `tolist`, `item` or `data`. Every operation marks
    the nodes it makes with the line of the user's program that called it.
    """

    __slots__ = ()

    # fmt: off
    # isort: off
    from core.tensor.state.conversion import (
        bitcast, cast, clone, contiguous, contiguous_backward, detach, fuse,
    )
    from core.tensor.state.sharding import axis, shard, shard_, shard_like
    from core.tensor.running.execution import (
        __array__, __bool__, __float__, __format__, __index__, __int__, assign, backward, data,
        gradient, item, kernelize, numpy, realize, replace, schedule, to, to_, tolist,
    )
    from core.tensor.running.kernels import call_kernel
    from core.tensor.views.movement import (
        T, broadcast_to, chunk, diagonal, expand, expand_as, flatten, flip, movedim, permute,
        rearrange, repeat, repeat_interleave, reshape, shrink, split, squeeze, tile, transpose,
        unbind, unflatten, unsqueeze, view,
    )
    from core.tensor.views.exchange import (
        __copy__, __deepcopy__, __reduce_ex__, from_blob, from_numpy,
    )
    from core.tensor.elements.elementwise import (
        add, addcmul, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, eq, ge, gt, le,
        logical_and, logical_not, logical_or, logical_xor, lshift, lt, masked_fill, maximum,
        minimum, mul, ne, neg, rshift, sub, uprod, usum, where,
    )
    from core.tensor.elements.division import addcdiv, div, floor_divide, fmod, idiv, mod, remainder
    from core.tensor.elements.operators import __pos__
    from core.tensor.elements.rounding import (
        abs, ceil, clamp, clamp_max, clamp_min, clip, copysign, floor, frac, isclose, isfinite,
        isinf, isnan, lerp, nan_to_num, round, sign, trunc,
    )
    from core.tensor.elements.exponential import (
        exp, exp2, expm1, log, log10, log1p, log2, logaddexp, logit, polynomial, pow, reciprocal,
        rsqrt, sigmoid, sqrt, square, xlogy,
    )
    from core.tensor.elements.mathematics import (
        acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, hypot, sin, sinh, tan, tanh,
    )
    from core.tensor.elements.activation import (
        celu, elu, gelu, glu, hardshrink, hardsigmoid, hardswish, hardtanh, leaky_relu, logsigmoid,
        mish, prelu, quick_gelu, relu, relu6, selu, silu, softplus, softshrink, softsign, swish,
        tanhshrink, threshold,
    )
    from core.tensor.axes.creation import (
        arange, empty, empty_like, eye, from_bytes, from_url, full, full_like, linspace, ones,
        ones_like, zeros, zeros_like,
    )
    from core.tensor.axes.filling import (
        bernoulli_, copy_, exponential_, fill_, normal_, uniform_, zero_,
    )
    from core.tensor.axes.reduction import (
        all, allclose, amax, amin, any, argmax, argmin, count_nonzero, cummax, cummin, cumprod,
        cumsum, log_softmax, logcumsumexp, logsumexp, max, mean, min, norm, normalize, prod,
        softmax, softmin, std, std_mean, sum, var, var_mean,
    )
    from core.tensor.axes.random import (
        glorot_uniform, kaiming_normal, kaiming_uniform, manual_seed, normal, rand, rand_like,
        randint, randn, randn_like, scaled_uniform, uniform,
    )
    from core.tensor.axes.linear import (
        addmm, baddbmm, bmm, dot, einsum, kron, linear, matmul, mm, mv, newton_schulz, outer, trace,
    )
    from core.tensor.axes.joining import (
        cat, diag, meshgrid, pad, pad_to, roll, shrink_to, stack, tril, triu,
    )
    from core.tensor.axes.indexing.indexing import __getitem__, __iter__, __setitem__
    from core.tensor.axes.indexing.along import gather, scatter
    from core.tensor.axes.indexing.masks import nonzero
    from core.tensor.axes.indexing.placing import (
        index_add, index_copy, index_fill, index_select, masked_select, narrow, one_hot,
        scatter_add, scatter_reduce, select, take_along_dim,
    )
    from core.tensor.axes.order import argsort, multinomial, randperm, sort, topk
    from core.tensor.axes.ranks import diff, median, quantile
    from core.tensor.axes.decomposition import qr, svd
    from core.tensor.neural.convolution import conv2d, conv_transpose2d, unfold
    from core.tensor.neural.pooling import (
        adaptive_avg_pool, adaptive_max_pool, avg_pool2d, max_pool2d, max_unpool2d,
    )
    from core.tensor.neural.interpolation import interpolate
    from core.tensor.neural.normalization import batchnorm, dropout, layernorm, sequential
    from core.tensor.neural.losses import (
        binary_crossentropy, binary_crossentropy_logits, cross_entropy, nll_loss,
        sparse_categorical_crossentropy,
    )
    from core.tensor.neural.regression import (
        gaussian_nll_loss, huber_loss, kl_div, l1_loss, mse_loss, poisson_nll_loss, smooth_l1_loss,
    )
    from core.tensor.neural.margins import (
        cosine_embedding_loss, cosine_similarity, hinge_embedding_loss, margin_ranking_loss,
        multi_margin_loss, multilabel_soft_margin_loss, pairwise_distance, soft_margin_loss,
        triplet_margin_loss,
    )
    from core.tensor.neural.sequences import ctc_loss
    from core.tensor.neural.attention import scaled_dot_product_attention
    # isort: on
    # fmt: on

    __hash__ = TensorBase.__hash__

    def __eq__(self, x: object) -> Tensor:  # type: ignore[override]
        return self.eq(cast("Tensor | Number", x))

    def __ne__(self, x: object) -> Tensor:  # type: ignore[override]
        return self.ne(cast("Tensor | Number", x))

    __lt__, __le__, __gt__, __ge__ = map(operator_of, (lt, le, gt, ge))
    __neg__, __invert__, __abs__ = neg, bitwise_not, abs
    __add__, __radd__, __iadd__ = operators_of(add)
    __sub__, __rsub__, __isub__ = operators_of(sub)
    __mul__, __rmul__, __imul__ = operators_of(mul)
    __truediv__, __rtruediv__, __itruediv__ = operators_of(div)
    __floordiv__, __rfloordiv__, __ifloordiv__ = operators_of(div, rounding_mode="floor")
    __mod__, __rmod__, __imod__ = operators_of(mod)
    __pow__, __rpow__, __ipow__ = operators_of(pow)
    __matmul__, __rmatmul__, __imatmul__ = operators_of(matmul)
    __lshift__, __rlshift__, __ilshift__ = operators_of(lshift)
    __rshift__, __rrshift__, __irshift__ = operators_of(rshift)
    __and__, __rand__, __iand__ = operators_of(bitwise_and, commutes=True)
    __or__, __ror__, __ior__ = operators_of(bitwise_or, commutes=True)
    __xor__, __rxor__, __ixor__ = operators_of(bitwise_xor, commutes=True)

    neg_, abs_, sign_, floor_, ceil_, round_ = map(in_place, (neg, abs, sign, floor, ceil, round))
    trunc_, frac_, square_, sqrt_, rsqrt_ = map(in_place, (trunc, frac, square, sqrt, rsqrt))
    reciprocal_, exp_, exp2_, expm1_, log_ = map(in_place, (reciprocal, exp, exp2, expm1, log))
    log2_, log10_, log1p_, sin_, cos_, tan_ = map(in_place, (log2, log10, log1p, sin, cos, tan))
    asin_, acos_, atan_, sinh_, cosh_, tanh_ = map(in_place, (asin, acos, atan, sinh, cosh, tanh))
    asinh_, acosh_, atanh_, erf_, relu_ = map(in_place, (asinh, acosh, atanh, erf, relu))
    relu6_, silu_, mish_, sigmoid_ = map(in_place, (relu6, silu, mish, sigmoid))
    hardswish_, bitwise_not_, logical_not_ = map(in_place, (hardswish, bitwise_not, logical_not))
    floor_divide_, remainder_, fmod_ = map(in_place, (floor_divide, remainder, fmod))
    xlogy_, atan2_, hypot_, logical_and_ = map(in_place, (xlogy, atan2, hypot, logical_and))
    logical_or_, logical_xor_, eq_, ne_ = map(in_place, (logical_or, logical_xor, eq, ne))
    lt_, le_, gt_, ge_ = map(in_place, (lt, le, gt, ge))
    add_ = in_place(add)
    sub_ = in_place(sub)
    mul_ = in_place(mul)
    div_ = in_place(div)
    pow_ = in_place(pow)
    addcmul_ = in_place(addcmul)
    addcdiv_ = in_place(addcdiv)
    lerp_ = in_place(lerp)
    clamp_ = in_place(clamp)
    clip_ = in_place(clip)
    clamp_min_ = in_place(clamp_min)
    clamp_max_ = in_place(clamp_max)
    nan_to_num_ = in_place(nan_to_num)
    copysign_ = in_place(copysign)
    logit_ = in_place(logit)
    leaky_relu_ = in_place(leaky_relu)
    elu_ = in_place(elu)
    celu_ = in_place(celu)
    selu_ = in_place(selu)
    hardtanh_ = in_place(hardtanh)
    hardsigmoid_ = in_place(hardsigmoid)
    threshold_ = in_place(threshold)
    bitwise_and_ = in_place(bitwise_and)
    bitwise_or_ = in_place(bitwise_or)
    bitwise_xor_ = in_place(bitwise_xor)
    cumsum_ = in_place(cumsum)
    cumprod_ = in_place(cumprod)
    tril_ = in_place(tril)
    triu_ = in_place(triu)
    masked_fill_ = in_place(masked_fill)
    scatter_ = in_place(scatter)
    scatter_add_ = in_place(scatter_add)
    scatter_reduce_ = in_place(scatter_reduce)
    index_add_ = in_place(index_add)
    index_copy_ = in_place(index_copy)
    index_fill_ = in_place(index_fill)

    float, double, bool = cast_to(dtypes.float32), cast_to(dtypes.float64), cast_to(dtypes.bool)
    half, bfloat16 = cast_to(dtypes.float16), cast_to(dtypes.bfloat16)
    int, long, short = cast_to(dtypes.int32), cast_to(dtypes.int64), cast_to(dtypes.int16)
