#include <math.h>
#include <stdbool.h>
#if !(defined(__FLT16_MANT_DIG__))
#error "this kernel computes with _Float16, which takes gcc 12, clang 15 or newer"
#endif
typedef struct { float v[4]; } float32x4;
typedef struct { _Float16 v[8]; } float16x8;
void lane_gates(float* restrict data0, _Float16* restrict data1, float* restrict data2, _Float16* restrict data3) {
  for (int i0_5 = 0; i0_5 < 8; i0_5++) {
    int v7 = i0_5 * 4;
    int v8 = i0_5 * 8;
    int v11_0 = v7 + 0;
    int v11_1 = v7 + 1;
    int v11_2 = v7 + 2;
    int v11_3 = v7 + 3;
    bool v13_0 = v11_0 < 30;
    bool v13_1 = v11_1 < 30;
    bool v13_2 = v11_2 < 30;
    bool v13_3 = v11_3 < 30;
    float v16_0 = v13_0 ? data2[v7] : (-1.0f);
    float v16_1 = v13_1 ? data2[v7 + 1] : (-1.0f);
    float v16_2 = v13_2 ? data2[v7 + 2] : (-1.0f);
    float v16_3 = v13_3 ? data2[v7 + 3] : (-1.0f);
    *(float32x4*)(data0 + v7) = (float32x4){{v16_0, v16_1, v16_2, v16_3}};
    int v21_0 = v8 + 0;
    int v21_1 = v8 + 1;
    int v21_2 = v8 + 2;
    int v21_3 = v8 + 3;
    int v21_4 = v8 + 4;
    int v21_5 = v8 + 5;
    int v21_6 = v8 + 6;
    int v21_7 = v8 + 7;
    bool v23_0 = v21_0 < 60;
    bool v23_1 = v21_1 < 60;
    bool v23_2 = v21_2 < 60;
    bool v23_3 = v21_3 < 60;
    bool v23_4 = v21_4 < 60;
    bool v23_5 = v21_5 < 60;
    bool v23_6 = v21_6 < 60;
    bool v23_7 = v21_7 < 60;
    _Float16 v26_0 = v23_0 ? data3[v8] : (_Float16)(0.5f);
    _Float16 v26_1 = v23_1 ? data3[v8 + 1] : (_Float16)(0.5f);
    _Float16 v26_2 = v23_2 ? data3[v8 + 2] : (_Float16)(0.5f);
    _Float16 v26_3 = v23_3 ? data3[v8 + 3] : (_Float16)(0.5f);
    _Float16 v26_4 = v23_4 ? data3[v8 + 4] : (_Float16)(0.5f);
    _Float16 v26_5 = v23_5 ? data3[v8 + 5] : (_Float16)(0.5f);
    _Float16 v26_6 = v23_6 ? data3[v8 + 6] : (_Float16)(0.5f);
    _Float16 v26_7 = v23_7 ? data3[v8 + 7] : (_Float16)(0.5f);
    *(float16x8*)(data1 + v8) = (float16x8){{v26_0, v26_1, v26_2, v26_3, v26_4, v26_5, v26_6, v26_7}};
  }
}
