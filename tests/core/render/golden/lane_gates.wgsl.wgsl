@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<u32>;
@group(0) @binding(2) var<storage, read_write> data2: array<f32>;
@group(0) @binding(3) var<storage, read_write> data3: array<u32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_lane_gates(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  for (var i0_10: i32 = 0; i0_10 < 8; i0_10++) {
    let v11 = i0_10 * 4;
    let v14_0 = data2[v11];
    let v14_1 = data2[v11 + 1];
    let v18 = i0_10 < 7;
    let v20_0 = select((-1.0f), data2[v11 + 2], v18);
    let v20_1 = select((-1.0f), data2[(v11 + 2) + 1], v18);
    let v24 = i0_10 * 8;
    let w27_0 = data3[v24 >> 1u];
    let w27_2 = data3[(v24 + 2) >> 1u];
    let v27_0 = w27_0 & 65535u;
    let v27_1 = (w27_0 >> 16u) & 65535u;
    let v27_2 = w27_2 & 65535u;
    let v27_3 = (w27_2 >> 16u) & 65535u;
    let w34_0 = data3[(v24 + 4) >> 1u];
    let w34_2 = data3[((v24 + 4) + 2) >> 1u];
    let v34_0 = select(14336u, (w34_0 & 65535u), v18);
    let v34_1 = select(14336u, ((w34_0 >> 16u) & 65535u), v18);
    let v34_2 = select(14336u, (w34_2 & 65535u), v18);
    let v34_3 = select(14336u, ((w34_2 >> 16u) & 65535u), v18);
    data0[v11] = v14_0;
    data0[v11 + 1] = v14_1;
    data0[v11 + 2] = v20_0;
    data0[v11 + 3] = v20_1;
    data1[v24 >> 1u] = v27_0 | (v27_1 << 16u);
    data1[(v24 + 2) >> 1u] = v27_2 | (v27_3 << 16u);
    data1[(v24 + 4) >> 1u] = v34_0 | (v34_1 << 16u);
    data1[(v24 + 6) >> 1u] = v34_2 | (v34_3 << 16u);
  }
}
