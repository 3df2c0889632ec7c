#include <math.h>
#include <stdbool.h>
#if !(defined(__FLT16_MANT_DIG__))
#error "this kernel computes with _Float16, which takes gcc 12, clang 15 or newer"
#endif
#if !(defined(__BFLT16_MANT_DIG__) || __clang_major__ >= 17)
#error "this kernel computes with __bf16, which takes gcc 13, clang 17 or newer"
#endif
typedef struct { _Float16 v[8]; } float16x8;
typedef struct { __bf16 v[8]; } bfloat16x8;
void halves(_Float16* restrict data0, __bf16* restrict data1, _Float16* restrict data2) {
  for (int i0_4 = 0; i0_4 < 8; i0_4++) {
    int v5 = i0_4 * 8;
    float16x8 v7 = *(float16x8*)(data2 + v5);
    float v8_0 = (float)(v7.v[0]);
    float v8_1 = (float)(v7.v[1]);
    float v8_2 = (float)(v7.v[2]);
    float v8_3 = (float)(v7.v[3]);
    float v8_4 = (float)(v7.v[4]);
    float v8_5 = (float)(v7.v[5]);
    float v8_6 = (float)(v7.v[6]);
    float v8_7 = (float)(v7.v[7]);
    __bf16 v9_0 = (__bf16)(v8_0);
    __bf16 v9_1 = (__bf16)(v8_1);
    __bf16 v9_2 = (__bf16)(v8_2);
    __bf16 v9_3 = (__bf16)(v8_3);
    __bf16 v9_4 = (__bf16)(v8_4);
    __bf16 v9_5 = (__bf16)(v8_5);
    __bf16 v9_6 = (__bf16)(v8_6);
    __bf16 v9_7 = (__bf16)(v8_7);
    *(bfloat16x8*)(data1 + v5) = (bfloat16x8){{v9_0, v9_1, v9_2, v9_3, v9_4, v9_5, v9_6, v9_7}};
    _Float16 v13_0 = v7.v[0] + (_Float16)(0.333251953125f);
    _Float16 v13_1 = v7.v[1] + (_Float16)(0.333251953125f);
    _Float16 v13_2 = v7.v[2] + (_Float16)(0.333251953125f);
    _Float16 v13_3 = v7.v[3] + (_Float16)(0.333251953125f);
    _Float16 v13_4 = v7.v[4] + (_Float16)(0.333251953125f);
    _Float16 v13_5 = v7.v[5] + (_Float16)(0.333251953125f);
    _Float16 v13_6 = v7.v[6] + (_Float16)(0.333251953125f);
    _Float16 v13_7 = v7.v[7] + (_Float16)(0.333251953125f);
    *(float16x8*)(data0 + v5) = (float16x8){{v13_0, v13_1, v13_2, v13_3, v13_4, v13_5, v13_6, v13_7}};
  }
}
