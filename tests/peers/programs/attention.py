"""A block with attention, forward and backward, compiled by Inductor."""

import torch
from torch import nn
from torch._dynamo.utils import counters

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


block, x = Block(), torch.randn(2, 16, 64)
y = torch.compile(block)(x)
y.sum().backward()
print(y.sum().item(), block.qkv.weight.grad.norm().item())
print("COUNT", counters["inductor"]["pattern_matcher_count"])
