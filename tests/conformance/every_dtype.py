"""Each function of Tensor with each dtype, against PyTorch and NumPy: the rows of a table.

What is right is what PyTorch has in float64 (or int64) from the same values, rounded once to the
dtype of the result by NumPy or ml_dtypes. Never compares one of our devices with another.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

from core import Tensor, dtypes
from core.dtype import DType
from core.errors import UopvizError

Array = np.ndarray[Any, Any]
DEVICES: Final = ("CPU", "REFERENCE", "PTX:EMU", "AMD:EMU")
NARROW: Final = {
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
}

_TEXT: Final = """
neg                 if any       x.neg()
abs                 if any       x.abs()
sign                if any       x.sign()
square              if any       x.square()
trunc               if any       x.trunc()
floor               if any       x.floor()
ceil                if any       x.ceil()
round               if any       x.round()
frac                f  any       x.frac()
reciprocal          if positive  x.reciprocal()
sqrt                bif positive x.sqrt()
rsqrt               if positive  x.rsqrt()
exp                 bif any      x.exp()
exp2                bif any      x.exp2()                          torch.exp2(x)
expm1               bif any      x.expm1()
log                 if positive  x.log()
log2                if positive  x.log2()
log10               if positive  x.log10()
log1p               bif positive x.log1p()
sin                 bif any      x.sin()
cos                 bif any      x.cos()
tan                 bif any      x.tan()
sinh                bif any      x.sinh()
cosh                bif any      x.cosh()
tanh                bif any      x.tanh()
asin                f  inside    x.asin()
acos                f  inside    x.acos()
atan                bif any      x.atan()
asinh               bif any      x.asinh()
acosh               if above     x.acosh()
atanh               f  inside    x.atanh()
erf                 bif any      x.erf()
sigmoid             bif any      x.sigmoid()
logit               f  unit      x.logit()
logsigmoid          if any       x.logsigmoid()                    F.logsigmoid(real(x))
relu                if any       x.relu()
relu6               if any       x.relu6()                         F.relu6(x)
hardtanh            f  any       x.hardtanh()                      F.hardtanh(x)
hardsigmoid         f  any       x.hardsigmoid()                   F.hardsigmoid(x)
hardswish           f  any       x.hardswish()                     F.hardswish(x)
hardshrink          f  any       x.hardshrink()                    F.hardshrink(x)
softshrink          f  any       x.softshrink()                    F.softshrink(x)
tanhshrink          f  any       x.tanhshrink()                    F.tanhshrink(x)
threshold           f  any       x.threshold(0.5, 2)               F.threshold(x, 0.5, 2)
silu                f  any       x.silu()                          F.silu(x)
swish               f  any       x.swish()                         F.silu(x)
gelu                f  any       x.gelu()                          F.gelu(x, approximate='tanh')
quick_gelu          f  any       x.quick_gelu()                    x * torch.sigmoid(1.702 * x)
elu                 f  any       x.elu()                           F.elu(x)
celu                f  any       x.celu()                          F.celu(x)
selu                f  any       x.selu()                          F.selu(x)
leaky_relu          f  any       x.leaky_relu()                    F.leaky_relu(x)
softplus            f  any       x.softplus()                      F.softplus(x)
mish                f  any       x.mish()                          F.mish(x)
softsign            f  any       x.softsign()                      F.softsign(x)
glu                 f  any       x.glu()                           F.glu(x)
prelu               f  any       x.prelu(y[0, :1])                 F.prelu(x, y[0, :1])
clamp               if positive  x.clamp(1, 2)
clip                if positive  x.clip(1, 2)
clamp_min           if positive  x.clamp_min(1)
clamp_max           if positive  x.clamp_max(1)
nan_to_num          f  any       x.nan_to_num()
isnan               bif any      x.isnan()
isinf               bif any      x.isinf()
isfinite            bif any      x.isfinite()
isclose             if any       x.isclose(y)
polynomial          f  any       x.polynomial((2, 0.5, 1))         (2 * x + 0.5) * x + 1
add                 bif any      x.add(y)
sub                 if any       x.sub(y)
mul                 bif any      x.mul(y)
div                 bif positive x.div(y)
usum                if any       x.usum(y)                         x + y
uprod               if any       x.uprod(y)                        x * y
idiv                i  positive  x.idiv(y)                         x // y
floor_divide        if positive  x.floor_divide(y)
fmod                if positive  x.fmod(y)
mod                 if positive  x.mod(y)                          x % y
remainder           if positive  x.remainder(y)
pow                 f  positive  x.pow(y)
maximum             bif any      x.maximum(y)                      torch.maximum(x, y)
minimum             bif any      x.minimum(y)                      torch.minimum(x, y)
copysign            f  any       x.copysign(y)
atan2               f  any       x.atan2(y)
hypot               f  any       x.hypot(y)
xlogy               f  positive  x.xlogy(y)
logaddexp           f  any       x.logaddexp(y)
lerp                f  any       x.lerp(y, 0.25)
addcmul             if any       x.addcmul(y, x)
addcdiv             f  positive  x.addcdiv(y, x)
masked_fill         bif any      x.masked_fill(i > 0, True)
where               bif any      (i > 0).where(x, y)               torch.where(i > 0, x, y)
eq                  bif any      x.eq(y)
ne                  bif any      x.ne(y)
lt                  bif any      x.lt(y)
le                  bif any      x.le(y)
gt                  bif any      x.gt(y)
ge                  bif any      x.ge(y)
logical_not         bif any      x.logical_not()
logical_and         bif any      x.logical_and(y)
logical_or          bif any      x.logical_or(y)
logical_xor         bif any      x.logical_xor(y)
bitwise_not         bi any       x.bitwise_not()
bitwise_and         bi any       x.bitwise_and(y)
bitwise_or          bi any       x.bitwise_or(y)
bitwise_xor         bi any       x.bitwise_xor(y)
lshift              i  positive  x.lshift(1)                       x << 1
rshift              i  positive  x.rshift(1)                       x >> 1
cast                bif any      x.cast('float32')                 x.double()
bool                bif any      x.bool()
float               bif any      x.float()
double              bif any      x.double()
half                bif any      x.half()                          x.double()
bfloat16            bif any      x.bfloat16()                      x.double()
int                 bif any      x.int()
long                bif any      x.long()
short               bif any      x.short()
sum                 bif any      x.sum(1)
mean                f  any       x.mean(1)
prod                bif any      x.prod(1)
max                 bif any      x.max(1)                          x.amax(1)
min                 bif any      x.min(1)                          x.amin(1)
amax                bif any      x.amax(1)
amin                bif any      x.amin(1)
any                 bif any      x.any(1)
all                 bif any      x.all(1)
argmax              if any       x.argmax(1)                       first(x, 1)
argmin              if any       x.argmin(1)                       first(-x, 1)
count_nonzero       bif any      x.count_nonzero(1)
var                 f  any       x.var(1)
std                 f  any       x.std(1)
var_mean            f  any       x.var_mean(1)[0]                  x.var(1)
std_mean            f  any       x.std_mean(1)[1]                  x.mean(1)
norm                f  any       x.norm(2, 1)
normalize           f  any       x.normalize(2, 1)                 F.normalize(x, 2, 1)
logsumexp           f  any       x.logsumexp(1)
softmax             f  any       x.softmax(1)
log_softmax         f  any       x.log_softmax(1)
softmin             f  any       x.softmin(1)                      F.softmin(x, 1)
cumsum              bif any      x.cumsum(1)
cumprod             bif any      x.cumprod(1)
cummax              if any       x.cummax(1)[0]
cummin              if any       x.cummin(1)[0]
logcumsumexp        f  any       x.logcumsumexp(1)
allclose            f  any       x.allclose(x + 0)
sort                bif any      x.sort(1)[0]
argsort             bif any      x.argsort(1)
                                 torch.sort(x, dim=1, stable=True)[1]
