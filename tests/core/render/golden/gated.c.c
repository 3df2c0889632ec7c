#include <math.h>
#include <stdbool.h>
typedef struct { float v[4]; } float32x4;
void gated(float* restrict data0, float* restrict data1) {
  for (int i0_3 = 0; i0_3 < 8; i0_3++) {
    int v6 = i0_3 * 4;
    float32x4 v9 = (i0_3 < 4) ? *(float32x4*)(data1 + v6) : (float32x4){{(-1.0f), (-1.0f), (-1.0f), (-1.0f)}};
    float v11 = (i0_3 < 4) ? data1[v6] : 7.0f;
    *(float32x4*)(data0 + v6) = (float32x4){{v9.v[0], v9.v[1], v9.v[2], v9.v[3]}};
    bool v17 = (i0_3 & 1) != 0;
    if (v17) {
      data0[i0_3 + 32] = v11;
    }
  }
}
