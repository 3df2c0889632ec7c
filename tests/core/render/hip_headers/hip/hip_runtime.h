// What kernels use of HIP's header, for a clang without ROCm: qualifiers, indices, mathematics.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define __align__(n) __attribute__((aligned(n)))
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
struct Index3 {
  __device__ static unsigned at(int axis, bool group) {
    if (axis == 0) return group ? __builtin_amdgcn_workgroup_id_x() : __builtin_amdgcn_workitem_id_x();
    if (axis == 1) return group ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workitem_id_y();
    return group ? __builtin_amdgcn_workgroup_id_z() : __builtin_amdgcn_workitem_id_z();
  }
};
template <bool group> struct Index {
  template <int axis> struct Axis {
    __device__ operator unsigned() const { return Index3::at(axis, group); }
  };
  [[no_unique_address]] Axis<0> x;
  [[no_unique_address]] Axis<1> y;
  [[no_unique_address]] Axis<2> z;
};
static constexpr __device__ Index<true> blockIdx{};
static constexpr __device__ Index<false> threadIdx{};
__device__ static inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define F1(name) \
  __device__ static inline float name##f(float x) { return __builtin_##name##f(x); } \
  __device__ static inline double name(double x) { return __builtin_##name(x); }
#define F2(name) \
  __device__ static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  __device__ static inline double name(double x, double y) { return __builtin_##name(x, y); }
#define F3(name) \
  __device__ static inline float name##f(float x, float y, float z) { return __builtin_##name##f(x, y, z); } \
  __device__ static inline double name(double x, double y, double z) { return __builtin_##name(x, y, z); }
F1(sqrt) F1(trunc) F1(exp2) F1(log2) F1(sin) F1(floor) F1(ceil) F1(fabs)
F2(fmax) F2(fmin)
F3(fma)
