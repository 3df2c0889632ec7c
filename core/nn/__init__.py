"""Layers, optimizers (`optim`), the state of models (`state`), and sets of images (`datasets`).

A layer is an object with Tensors as attributes and a `__call__`; models are made of them in plain
Python. Names, arguments and initial values follow PyTorch.
"""

from core.nn import datasets as datasets
from core.nn import lr_scheduler as lr_scheduler
from core.nn import optim as optim
from core.nn import state as state
from core.nn.layers.activations import CELU as CELU
from core.nn.layers.activations import ELU as ELU
from core.nn.layers.activations import GELU as GELU
from core.nn.layers.activations import GLU as GLU
from core.nn.layers.activations import SELU as SELU
from core.nn.layers.activations import Dropout as Dropout
from core.nn.layers.activations import Flatten as Flatten
from core.nn.layers.activations import Hardshrink as Hardshrink
from core.nn.layers.activations import Hardsigmoid as Hardsigmoid
from core.nn.layers.activations import Hardswish as Hardswish
from core.nn.layers.activations import Hardtanh as Hardtanh
from core.nn.layers.activations import Identity as Identity
from core.nn.layers.activations import LeakyReLU as LeakyReLU
from core.nn.layers.activations import LogSigmoid as LogSigmoid
from core.nn.layers.activations import LogSoftmax as LogSoftmax
from core.nn.layers.activations import Mish as Mish
from core.nn.layers.activations import PReLU as PReLU
from core.nn.layers.activations import ReLU as ReLU
from core.nn.layers.activations import ReLU6 as ReLU6
from core.nn.layers.activations import Sequential as Sequential
from core.nn.layers.activations import Sigmoid as Sigmoid
from core.nn.layers.activations import SiLU as SiLU
from core.nn.layers.activations import Softmax as Softmax
from core.nn.layers.activations import Softmin as Softmin
from core.nn.layers.activations import Softplus as Softplus
from core.nn.layers.activations import Softshrink as Softshrink
from core.nn.layers.activations import Softsign as Softsign
from core.nn.layers.activations import Tanh as Tanh
from core.nn.layers.activations import Tanhshrink as Tanhshrink
from core.nn.layers.losses import BCELoss as BCELoss
from core.nn.layers.losses import BCEWithLogitsLoss as BCEWithLogitsLoss
from core.nn.layers.losses import CosineEmbeddingLoss as CosineEmbeddingLoss
from core.nn.layers.losses import CrossEntropyLoss as CrossEntropyLoss
from core.nn.layers.losses import CTCLoss as CTCLoss
from core.nn.layers.losses import GaussianNLLLoss as GaussianNLLLoss
from core.nn.layers.losses import HingeEmbeddingLoss as HingeEmbeddingLoss
from core.nn.layers.losses import HuberLoss as HuberLoss
from core.nn.layers.losses import KLDivLoss as KLDivLoss
from core.nn.layers.losses import L1Loss as L1Loss
from core.nn.layers.losses import MarginRankingLoss as MarginRankingLoss
from core.nn.layers.losses import MSELoss as MSELoss
from core.nn.layers.losses import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from core.nn.layers.losses import MultiMarginLoss as MultiMarginLoss
from core.nn.layers.losses import NLLLoss as NLLLoss
from core.nn.layers.losses import PoissonNLLLoss as PoissonNLLLoss
from core.nn.layers.losses import SmoothL1Loss as SmoothL1Loss
from core.nn.layers.losses import SoftMarginLoss as SoftMarginLoss
from core.nn.layers.losses import TripletMarginLoss as TripletMarginLoss
from core.nn.layers.norms import BatchNorm as BatchNorm
from core.nn.layers.norms import GroupNorm as GroupNorm
from core.nn.layers.norms import InstanceNorm as InstanceNorm
from core.nn.layers.norms import LayerNorm as LayerNorm
from core.nn.layers.norms import LayerNorm2d as LayerNorm2d
from core.nn.layers.norms import RMSNorm as RMSNorm
from core.nn.layers.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from core.nn.layers.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from core.nn.layers.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from core.nn.layers.pooling import AvgPool1d as AvgPool1d
from core.nn.layers.pooling import AvgPool2d as AvgPool2d
from core.nn.layers.pooling import AvgPool3d as AvgPool3d
from core.nn.layers.pooling import MaxPool1d as MaxPool1d
from core.nn.layers.pooling import MaxPool2d as MaxPool2d
from core.nn.layers.pooling import MaxPool3d as MaxPool3d
from core.nn.layers.recurrent import GRU as GRU
from core.nn.layers.recurrent import LSTM as LSTM
from core.nn.layers.recurrent import RNN as RNN
from core.nn.layers.recurrent import GRUCell as GRUCell
from core.nn.layers.recurrent import LSTMCell as LSTMCell
from core.nn.layers.recurrent import RNNCell as RNNCell
from core.nn.layers.transformer import MultiheadAttention as MultiheadAttention
from core.nn.layers.transformer import TransformerEncoder as TransformerEncoder
from core.nn.layers.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from core.nn.layers.weights import Conv1d as Conv1d
from core.nn.layers.weights import Conv2d as Conv2d
from core.nn.layers.weights import ConvTranspose1d as ConvTranspose1d
from core.nn.layers.weights import ConvTranspose2d as ConvTranspose2d
from core.nn.layers.weights import Embedding as Embedding
from core.nn.layers.weights import Linear as Linear
from core.tensor import Tensor
from core.tensor.calls.origin import mark_object

for _layer in tuple(vars().values()):
    if isinstance(_layer, type) and _layer.__module__.startswith("core.nn.layers."):
        mark_object(_layer, Tensor, __call__="")
for _stepped in (*vars(optim).values(), *vars(lr_scheduler).values()):
    if isinstance(_stepped, type) and _stepped.__module__ in (
        optim.__name__,
        lr_scheduler.__name__,
    ):
        mark_object(_stepped, Tensor, step=".step", schedule_step=".schedule_step")

BatchNorm2d = BatchNorm3d = BatchNorm
