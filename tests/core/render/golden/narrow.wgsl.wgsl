@group(0) @binding(0) var<storage, read_write> data0: array<u32>;
@group(0) @binding(1) var<storage, read_write> data1: array<u32>;
@group(0) @binding(2) var<storage, read_write> data2: array<u32>;
@group(0) @binding(3) var<storage, read_write> data3: array<u32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_narrow(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  for (var i0_7: i32 = 0; i0_7 < 8; i0_7++) {
    let v8 = i0_7 * 4;
    let w11_0 = data2[v8 >> 2u];
    let v11_0 = (i32(w11_0) << 24u) >> 24u;
    let v11_1 = (i32((w11_0 >> 8u)) << 24u) >> 24u;
    let v11_2 = (i32((w11_0 >> 16u)) << 24u) >> 24u;
    let v11_3 = (i32((w11_0 >> 24u)) << 24u) >> 24u;
    let w15_0 = data3[v8 >> 2u];
    let v15_0 = w15_0 & 255u;
    let v15_1 = (w15_0 >> 8u) & 255u;
    let v15_2 = (w15_0 >> 16u) & 255u;
    let v15_3 = (w15_0 >> 24u) & 255u;
    let v20 = ((v11_0 + ((i32(v15_0) << 24u) >> 24u)) << 24u) >> 24u;
    let v21 = v20 < 0;
    let v28 = ((v11_1 + ((i32(v15_1) << 24u) >> 24u)) << 24u) >> 24u;
    let v29 = v28 < 0;
    let v36 = ((v11_2 + ((i32(v15_2) << 24u) >> 24u)) << 24u) >> 24u;
    let v37 = v36 < 0;
    let v44 = ((v11_3 + ((i32(v15_3) << 24u) >> 24u)) << 24u) >> 24u;
    let v45 = v44 < 0;
    data1[v8 >> 2u] = select(0u, 1u, v21) | (select(0u, 1u, v29) << 8u) | (select(0u, 1u, v37) << 16u) | (select(0u, 1u, v45) << 24u);
    data0[v8 >> 2u] = (bitcast<u32>(v20) & 255u) | ((bitcast<u32>(v28) & 255u) << 8u) | ((bitcast<u32>(v36) & 255u) << 16u) | ((bitcast<u32>(v44) & 255u) << 24u);
  }
}
