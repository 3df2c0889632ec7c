#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_matrix_vector(__global float* restrict data0, __global float* restrict data1, __global float* restrict data2) {
  float acc2[1];
  for (int i0_8 = 0; i0_8 < 8; i0_8++) {
    acc2[0] = 0.0f;
    int v13 = i0_8 * 12;
    for (int i1_14 = 0; i1_14 < 12; i1_14++) {
      acc2[0] = fma(data1[v13 + i1_14], data2[i1_14], acc2[0]);
    }
    data0[i0_8] = acc2[0];
  }
}