topk                if any       x.topk(2, 1)[0]
median              if any       x.median(1)[0]                    x.median(1).values
quantile            f  any       x.quantile(0.5, 1)
diff                if any       x.diff(1, 1)
layernorm           f  any       x.layernorm()                     F.layer_norm(x, (4,))
batchnorm           f  positive  norm_of(x, y)                     norm_of(x, y)
matmul              if any       x.matmul(y.transpose(0, 1))
mm                  if any       x.mm(y.transpose(0, 1))
dot                 if any       x.dot(y.transpose(0, 1))          x @ y.transpose(0, 1)
mv                  if any       x.mv(y[0])
bmm                 if any       x.reshape(1, 3, 4).bmm(y.reshape(1, 4, 3))
addmm               f  any       x[:, :3].addmm(x, y.transpose(0, 1))
baddbmm             f   any      image(x)[0, :, :, :3].baddbmm(image(x)[0], y.reshape(1, 4, 3))
linear              f  any       x.linear(y.transpose(0, 1))       x @ y.transpose(0, 1)
einsum              if any       Tensor.einsum('ij,kj->ik', x, y)  torch.einsum('ij,kj->ik', x, y)
outer               if any       x[0].outer(y[0])
trace               if any       x[:, :3].trace()
kron                if any       x.kron(y)                         torch.kron(x, y)
scaled_dot_product_attention f   any      x.scaled_dot_product_attention(y, x)
                                 F.scaled_dot_product_attention(x, y, x)
