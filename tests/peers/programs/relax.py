"""A small network in Relax, through a pipeline of TVM and a pass without a context. Prints how many
passes ran that no other pass ran in, by an instrument of its own, and the module that came out.
"""

import tvm
from tvm import relax
from tvm.ir.instrument import pass_instrument

NET = tvm.script.from_source("""
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.nn.relu(y)
            unused = R.add(z, R.const(1.0))
            R.output(z)
        return z
""")


@pass_instrument
class Counting:
    def __init__(self):
        self.names, self.open = [], []

    def run_before_pass(self, module, info):
        if self.open:
            self.open[-1] = False
        self.open.append(True)

    def run_after_pass(self, module, info):
        if self.open.pop():
            self.names.append(info.name)


counting = Counting()
with tvm.transform.PassContext(opt_level=3, instruments=[counting]):
    made = relax.get_pipeline("zero")(NET)
last = relax.transform.DeadCodeElimination()(NET)
print("PASSES", *counting.names)
print("LEFT", len(tvm.transform.PassContext.current().instruments) <= 1)
print(last.script())
