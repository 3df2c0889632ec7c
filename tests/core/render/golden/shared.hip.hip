#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(32) shared(float* __restrict__ data0, float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  __shared__ __align__(16) float shared6[32];
  int v8 = (gidx0 * 32) + lidx0;
  shared6[lidx0] = data1[v8];
  __syncthreads();
  data0[v8] = shared6[31 - lidx0];
}
