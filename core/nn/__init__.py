"""Layers, optimizers (`optim`), the state of models (`state`), and sets of images (`datasets`).

A layer is an object with Tensors as attributes and a `__call__`; models are made of them in plain
Python. Names, arguments and initial values follow PyTorch.
"""

from core.nn import datasets as datasets
from core.nn import optim as optim
from core.nn import state as state
from core.nn.layers import Conv1d as Conv1d
from core.nn.layers import Conv2d as Conv2d
from core.nn.layers import ConvTranspose1d as ConvTranspose1d
from core.nn.layers import ConvTranspose2d as ConvTranspose2d
from core.nn.layers import Embedding as Embedding
from core.nn.layers import Linear as Linear
from core.nn.layers import LSTMCell as LSTMCell
from core.nn.norms import BatchNorm as BatchNorm
from core.nn.norms import GroupNorm as GroupNorm
from core.nn.norms import InstanceNorm as InstanceNorm
from core.nn.norms import LayerNorm as LayerNorm
from core.nn.norms import LayerNorm2d as LayerNorm2d
from core.nn.norms import RMSNorm as RMSNorm
from core.tensor.origin import mark_object

for _layer in (
    *(Linear, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d, Embedding),
    *(BatchNorm, GroupNorm, InstanceNorm, LayerNorm, LayerNorm2d, RMSNorm, LSTMCell),
):
    mark_object(_layer, __call__="")
mark_object(optim.Optimizer, step=".step", schedule_step=".schedule_step")
for _optimizer in (optim.SGD, optim.AdamW, optim.Adam, optim.LARS, optim.LAMB, optim.Muon):
    mark_object(_optimizer)

BatchNorm2d = BatchNorm3d = BatchNorm
