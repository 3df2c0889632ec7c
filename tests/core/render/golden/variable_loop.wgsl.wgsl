@group(0) @binding(0) var<storage, read_write> data0: array<i32>;
struct Variables { var_n: i32 }
@group(0) @binding(1) var<uniform> variables: Variables;
@compute @workgroup_size(1, 1, 1)
fn kernel_variable_loop(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  var acc3: array<i32, 1>;
  acc3[0] = 5;
  let v7 = variables.var_n;
  for (var i0_8: i32 = 0; i0_8 < v7; i0_8++) {
    let v11 = acc3[0];
    acc3[0] = v11 + i0_8;
  }
  let v17 = acc3[0];
  data0[0] = v17;
}