sequential          if any       x.sequential([Tensor.neg])        -x
reshape             bif any      x.reshape(4, 3)
view                bif any      x.view(2, 6)
flatten             bif any      x.flatten()
unflatten           bif any      x.unflatten(1, (2, 2))
permute             bif any      x.permute(1, 0)
transpose           bif any      x.transpose(0, 1)
T                   bif any      x.T
movedim             bif any      x.movedim(0, 1)
rearrange           bif any      x.rearrange('a b -> b a')         x.transpose(0, 1)
squeeze             bif any      x[:1].squeeze(0)
unsqueeze           bif any      x.unsqueeze(1)
expand              bif any      x.reshape(1, 3, 4).expand(2, 3, 4)
expand_as           bif any      x[:1].expand_as(y)
broadcast_to        bif any      x.broadcast_to((2, 3, 4))
shrink              bif any      x.shrink(((1, 3), (0, 2)))        x[1:3, :2]
shrink_to           bif any      x.shrink_to(2, 2)                 x[:2, :2]
pad                 bif any      x.pad((1, 2))                     F.pad(x, (1, 2))
pad_to              bif any      x.pad_to(4, 5)                    F.pad(x, (0, 1, 0, 1))
flip                bif any      x.flip(0)                         x.flip((0,))
roll                bif any      x.roll(1, 1)
repeat              bif any      x.repeat(2, 1)
tile                bif any      x.tile((2, 1))
repeat_interleave   bif any      x.repeat_interleave(2, 1)
split               bif any      x.split(2, 1)[1]
chunk               bif any      x.chunk(2, 1)[1]
unbind              bif any      x.unbind(1)[2]
cat                 bif any      x.cat(y, dim=1)                   torch.cat((x, y), 1)
stack               bif any      x.stack(y, dim=1)                 torch.stack((x, y), 1)
meshgrid            bif any      x[0].meshgrid(y[0])[1]
                                 torch.meshgrid(x[0], y[0], indexing='ij')[1]
