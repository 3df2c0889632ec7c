#include <hip/hip_runtime.h>
struct __align__(4) float32x1 { float v[1]; };
struct __align__(16) float32x4 { float v[4]; };
__device__ inline float32x4 mfma_f32_16x16x4_f32(float32x1 a, float32x1 b, float32x4 c) {
  typedef float operand;
  typedef float sums __attribute__((ext_vector_type(4)));
  operand x = __builtin_bit_cast(operand, a), y = __builtin_bit_cast(operand, b);
  sums d = __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, __builtin_bit_cast(sums, c), 0, 0, 0);
  return __builtin_bit_cast(float32x4, d);
}
extern "C" __global__ void __launch_bounds__(64) r_32_16_8_pdqn(float* __restrict__ data0, float* __restrict__ data1, float* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  int v4 = lidx0 >> 4;
  int v7 = lidx0 & 15;
  int v8 = (v4 * 64) + v7;
  float acc10[8];
  acc10[0] = 0.0f;
  acc10[1] = 0.0f;
  acc10[2] = 0.0f;
  acc10[3] = 0.0f;
  acc10[4] = 0.0f;
  acc10[5] = 0.0f;
  acc10[6] = 0.0f;
  acc10[7] = 0.0f;
  int v38 = v7 * 8;
  for (int i1_41 = 0; i1_41 < 2; i1_41++) {
    int v46 = ((i1_41 * 4) + v4) + v38;
    float v48 = data1[v46];
    float v52 = data2[lidx0 + (i1_41 * 64)];
    float v53 = acc10[0];
    float v55 = acc10[1];
    float v57 = acc10[2];
    float v59 = acc10[3];
    float32x4 v61 = mfma_f32_16x16x4_f32(float32x1{{v48}}, float32x1{{v52}}, float32x4{{v53, v55, v57, v59}});
    acc10[0] = v61.v[0];
    acc10[1] = v61.v[1];
    acc10[2] = v61.v[2];
    acc10[3] = v61.v[3];
    float v73 = data1[v46 + 128];
    float v74 = acc10[4];
    float v76 = acc10[5];
    float v78 = acc10[6];
    float v80 = acc10[7];
    float32x4 v82 = mfma_f32_16x16x4_f32(float32x1{{v73}}, float32x1{{v52}}, float32x4{{v74, v76, v78, v80}});
    acc10[4] = v82.v[0];
    acc10[5] = v82.v[1];
    acc10[6] = v82.v[2];
    acc10[7] = v82.v[3];
  }
  data0[v8] = acc10[0];
  data0[v8 + 16] = acc10[1];
  data0[v8 + 32] = acc10[2];
  data0[v8 + 48] = acc10[3];
  data0[v8 + 256] = acc10[4];
  data0[v8 + 272] = acc10[5];
  data0[v8 + 288] = acc10[6];
  data0[v8 + 304] = acc10[7];
}
