#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_lane_gates(__global float* restrict data0, __global ushort* restrict data1, __global float* restrict data2, __global ushort* restrict data3) {
  for (int i0_10 = 0; i0_10 < 8; i0_10++) {
    int v11 = i0_10 * 4;
    float2 v14 = *(__global float2*)(data2 + v11);
    uchar v18 = i0_10 < 7;
    float2 v20 = v18 ? *(__global float2*)(data2 + v11 + 2) : (float2)((-1.0f), (-1.0f));
    int v24 = i0_10 * 8;
    ushort4 v27 = *(__global ushort4*)(data3 + v24);
    ushort4 v34 = v18 ? *(__global ushort4*)(data3 + v24 + 4) : (ushort4)(14336, 14336, 14336, 14336);
    *(__global float4*)(data0 + v11) = (float4)(v14.s0, v14.s1, v20.s0, v20.s1);
    *(__global ushort8*)(data1 + v24) = (ushort8)(v27.s0, v27.s1, v27.s2, v27.s3, v34.s0, v34.s1, v34.s2, v34.s3);
  }
}