diag                bif any      x[0].diag()
diagonal            bif any      x.diagonal()
tril                bif any      x.tril()
triu                bif any      x.triu()
unfold              bif any      x.unfold(1, 2, 1)
narrow              bif any      x.narrow(1, 1, 2)
select              bif any      x.select(1, 2)
gather              bif any      x.gather(0, i)
take_along_dim      bif any      x.take_along_dim(i, 0)            torch.take_along_dim(x, i, 0)
index_select        bif any      x.index_select(0, i[0])
masked_select       bif any      x.masked_select(i > 0)
nonzero             bif any      x.nonzero()
scatter             bif any      x.scatter(0, column(i), y[:1])
scatter_add         if any       x.scatter_add(0, i, y)
scatter_reduce      if any       x.scatter_reduce(0, i, y, 'amax')
index_add           if any       x.index_add(0, i[0, :2], y[:2])
index_copy          bif any      x.index_copy(0, column(i)[0, :1], y[:1])
index_fill          bif any      x.index_fill(0, i[0, :2], True)
one_hot             bif any      i.one_hot(3).sum(-1) + x * 0      x * 0 + 1
conv2d              f   any      image(x).conv2d(image(y)[:, :, :2, :2])
                                 F.conv2d(image(x), image(y)[:, :, :2, :2])
conv_transpose2d    f   any      image(x).conv_transpose2d(image(y)[:, :, :2, :2])
                                 F.conv_transpose2d(image(x), image(y)[:, :, :2, :2])
max_pool2d          if any       image(x).max_pool2d(2, 1, padding=1)    pooled(image(x))
avg_pool2d          f   any      image(x).avg_pool2d(2, 1, padding=1)
                                 F.avg_pool2d(real(image(x)), 2, 1, 1)
adaptive_avg_pool   f   any      image(x).adaptive_avg_pool((2, 3))
                                 F.adaptive_avg_pool2d(image(x), (2, 3))
adaptive_max_pool   if  any      image(x).adaptive_max_pool((2, 3))
                                 F.adaptive_max_pool2d(real(image(x)), (2, 3))
max_unpool2d        f   any      image(x).max_unpool2d(image(spread(i)), 2)
                                 F.max_unpool2d(image(x), image(spread(i)), 2)
interpolate         f   any      image(x).interpolate((4, 5))
                                 F.interpolate(image(x), (4, 5), mode='bilinear')
mse_loss            f  any       x.mse_loss(y)                     F.mse_loss(x, y)
l1_loss             f  any       x.l1_loss(y)                      F.l1_loss(x, y)
smooth_l1_loss      f  any       x.smooth_l1_loss(y)               F.smooth_l1_loss(x, y)
huber_loss          f  any       x.huber_loss(y)                   F.huber_loss(x, y)
kl_div              f  positive  x.kl_div(y, 'sum')                F.kl_div(x, y, reduction='sum')
poisson_nll_loss    f  any       x.poisson_nll_loss(y)             F.poisson_nll_loss(x, y)
gaussian_nll_loss   f  positive  x.gaussian_nll_loss(y, y)         F.gaussian_nll_loss(x, y, y)
hinge_embedding_loss f   any      x.hinge_embedding_loss(y.sign())
                                 F.hinge_embedding_loss(x, y.sign())
soft_margin_loss    f  any       x.soft_margin_loss(y.sign())      F.soft_margin_loss(x, y.sign())
multi_margin_loss   f  any       x.multi_margin_loss(i[0, :3])     F.multi_margin_loss(x, i[0, :3])
multilabel_soft_margin_loss f   any      x.multilabel_soft_margin_loss((i > 0).cast(x.dtype))
                                 F.multilabel_soft_margin_loss(x, (i > 0).to(x.dtype))
margin_ranking_loss f   any      x.margin_ranking_loss(y, x.sign())
                                 F.margin_ranking_loss(x, y, x.sign())
triplet_margin_loss f   any      x.triplet_margin_loss(y, x + 1)
                                 F.triplet_margin_loss(x, y, x + 1)
cosine_embedding_loss f   any      x.cosine_embedding_loss(y, sides(i))
                                 F.cosine_embedding_loss(x, y, sides(i))
cosine_similarity   f  any       x.cosine_similarity(y)            F.cosine_similarity(x, y)
pairwise_distance   f  any       x.pairwise_distance(y)            F.pairwise_distance(x, y)
cross_entropy       f  any       x.cross_entropy(i[0, :3])         F.cross_entropy(x, i[0, :3])
nll_loss            f  any       x.nll_loss(i[0, :3])              F.nll_loss(x, i[0, :3])
sparse_categorical_crossentropy f   any      x.sparse_categorical_crossentropy(i[0, :3])
                                 F.cross_entropy(x, i[0, :3])
