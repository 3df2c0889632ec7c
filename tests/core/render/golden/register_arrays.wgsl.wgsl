@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<f32>;
@compute @workgroup_size(1, 1, 1)
fn kernel_register_arrays(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  var acc2: array<f32, 8>;
  var acc3: array<f32, 4>;
  let v8_0 = data1[0];
  let v8_1 = data1[1];
  let v8_2 = data1[2];
  let v8_3 = data1[3];
  acc3[0] = v8_0;
  acc3[1] = v8_1;
  acc3[2] = v8_2;
  acc3[3] = v8_3;
  for (var i0_25: i32 = 0; i0_25 < 8; i0_25++) {
    let v29 = data1[i0_25];
    acc2[i0_25] = v29 * 2.0f;
  }
  let v36 = acc3[2];
  for (var i1_37: i32 = 0; i1_37 < 8; i1_37++) {
    let v42 = acc2[7 - i1_37];
    data0[i1_37] = v42 + v36;
  }
}
