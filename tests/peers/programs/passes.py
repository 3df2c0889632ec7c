"""Passes over FX graphs, each on a graph of its own: wrong ones, and right ones of the same kinds.

Prints for each its name and whether it is wrong. Each is run by an fx PassManager, but for those
that `replace_pattern` does.
"""

import functools
import operator

import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.infra.pass_manager import PassManager
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.subgraph_rewriter import replace_pattern

aten = torch.ops.aten
torch.manual_seed(0)


def mlp(x, w, v, b):
    h = F.relu(x @ w + b)
    return F.softmax(h @ v, -1).sum(0), h.transpose(0, 1)


def attention(q, k, v):
    s = q @ k.transpose(-2, -1) / 4.0
    return torch.softmax(s, -1) @ v


def norm(x, g):
    m = x.mean(-1, keepdim=True)
    d = x - m
    var = (d * d).mean(-1, keepdim=True)
    return d * torch.rsqrt(var + 1e-5) * g + x[:, 1:3].sum()


def conv(x, w):
    y = F.conv2d(x, w, stride=1, padding=1)
    return F.max_pool2d(F.gelu(y), 2).flatten(1), torch.cat([x, x * 2], 1)


R = torch.randn
INPUTS = {
    mlp: (R(4, 8), R(8, 16), R(16, 8), R(16)),
    attention: (R(2, 8, 16), R(2, 8, 16), R(2, 8, 16)),
    norm: (R(6, 8), R(8)),
    conv: (R(2, 3, 8, 8), R(4, 3, 3, 3)),
}
PASSES = []


def case(function, wrong=True):
    def add(edit):
        PASSES.append((edit, function, wrong))
        return edit

    return add


def find(graph, target, at=0):
    return [n for n in graph.nodes if n.op == "call_function" and n.target == target][at]


def retarget(graph, old, new, at=0):
    find(graph, old, at).target = new


def arguments(graph, target, change, at=0):
    node = find(graph, target, at)
    node.args = tuple(change([*node.args]))


def with_item(at, value):
    def change(args):
        while len(args) <= at:
            args.append(None)
        args[at] = value
        return args

    return change


@case(mlp)
def bias_is_added_to_itself(g):
    node = find(g, aten.add.Tensor)
    node.args = (node.args[1], node.args[1])


@case(mlp)
def relu_becomes_abs(g):
    retarget(g, aten.relu.default, aten.abs.default)


@case(mlp)
def softmax_over_rows(g):
    arguments(g, aten._softmax.default, with_item(1, 0))


@case(mlp)
def bias_is_lost(g):
    node = find(g, aten.add.Tensor)
    node.replace_all_uses_with(node.args[0])
    g.erase_node(node)


@case(mlp)
def sum_over_the_other_axis(g):
    arguments(g, aten.sum.dim_IntList, with_item(1, [1]))


@case(mlp)
def sum_becomes_mean(g):
    retarget(g, aten.sum.dim_IntList, aten.mean.dim)


@case(mlp)
def outputs_change_places(g):
    node = next(n for n in g.nodes if n.op == "output")
    node.args = (tuple(reversed(node.args[0])),)


@case(mlp)
def transpose_is_dropped(g):
    node = find(g, aten.transpose.int)
    node.args = (node.args[0], 0, 0)


@case(attention)
def scale_is_lost(g):
    node = find(g, aten.div.Tensor)
    node.replace_all_uses_with(node.args[0])
    g.erase_node(node)


@case(attention)
def scale_is_squared(g):
    arguments(g, aten.div.Tensor, with_item(1, 16.0))


@case(attention)
def scale_is_a_little_off(g):
    arguments(g, aten.div.Tensor, with_item(1, 4.001))


@case(attention)
def softmax_is_log_softmax(g):
    retarget(g, aten._softmax.default, aten._log_softmax.default)


@case(attention)
def softmax_over_queries(g):
    arguments(g, aten._softmax.default, with_item(1, 1))


@case(attention)
def value_is_the_key(g):
    names = [n for n in g.nodes if n.op == "placeholder"]
    for user in [*names[2].users]:
        user.replace_input_with(names[2], names[1])


@case(norm)
def epsilon_is_another(g):
    arguments(g, aten.add.Tensor, with_item(1, 1e-3))


@case(norm)
def rsqrt_becomes_sqrt(g):
    retarget(g, aten.rsqrt.default, aten.sqrt.default)


@case(norm)
def sub_is_reversed(g):
    arguments(g, aten.sub.Tensor, lambda a: [a[1], a[0]])