binary_crossentropy f  unit      x.binary_crossentropy(y)          F.binary_cross_entropy(x, y)
binary_crossentropy_logits f   any      x.binary_crossentropy_logits((i > 0).cast(x.dtype))
                                 F.binary_cross_entropy_with_logits(x, (i > 0).to(x.dtype))
dropout             f  any       x.dropout(0.5)                    x
detach              bif any      x.detach()
clone               bif any      x.clone()
contiguous          bif any      x.transpose(0, 1).contiguous()
contiguous_backward bif any      x.contiguous_backward()           x
fuse                bif any      x.fuse()                          x
full_like           bif any      x.full_like(1)                    torch.full_like(x, 1)
ones_like           bif any      x.ones_like()                     torch.ones_like(x)
zeros_like          bif any      x.zeros_like()                    torch.zeros_like(x)
copy_               bif any      x.clone().copy_(y)                y
fill_               bif any      x.clone().fill_(1)
zero_               bif any      x.clone().zero_()
assign              bif any      x.clone().assign(y)               y
replace             bif any      x.clone().replace(y)              y
realize             bif any      x.realize()                       x
tolist              bif any      Tensor(x.tolist())                x
item                bif any      Tensor(x[0, 0].item())            x[0, 0]
"""
"""name, dtypes (of bools, integers, floats) that it takes, domain of its values, expression of
ours, of theirs if it is another one."""

ELSEWHERE: Final = frozenset(re.findall(r"\w+", """
    data device dtype grad requires_grad shape uop ndim requires_grad_ element_size nbytes numel
    size is_floating_point numpy kernelize schedule place backward gradient to to_ train no_grad
    manual_seed from_bytes from_numpy from_blob from_url is_param is_param_ named wants_grad axis
    shard shard_ shard_like arange empty empty_like eye full linspace ones zeros rand rand_like
    randint randn randn_like randperm normal uniform scaled_uniform glorot_uniform
    kaiming_normal kaiming_uniform multinomial bitcast bernoulli_ exponential_ normal_ uniform_
    call_kernel newton_schulz qr svd ctc_loss
"""))  # fmt: skip
"""What computes nothing of the elements of a dtype, or is random, or iterates in float32."""


@dataclass(frozen=True)
class Row:
    """One function, as texts of x and y (3 x 4, of one dtype) and i (integers below 3)."""

    name: str
    kinds: str
    domain: str
    ours: str
    theirs: str

    def __repr__(self) -> str:
        return self.name


def _rows() -> tuple[Row, ...]:
    found: list[Row] = []
    for line in re.sub(r"\n\s+", "  ", _TEXT.strip()).splitlines():
        name, kinds, domain, rest = line.split(None, 3)
        ours, *theirs = re.split(r"\s{2,}|(?<=\)) (?=F\.)", rest.strip())
        found.append(Row(name, kinds, domain, ours, theirs[0] if theirs else ours))
    return tuple(found)


ROWS: Final = _rows()
_BASES: Final = {row.name: row for row in ROWS}


def in_place() -> tuple[Row, ...]:
    """Rows of the methods that end in `_`: as those without, stored in the dtype that is there."""
    found: list[Row] = []
    for name in sorted(n for n in dir(Tensor) if n.endswith("_") and not n.startswith("_")):
        base = _BASES.get(name[:-1])
        if base is None or name in _BASES or f"x.{base.name}(" not in base.ours:
            continue
        ours = base.ours.replace(f"x.{base.name}(", f"x.clone().{name}(", 1)
        found.append(Row(name, base.kinds, base.domain, ours, base.theirs))
    return tuple(found)


def held(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of elements."""
    return np.dtype(NARROW.get(dtype, dtype.name))


def kind_of(dtype: DType) -> str:
    return "f" if dtypes.is_float(dtype) else "b" if dtype is dtypes.bool else "i"


