#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void kernel_shared(__global float* restrict data0, __global float* restrict data1) {
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int v6 = (gidx0 * 32) + lidx0;
  __local __attribute__((aligned(16))) float shared8[32];
  shared8[lidx0] = data1[v6];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  data0[v6] = shared8[31 - lidx0];
}
