#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void __launch_bounds__(1) variable_loop(int* __restrict__ data0, int var_n) {
  int acc2[1];
  acc2[0] = 5;
  for (int i0_7 = 0; i0_7 < var_n; i0_7++) {
    acc2[0] = acc2[0] + i0_7;
  }
  data0[0] = acc2[0];
}