def values(dtype: DType, domain: str, seed: int) -> Array:
    """Twelve of them, exact in each dtype of the kind."""
    rng = np.random.default_rng(seed)
    if dtype is dtypes.bool:
        return rng.integers(0, 2, (3, 4)).astype(bool)
    if dtypes.is_int(dtype):
        low = 1 if domain != "any" else 0 if dtypes.is_unsigned(dtype) else -5
        return rng.integers(low, 7, (3, 4)).astype(held(dtype))
    numbers: dict[str, Any] = {
        "any": np.delete(np.arange(-8, 9), 8) / 4,
        "positive": np.arange(1, 9) / 4,
        "unit": np.array([1, 2, 3, 4, 5, 6, 7]) / 8,
        "inside": np.array([-7, -6, -4, -3, -2, -1, 1, 2, 3, 4, 6, 7]) / 8,
        "above": np.arange(4, 9) / 4,
    }
    return rng.choice(numbers[domain], (3, 4)).astype(held(dtype))


_ORDER: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2}
"""NumPy's kinds of dtypes by what they hold. Those of ml_dtypes are V."""


# what the texts name


def real(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float64)


def first(x: torch.Tensor, axis: int) -> torch.Tensor:
    """The first of the largest."""
    return torch.from_numpy(np.argmax(x.numpy(), axis))


def image(x: Any) -> Any:
    """As one image of one channel."""
    return x.reshape(1, 1, 3, 4)


def column(i: Any) -> Any:
    """One row, whose indices are different on axis 0 for different values."""
    return i[:1]


def spread(i: Any) -> Any:
    """Twelve different places of 6 x 8."""
    return i * 0 + (torch.arange(12).reshape(3, 4) * 4 if isinstance(i, torch.Tensor)
                    else Tensor.arange(12).reshape(3, 4).to(i.device) * 4)  # fmt: skip


def sides(i: Any) -> Any:
    """1 or -1 for each of three."""
    return (i[0, :3] > 0) * 2 - 1


