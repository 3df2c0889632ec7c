#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct __align__(8) float32x2 { float v[2]; };
struct __align__(16) float32x4 { float v[4]; };
__device__ inline float32x4 mma_m16n8k8_f32_tf32_tf32_f32(float32x4 a, float32x2 b, float32x4 c) {
  const unsigned int* x = (const unsigned int*)&a;
  const unsigned int* y = (const unsigned int*)&b;
  float* d = (float*)&c;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}
extern "C" __global__ void __launch_bounds__(32) r_32_8_16_dspg(float* __restrict__ data0, float* __restrict__ data1, float* __restrict__ data2) {
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
  int v36 = v34 * 16;
  int v37 = lidx0 & 3;
  int v38 = v37 * 2;
  int v42 = v37 * 16;
  for (int i1_45 = 0; i1_45 < 2; i1_45++) {
    int v50 = ((i1_45 * 8) + v36) + v38;
    float32x2 v52 = *(float32x2*)(data1 + v50);
    float32x2 v56 = *(float32x2*)(data1 + v50 + 128);
    int v63 = ((i1_45 * 64) + v34) + v42;
    float v65 = data2[v63];
    float v68 = data2[v63 + 8];
    float v70 = acc6[0];
    float v72 = acc6[1];
    float v74 = acc6[2];
    float v76 = acc6[3];
    float32x4 v78 = mma_m16n8k8_f32_tf32_tf32_f32(float32x4{{v52.v[0], v56.v[0], v52.v[1], v56.v[1]}}, float32x2{{v65, v68}}, float32x4{{v70, v72, v74, v76}});
    acc6[0] = v78.v[0];
    acc6[1] = v78.v[1];
    acc6[2] = v78.v[2];
    acc6[3] = v78.v[3];
    float32x2 v90 = *(float32x2*)(data1 + v50 + 256);
    float32x2 v94 = *(float32x2*)(data1 + v50 + 384);
    float v99 = acc6[4];
    float v101 = acc6[5];
    float v103 = acc6[6];
    float v105 = acc6[7];
    float32x4 v107 = mma_m16n8k8_f32_tf32_tf32_f32(float32x4{{v90.v[0], v94.v[0], v90.v[1], v94.v[1]}}, float32x2{{v65, v68}}, float32x4{{v99, v101, v103, v105}});
    acc6[4] = v107.v[0];
    acc6[5] = v107.v[1];
    acc6[6] = v107.v[2];
    acc6[7] = v107.v[3];
  }
  float v120 = acc6[0];
  float v122 = acc6[1];
  float v127 = acc6[2];
  float v129 = acc6[3];
  float v134 = acc6[4];
  float v136 = acc6[5];
  float v142 = acc6[6];
  float v144 = acc6[7];
  *(float32x2*)(data0 + v4) = float32x2{{v120, v122}};
  *(float32x2*)(data0 + v4 + 64) = float32x2{{v127, v129}};
  *(float32x2*)(data0 + v4 + 128) = float32x2{{v134, v136}};
  *(float32x2*)(data0 + v4 + 192) = float32x2{{v142, v144}};
}
