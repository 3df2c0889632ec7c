#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_variable_loop(__global int* restrict data0, int var_n) {
  int acc3[1];
  acc3[0] = 5;
  for (int i0_8 = 0; i0_8 < var_n; i0_8++) {
    acc3[0] = acc3[0] + i0_8;
  }
  data0[0] = acc3[0];
}
