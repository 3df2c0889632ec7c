#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct __align__(16) float32x4 { float v[4]; };
extern "C" __global__ void __launch_bounds__(1) elementwise(float* __restrict__ data0, float* __restrict__ data1, float* __restrict__ data2) {
  for (int i0_4 = 0; i0_4 < 16; i0_4++) {
    int v6 = i0_4 * 4;
    float32x4 v8 = *(float32x4*)(data1 + v6);
    float32x4 v10 = *(float32x4*)(data2 + v6);
    float v11_0 = v8.v[0] * v10.v[0];
    float v11_1 = v8.v[1] * v10.v[1];
    float v11_2 = v8.v[2] * v10.v[2];
    float v11_3 = v8.v[3] * v10.v[3];
    float v13_0 = v11_0 + 1.5f;
    float v13_1 = v11_1 + 1.5f;
    float v13_2 = v11_2 + 1.5f;
    float v13_3 = v11_3 + 1.5f;
    *(float32x4*)(data0 + v6) = float32x4{{v13_0, v13_1, v13_2, v13_3}};
  }
}
