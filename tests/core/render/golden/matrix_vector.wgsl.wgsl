@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<f32>;
@group(0) @binding(2) var<storage, read_write> data2: array<f32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_matrix_vector(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  var acc2: array<f32, 1>;
  for (var i0_8: i32 = 0; i0_8 < 8; i0_8++) {
    acc2[0] = 0.0f;
    let v13 = i0_8 * 12;
    for (var i1_14: i32 = 0; i1_14 < 12; i1_14++) {
      let v19 = data1[v13 + i1_14];
      let v21 = data2[i1_14];
      let v22 = acc2[0];
      acc2[0] = fma(v19, v21, v22);
    }
    let v28 = acc2[0];
    data0[i0_8] = v28;
  }
}
