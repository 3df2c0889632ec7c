#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct __align__(16) float32x4 { float v[4]; };
extern "C" __global__ void __launch_bounds__(1) register_arrays(float* __restrict__ data0, float* __restrict__ data1) {
  float acc2[4];
  float acc3[8];
  float32x4 v6 = *(float32x4*)(data1 + 0);
  acc2[0] = v6.v[0];
  acc2[1] = v6.v[1];
  acc2[2] = v6.v[2];
  acc2[3] = v6.v[3];
  for (int i0_10 = 0; i0_10 < 8; i0_10++) {
    acc3[i0_10] = data1[i0_10] * 2.0f;
  }
  for (int i1_19 = 0; i1_19 < 8; i1_19++) {
    data0[i1_19] = acc3[7 - i1_19] + acc2[2];
  }
}
