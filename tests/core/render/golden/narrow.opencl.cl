#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kernel_narrow(__global char* restrict data0, __global uchar* restrict data1, __global char* restrict data2, __global uchar* restrict data3) {
  for (int i0_7 = 0; i0_7 < 8; i0_7++) {
    int v8 = i0_7 * 4;
    char4 v11 = *(__global char4*)(data2 + v8);
    uchar4 v14 = *(__global uchar4*)(data3 + v8);
    char v17 = (char)(v11.s0 + as_char((uchar)(v14.s0)));
    uchar v18 = v17 < 0;
    char v22 = (char)(v11.s1 + as_char((uchar)(v14.s1)));
    uchar v23 = v22 < 0;
    char v27 = (char)(v11.s2 + as_char((uchar)(v14.s2)));
    uchar v28 = v27 < 0;
    char v32 = (char)(v11.s3 + as_char((uchar)(v14.s3)));
    uchar v33 = v32 < 0;
    *(__global uchar4*)(data1 + v8) = (uchar4)(v18, v23, v28, v33);
    *(__global char4*)(data0 + v8) = (char4)(v17, v22, v27, v32);
  }
}
