#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_gated(__global float* restrict data0, __global float* restrict data1) {
  for (int i0_9 = 0; i0_9 < 8; i0_9++) {
    int v10 = i0_9 * 4;
    float4 v14 = (i0_9 < 4) ? *(__global float4*)(data1 + v10) : (float4)((-1.0f), (-1.0f), (-1.0f), (-1.0f));
    float v17 = (i0_9 < 4) ? data1[v10] : 7.0f;
    uchar v19 = (i0_9 & 1) != 0;
    *(__global float4*)(data0 + v10) = (float4)(v14.s0, v14.s1, v14.s2, v14.s3);
    if (v19) {
      data0[i0_9 + 32] = v17;
    }
  }
}
