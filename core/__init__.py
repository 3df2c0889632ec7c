"""The tensor compiler: Tensor programs become kernels by rewriting one graph of UOps."""

from core import nn as nn
from core.dtype import dtypes as dtypes
from core.helpers import Context as Context
from core.jit import TinyJit as TinyJit
from core.observers import start_observers
from core.runtime.device import Device as Device
from core.tensor import Tensor as Tensor
from core.uop.uop import UOp as UOp

Variable = UOp.variable
"""An integer given at launch: `Variable(name, low, high)`."""

start_observers()
