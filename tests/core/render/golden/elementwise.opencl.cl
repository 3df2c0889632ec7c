#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_elementwise(__global float* restrict data0, __global float* restrict data1, __global float* restrict data2) {
  for (int i0_6 = 0; i0_6 < 16; i0_6++) {
    int v7 = i0_6 * 4;
    float4 v10 = *(__global float4*)(data1 + v7);
    float4 v13 = *(__global float4*)(data2 + v7);
    float v15 = fma(v10.s0, v13.s0, 1.5f);
    float v18 = fma(v10.s1, v13.s1, 1.5f);
    float v21 = fma(v10.s2, v13.s2, 1.5f);
    float v24 = fma(v10.s3, v13.s3, 1.5f);
    *(__global float4*)(data0 + v7) = (float4)(v15, v18, v21, v24);
  }
}