@case(norm)
def slice_is_off_by_one(g):
    arguments(g, aten.slice.Tensor, with_item(2, 2), 0 if find(g, aten.slice.Tensor).args[1] else 1)


@case(norm)
def variance_over_one_less(g):
    node = find(g, aten.mean.dim, 1)
    with g.inserting_after(node):
        scaled = g.call_function(aten.mul.Tensor, (node, 8 / 7))
    node.replace_all_uses_with(scaled, delete_user_cb=lambda user: user is not scaled)


@case(norm)
def gain_is_applied_twice(g):
    node = [n for n in g.nodes if n.target == aten.mul.Tensor][-1]
    with g.inserting_after(node):
        twice = g.call_function(aten.mul.Tensor, (node, node.args[1]))
    node.replace_all_uses_with(twice, delete_user_cb=lambda user: user is not twice)


@case(conv)
def kernel_is_flipped(g):
    node = find(g, aten.convolution.default)
    with g.inserting_before(node):
        flipped = g.call_function(aten.flip.default, (node.args[1], [2, 3]))
    node.args = (node.args[0], flipped, *node.args[2:])


@case(conv)
def gelu_is_approximated(g):
    node = find(g, aten.gelu.default)
    node.kwargs = {"approximate": "tanh"}


@case(conv)
def cat_is_reversed(g):
    arguments(g, aten.cat.default, lambda a: [[*reversed(a[0])], *a[1:]])


@case(conv)
def constant_is_folded_wrongly(g):
    arguments(g, aten.mul.Tensor, with_item(1, 3))


@case(conv)
def pool_takes_indices(g):
    node = find(g, operator.getitem)
    pool = node.args[0]
    with g.inserting_before(node):
        other = g.call_function(operator.getitem, (pool, 1))
        made = g.call_function(aten._to_copy.default, (other,), {"dtype": torch.float32})
    node.replace_all_uses_with(made)


@case(attention, wrong=False)
def div_becomes_mul(g):
    node = find(g, aten.div.Tensor)
    node.target, node.args = aten.mul.Tensor, (node.args[0], 0.25)


@case(norm, wrong=False)
def operands_of_add_change_places(g):
    for n in g.nodes:
        if n.target == aten.add.Tensor and hasattr(n.args[1], "users"):
            n.args = (n.args[1], n.args[0])


@case(norm, wrong=False)
def rsqrt_becomes_pow(g):
    node = find(g, aten.rsqrt.default)
    node.target, node.args = aten.pow.Tensor_Scalar, (node.args[0], -0.5)


@case(mlp, wrong=False)
def relu_becomes_maximum(g):
    node = find(g, aten.relu.default)
    node.target, node.args = aten.clamp_min.default, (node.args[0], 0)


@case(mlp, wrong=False)
def softmax_is_spelled_out(g):
    node = find(g, aten._softmax.default)
    with g.inserting_before(node):
        top = g.call_function(aten.amax.default, (node.args[0], [-1], True))
        low = g.call_function(aten.sub.Tensor, (node.args[0], top))
        exp = g.call_function(aten.exp.default, (low,))
        total = g.call_function(aten.sum.dim_IntList, (exp, [-1], True))
        made = g.call_function(aten.div.Tensor, (exp, total))
    node.replace_all_uses_with(made)
    g.erase_node(node)


@case(conv, wrong=False)
def nothing_is_done(g):
    g.eliminate_dead_code()


@case(conv, wrong=False)
def a_copy_is_made(g):
    node = find(g, aten.gelu.default)
    with g.inserting_after(node):
        made = g.call_function(aten.clone.default, (node,))
    node.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)


def managed(edit):
    def run(gm):
        edit(gm.graph)
        return PassResult(gm, True)

    return functools.wraps(edit)(run)


for edit, function, wrong in PASSES:
    gm = make_fx(function, tracing_mode="fake")(*INPUTS[function])
    PassManager([managed(edit)])(gm)
    print("PASS", edit.__name__, int(wrong))


class Activated(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y) * 2


def add_then_relu(a, b):
    return torch.relu(a + b)


def relu_then_add(a, b):
    return torch.relu(a) + b


def add_in_order(a, b):
    return torch.relu(b + a)


for new, wrong in ((relu_then_add, 1), (add_in_order, 0)):
    gm = torch.fx.symbolic_trace(Activated())
    ShapeProp(gm).propagate(R(3, 4), R(3, 4))
    replace_pattern(gm, add_then_relu, new)
    print("PASS", f"replace_pattern {add_then_relu.__name__}", wrong)
