#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_register_arrays(__global float* restrict data0, __global float* restrict data1) {
  float acc2[8];
  float acc3[4];
  float4 v8 = *(__global float4*)(data1 + 0);
  acc3[0] = v8.s0;
  acc3[1] = v8.s1;
  acc3[2] = v8.s2;
  acc3[3] = v8.s3;
  for (int i0_25 = 0; i0_25 < 8; i0_25++) {
    acc2[i0_25] = data1[i0_25] * 2.0f;
  }
  float v36 = acc3[2];
  for (int i1_37 = 0; i1_37 < 8; i1_37++) {
    data0[i1_37] = acc2[7 - i1_37] + v36;
  }
}