def pooled(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(real(x), 2, 1, 1)


def norm_of(x: Any, y: Any) -> Any:
    """Batch norm of one image, with statistics that are given."""
    args = (y[0, :3], y[1, :3], x[0, :3], x[1, :3])
    if isinstance(x, torch.Tensor):
        weight, bias, mean, var = args
        return F.batch_norm(x.reshape(1, 3, 4), mean, var, weight, bias)
    weight, bias, mean, var = args
    return x.reshape(1, 3, 4).batchnorm(weight, bias, mean, (var + 1e-5).rsqrt())


_NAMES: Final = {
    "Tensor": Tensor, "torch": torch, "F": F, "math": math, "real": real, "first": first,
    "image": image, "column": column, "spread": spread, "sides": sides, "pooled": pooled,
    "norm_of": norm_of,
}  # fmt: skip


def as_ours(values: Array, dtype: DType, device: str) -> Tensor:
    """Values as a Tensor of a dtype."""
    if dtype in NARROW:
        bits = values.view(np.uint16 if dtype is dtypes.bfloat16 else np.uint8)
        return Tensor(bits, device=device).bitcast(dtype)
    return Tensor(values, device=device)


def as_theirs(values: Array, dtype: DType) -> torch.Tensor:
    """Values in the widest dtype of their kind."""
    wide = {"f": np.float64, "i": np.int64, "b": np.bool_}[kind_of(dtype)]
    return torch.from_numpy(values.astype(wide))


def found_wrong(row: Row, dtype: DType, device: str, seed: int = 0) -> str | None:
    """What is wrong with a function of a dtype; None where nothing is. Where the row says that it
    does not take the dtype, an error of ours is right, and so is what PyTorch has."""
    x, y = (values(dtype, row.domain, 2 * seed + k) for k in (1, 2))
    i = np.random.default_rng(seed).integers(0, 3, (3, 4))
    mine = {"x": as_ours(x, dtype, device), "y": as_ours(y, dtype, device)}
    mine["i"] = Tensor(i.astype(np.int32), device=device)
    other = {"x": as_theirs(x, dtype), "y": as_theirs(y, dtype), "i": torch.from_numpy(i)}
    takes = kind_of(dtype) in row.kinds
    try:
        right = eval(row.theirs, {**_NAMES, **other})
    except Exception as error:
        return f"PyTorch refuses it: {error}" if takes else None
    right = right.numpy() if isinstance(right, torch.Tensor) else np.asarray(right)
    if row.name.endswith("_") and _ORDER[right.dtype.kind] > _ORDER[x.dtype.kind]:
        takes = False  # a float is not stored in integers, nor a number in bools
    try:
        got = eval(row.ours, {**_NAMES, **mine})
        result = got.numpy() if isinstance(got, Tensor) else np.asarray(got)
    except UopvizError as error:
        return f"refused: {str(error).splitlines()[0]}" if takes else None
    of = got.dtype if isinstance(got, Tensor) else dtypes.bool
    return _difference(result, right, of)


@np.errstate(all="ignore")
def _difference(got: Array, right: Array, dtype: DType) -> str | None:
    if got.shape != right.shape:
        return f"shape {got.shape}, not {right.shape}"
    if not dtypes.is_float(dtype):
        wanted = right.astype(got.dtype)
        same = got == wanted
    else:
        wanted = right.astype(np.float64).astype(held(dtype)).astype(np.float64)
        unit = float(dtypes.finfo(dtype).eps) * np.maximum(np.abs(np.nan_to_num(wanted)), 1)
        near = np.abs(got.astype(np.float64) - wanted) <= 4 * unit
        same = near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if same.all():
        return None
    at = tuple(int(k[0]) for k in np.nonzero(~same)) if got.ndim else ()
    return f"at {at} {got[at]}, not {wanted[at]} ({dtype})"


# the ends of each dtype


def ends(dtype: DType) -> Array:
    """Rows of the lowest and the largest numbers, of what lies beyond them where the dtype has
    that, and of both among ordinary numbers."""
    if not dtypes.is_float(dtype):
        low, high = dtypes.min(dtype), dtypes.max(dtype)
        rows = [[low] * 4, [high] * 4, [low, high, low, 1], [1, 0, low, 1]]
        return np.array(rows, held(dtype))
    most = dtypes.finfo(dtype).max
    rows = [
        [-most] * 4,
        [most] * 4,
        [-most, 1, -2, -most],
        [-1, most, -most, 0],
        [1, math.nan, -1, 2],
    ]
    if dtype is not dtypes.fp8e4m3:
        rows += [
            [-math.inf] * 4,
            [-math.inf, -most, 1, -math.inf],
            [math.inf, 1, -math.inf, math.inf],
        ]
    return np.array(rows, np.float64).astype(held(dtype))


def _wide(x: Array) -> Array:
    """Numbers to compare, in a dtype of NumPy's own that holds all of them."""
    return x.astype(np.float64) if x.dtype.kind in "fV" else x


def _no_shift(x: Array) -> Array:
    """The largest of each row where it is finite."""
    most = x.max(1, keepdims=True)
    return np.where(np.isfinite(most), most, np.where(np.isnan(most), most, 0))


def _logsumexp(x: Array) -> Array:
    return np.log(np.exp(x - _no_shift(x)).sum(1)) + _no_shift(x)[:, 0]


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _windows(x: Array) -> Array:
    """The largest of windows of 2 x 2 of the rows, padded by 1 that counts as nothing."""
    n, m = x.shape
    return np.array(
        [[x[max(i - 1, 0) : i + 1, max(j - 1, 0) : j + 1].max() for j in range(m + 1)]
         for i in range(n + 1)])  # fmt: skip


def _placed(x: Array, of: Any) -> Array:
    """Rows whose columns 0, 1, 1, 3 go to those numbers; 1 where none goes."""
    made = np.ones_like(x)
    made[:, 0], made[:, 1], made[:, 3] = x[:, 0], of(x[:, 1], x[:, 2]), x[:, 3]
    return made


def _still(x: Tensor) -> Tensor:
    """Four rows of ones, whose scores are equal."""
    return x.ones_like()[:1].expand(4, 4)


def _columns(x: Tensor) -> Tensor:
    return Tensor([[0, 1, 1, 3]], device=x.device).expand(x.shape[0], 4)


ENDS: Final[tuple[tuple[str, str, Any, Any], ...]] = (
    ("max", "bif", lambda x: x.max(1), lambda v: v.max(1)),
    ("min", "bif", lambda x: x.min(1), lambda v: v.min(1)),
    ("argmax", "bif", lambda x: x.argmax(1), lambda v: v.argmax(1)),
    ("argmin", "bif", lambda x: x.argmin(1), lambda v: v.argmin(1)),
    ("cummax", "if", lambda x: x.cummax(1)[0], lambda v: np.maximum.accumulate(v, 1)),
    ("cummin", "if", lambda x: x.cummin(1)[0], lambda v: np.minimum.accumulate(v, 1)),
    ("sort", "if", lambda x: x.sort(1)[0], lambda v: np.sort(v, 1)),
    ("topk", "if", lambda x: x.topk(2, 1)[0], lambda v: np.sort(v, 1)[:, ::-1][:, :2]),
    ("maximum", "if", lambda x: x.maximum(x.flip(1)), lambda v: np.maximum(v, v[:, ::-1])),
    ("minimum", "if", lambda x: x.minimum(x.flip(1)), lambda v: np.minimum(v, v[:, ::-1])),
    ("max_pool2d", "if", lambda x: x.reshape(1, 1, *x.shape).max_pool2d(2, 1, padding=1)[0, 0],
     _windows),
    ("max_pool2d places", "if",
     lambda x: x.reshape(1, 1, *x.shape).max_pool2d(2, 1, padding=1, return_indices=True)[0][0, 0],
     _windows),
    ("adaptive_max_pool", "if", lambda x: x.reshape(1, *x.shape).adaptive_max_pool((3,))[0],
     lambda v: np.stack([v[:, :2].max(1), v[:, 1:3].max(1), v[:, 2:].max(1)], 1)),
    ("scatter_reduce amax", "if",
     lambda x: x.ones_like().scatter_reduce(1, _columns(x), x, "amax", include_self=False),
     lambda v: _placed(v, np.maximum)),
    ("scatter_reduce amin", "if",
     lambda x: x.ones_like().scatter_reduce(1, _columns(x), x, "amin", include_self=False),
     lambda v: _placed(v, np.minimum)),
    ("logsumexp", "f", lambda x: x.logsumexp(1), _logsumexp),
    ("softmax", "f", lambda x: x.softmax(1), _softmax),
    ("softmin", "f", lambda x: x.softmin(1), lambda v: _softmax(-v)),
    ("log_softmax", "f", lambda x: x.log_softmax(1), _log_softmax),
    ("logcumsumexp", "f", lambda x: x.logcumsumexp(1),
     lambda v: np.stack([_logsumexp(v[:, : k + 1]) for k in range(4)], 1)),
    ("causal attention", "f",
     lambda x: _still(x).scaled_dot_product_attention(
         _still(x), x[:1].expand(4, 4), is_causal=True),
     lambda v: np.repeat(v[:1], 4, 0)),
    ("norm", "f", lambda x: x.norm(math.inf, 1), lambda v: np.abs(v).max(1)),
)  # fmt: skip
"""name, dtypes, ours of `ends`, NumPy's of the same numbers."""


@np.errstate(all="ignore")
def wrong_at_ends(name: str, dtype: DType, device: str) -> str | None:
    """What is wrong with a function of the ends of a dtype; None where nothing is."""
    ((_, kinds, ours, theirs),) = (row for row in ENDS if row[0] == name)
    if kind_of(dtype) not in kinds:
        return None
    x = ends(dtype)
    got, right = ours(as_ours(x, dtype, device)), theirs(_wide(x))
    return _difference(got.numpy(), right, got.dtype)
