// -----// IR Dump Before CanonicalizerPass (canonicalize) //----- //
#map = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<4xf32> loc("a.py":3:1), %n: index) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index loc(#loc1)
    %cst = arith.constant dense<0.000000e+00> : tensor<4xf32>
    %0 = arith.addf %arg0, %cst : tensor<4xf32> loc(#loc2)
    %1:2 = scf.for %i = %c0 to %n step %c0 iter_args(%a = %0, %b = %c0) -> (tensor<4xf32>, index) {
      %2 = arith.mulf %a, %0 : tensor<4xf32>
      scf.yield %2, %i : tensor<4xf32>, index
    }
    %3 = scf.if %cond -> (index) {
      scf.yield %c0 : index
    } else {
      scf.yield %n : index
    }
    cf.br ^bb1(%3 : index)
  ^bb1(%x: index):
    return %1#0 : tensor<4xf32>
  }
}
#loc1 = loc("a.py":4:3)
#loc2 = loc("add"(#loc1))
// -----// IR Dump After CanonicalizerPass (canonicalize) //----- //
module {
  func.func @main(%arg0: tensor<4xf32>, %n: index) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index loc(#loc1)
    %1:2 = scf.for %i = %c0 to %n step %c0 iter_args(%a = %arg0, %b = %c0) -> (tensor<4xf32>, index) {
      %2 = arith.mulf %a, %arg0 : tensor<4xf32>
      scf.yield %2, %i : tensor<4xf32>, index
    }
    return %1#0 : tensor<4xf32>
  }
}
#loc1 = loc("a.py":4:3)
// -----// IR Dump After CSE (cse) //----- //
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "arith.constant"() <{value = "a // { \" b"}> : () -> f32 loc("x.py":9:2)
    %1:2 = "test.two"(%0) {a = [1, 2]} : (f32) -> (f32, f32)
    "scf.if"(%1#1) ({
      "scf.yield"(%1#0) : (f32) -> ()
    }, {
      "scf.yield"(%0) : (f32) -> ()
    }) {k = 1} : (f32) -> ()
    "func.return"(%arg0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
