"""Every function of Tensor that computes something of its elements: a row each, with the same in
PyTorch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

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
