builtin.module {
  func.func @f(%n: i32, %m: memref<8xi32>) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = arith.addi %n, %c0 : i32
    %b = arith.muli %a, %c1 : i32
    %u = arith.addi %c1, %c1 : i32
    %d = arith.addi %b, %b : i32
    %e = arith.addi %b, %b : i32
    %lb = arith.constant 0 : index
    %ub = arith.constant 8 : index
    %st = arith.constant 1 : index
    scf.for %i = %lb to %ub step %st {
      memref.store %d, %m[%i] : memref<8xi32>
    }
    %r = arith.addi %d, %e : i32
    func.return %r : i32
  }
}
