#include <math.h>
#include <stdbool.h>
void variable_loop(int* restrict data0, int var_n) {
  int acc2[1];
  acc2[0] = 5;
  for (int i0_7 = 0; i0_7 < var_n; i0_7++) {
    acc2[0] = acc2[0] + i0_7;
  }
  data0[0] = acc2[0];
}
