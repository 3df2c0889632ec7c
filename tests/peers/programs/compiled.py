"""An attention block of torch, forward and backward, compiled."""

import torch


def attention(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    weights = torch.softmax(q @ k.transpose(-2, -1) * 0.25, dim=-1)
    return torch.relu(weights @ v + 1.0).sum()


values = [torch.randn(4, 16)] + [torch.randn(16, 16, requires_grad=True) for _ in range(3)]
torch.compile(attention)(*values).backward()
with torch.no_grad():
    torch.compile(attention)(*values)
