#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(1) matrix_vector(float* __restrict__ data0, float* __restrict__ data1, float* __restrict__ data2) {
  for (int i0_4 = 0; i0_4 < 8; i0_4++) {
    float acc5[1];
    acc5[0] = 0.0f;
    for (int i1_12 = 0; i1_12 < 12; i1_12++) {
      acc5[0] = fmaf(data1[(i0_4 * 12) + i1_12], data2[i1_12], acc5[0]);
    }
    data0[i0_4] = acc5[0];
  }
}
