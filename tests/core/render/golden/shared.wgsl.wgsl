@group(0) @binding(0) var<storage, read_write> data0: array<f32>;
@group(0) @binding(1) var<storage, read_write> data1: array<f32>;
var<workgroup> shared8: array<f32, 32>;
@compute @workgroup_size(32, 1, 1)
fn kernel_shared(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) thread: vec3<u32>,
) {
  let gidx0 = i32(group.x);
  let lidx0 = i32(thread.x);
  let v6 = (gidx0 * 32) + lidx0;
  let v12 = data1[v6];
  shared8[lidx0] = v12;
  workgroupBarrier();
  let v19 = shared8[31 - lidx0];
  data0[v6] = v19;
}
