#include <math.h>
#include <stdbool.h>
void matrix_vector(float* restrict data0, float* restrict data1, float* restrict data2) {
  for (int i0_4 = 0; i0_4 < 8; i0_4++) {
    float acc5[1];
    acc5[0] = 0.0f;
    for (int i1_12 = 0; i1_12 < 12; i1_12++) {
      acc5[0] = fmaf(data1[(i0_4 * 12) + i1_12], data2[i1_12], acc5[0]);
    }
    data0[i0_4] = acc5[0];
  }
}
