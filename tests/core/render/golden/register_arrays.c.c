#include <math.h>
#include <stdbool.h>
typedef struct { float v[4]; } float32x4;
void register_arrays(float* restrict data0, float* restrict data1) {
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
