@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<f32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_gated(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  for (var i0_9: i32 = 0; i0_9 < 8; i0_9++) {
    let v10 = i0_9 * 4;
    let v14_0 = select((-1.0f), data1[v10], (i0_9 < 4));
    let v14_1 = select((-1.0f), data1[v10 + 1], (i0_9 < 4));
    let v14_2 = select((-1.0f), data1[v10 + 2], (i0_9 < 4));
    let v14_3 = select((-1.0f), data1[v10 + 3], (i0_9 < 4));
    let v17 = select(7.0f, data1[v10], (i0_9 < 4));
    let v19 = (i0_9 & 1) != 0;
    data0[v10] = v14_0;
    data0[v10 + 1] = v14_1;
    data0[v10 + 2] = v14_2;
    data0[v10 + 3] = v14_3;
    if (v19) {
      data0[i0_9 + 32] = v17;
    }
  }
}
