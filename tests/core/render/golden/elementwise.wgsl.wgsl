@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<f32>;
@group(0) @binding(2) var<storage, read_write> data2: array<f32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_elementwise(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  for (var i0_6: i32 = 0; i0_6 < 16; i0_6++) {
    let v7 = i0_6 * 4;
    let v10_0 = data1[v7];
    let v10_1 = data1[v7 + 1];
    let v10_2 = data1[v7 + 2];
    let v10_3 = data1[v7 + 3];
    let v13_0 = data2[v7];
    let v13_1 = data2[v7 + 1];
    let v13_2 = data2[v7 + 2];
    let v13_3 = data2[v7 + 3];
    let v16 = (v10_0 * v13_0) + 1.5f;
    let v20 = (v10_1 * v13_1) + 1.5f;
    let v24 = (v10_2 * v13_2) + 1.5f;
    let v28 = (v10_3 * v13_3) + 1.5f;
    data0[v7] = v16;
    data0[v7 + 1] = v20;
    data0[v7 + 2] = v24;
    data0[v7 + 3] = v28;
  }
}
