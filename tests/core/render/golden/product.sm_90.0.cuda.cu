#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct __align__(8) float16x4 { half v[4]; };
struct __align__(16) float16x8 { half v[8]; };
struct __align__(16) float32x4 { float v[4]; };
struct __align__(8) float32x2 { float v[2]; };
__device__ inline float32x4 mma_m16n8k16_f32_f16_f16_f32(float16x8 a, float16x4 b, float32x4 c) {
  const unsigned int* x = (const unsigned int*)&a;
  const unsigned int* y = (const unsigned int*)&b;
  float* d = (float*)&c;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}
extern "C" __global__ void __launch_bounds__(32) r_32_8_32_bqnn(float* __restrict__ data0, half* __restrict__ data1, half* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  int v4 = lidx0 * 2;
  float acc6[8];
  acc6[0] = 0.0f;
  acc6[1] = 0.0f;
  acc6[2] = 0.0f;
  acc6[3] = 0.0f;
  acc6[4] = 0.0f;
  acc6[5] = 0.0f;
  acc6[6] = 0.0f;
  acc6[7] = 0.0f;
  int v34 = lidx0 >> 2;
  int v35 = v34 * 32;
  int v36 = lidx0 & 3;
  int v37 = v36 * 4;
  int v41 = v36 * 32;
  for (int i1_46 = 0; i1_46 < 2; i1_46++) {
    int v51 = ((i1_46 * 16) + v35) + v37;
    float16x4 v53 = *(float16x4*)(data1 + v51);
    float16x4 v58 = *(float16x4*)(data1 + v51 + 256);
    int v68 = ((i1_46 * 128) + v34) + v41;
    half v70 = data2[v68];
    half v73 = data2[v68 + 8];
    half v76 = data2[v68 + 16];
    half v79 = data2[v68 + 24];
    float v81 = acc6[0];
    float v83 = acc6[1];
    float v85 = acc6[2];
    float v87 = acc6[3];
    float32x4 v89 = mma_m16n8k16_f32_f16_f16_f32(float16x8{{v53.v[0], v53.v[1], v58.v[0], v58.v[1], v53.v[2], v53.v[3], v58.v[2], v58.v[3]}}, float16x4{{v70, v73, v76, v79}}, float32x4{{v81, v83, v85, v87}});
    acc6[0] = v89.v[0];
    acc6[1] = v89.v[1];
    acc6[2] = v89.v[2];
    acc6[3] = v89.v[3];
    float16x4 v101 = *(float16x4*)(data1 + v51 + 512);
    float16x4 v106 = *(float16x4*)(data1 + v51 + 768);
    float v114 = acc6[4];
    float v116 = acc6[5];
    float v118 = acc6[6];
    float v120 = acc6[7];
    float32x4 v122 = mma_m16n8k16_f32_f16_f16_f32(float16x8{{v101.v[0], v101.v[1], v106.v[0], v106.v[1], v101.v[2], v101.v[3], v106.v[2], v106.v[3]}}, float16x4{{v70, v73, v76, v79}}, float32x4{{v114, v116, v118, v120}});
    acc6[4] = v122.v[0];
    acc6[5] = v122.v[1];
    acc6[6] = v122.v[2];
    acc6[7] = v122.v[3];
  }
  float v135 = acc6[0];
  float v137 = acc6[1];
  float v143 = acc6[2];
  float v145 = acc6[3];
  float v150 = acc6[4];
  float v152 = acc6[5];
  float v158 = acc6[6];
  float v160 = acc6[7];
  *(float32x2*)(data0 + v4) = float32x2{{v135, v137}};
  *(float32x2*)(data0 + v4 + 64) = float32x2{{v143, v145}};
  *(float32x2*)(data0 + v4 + 128) = float32x2{{v150, v152}};
  *(float32x2*)(data0 + v4 + 192) = float32x2{{v158, v160}};
}
