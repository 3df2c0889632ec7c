"""A model that ONNX Script's rewriter changes; prints how many rules it says it applied."""

import onnx
import onnx_ir as ir
from onnxscript.rewriter import pattern

MODEL = """<ir_version: 10, opset_import: ["" : 20]>
main (float[4] x, float[4] y) => (float[4] z) {
  zero = Constant <value = float[1] {0.0}> ()
  a = Identity (x)
  b = Add (a, y)
  c = Neg (b)
  d = Neg (c)
  e = Relu (d)
  z = Neg (e)
}
"""


def twice(op, x):
    return op.Neg(op.Neg(x))


def plain(op, x):
    return op.Identity(x)


def never(context, x):
    return pattern.MatchResult().fail("it is never so", x)


def relu(op, x):
    return op.Relu(x)


rules = pattern.RewriteRuleSet(
    [
        pattern.RewriteRule(twice, plain, name="neg_neg"),
        pattern.RewriteRule(relu, plain, never, name="relu_is_plain"),
    ]
)
model = ir.serde.deserialize_model(onnx.parser.parse_model(MODEL))
print("COUNT", rules.apply_to_model(model))
print(*(node.op_type for node in model.graph))
