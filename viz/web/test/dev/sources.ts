/** Kernel sources as the development server shows them: one matrix product with a ReLU. */
export const PTX = `.version 8.4
.target sm_90
.address_size 64

.visible .entry r_64_32_128(
  .param .u64 data0, .param .u64 data1, .param .u64 data2)
.maxntid 32
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<6>; .reg .pred %p1;
  mov.u32       %r1, %ctaid.x;
  mov.u32       %r2, %tid.x;
  ld.param.u64  %rd1, [data1];
  ld.param.u64  %rd2, [data2];
  shl.b32       %r3, %r1, 7;
  mov.f32       %f1, 0f00000000;
  mov.u32       %r4, 0;
LOOP_3:
  add.s32       %r5, %r3, %r4;
  mul.wide.s32  %rd3, %r5, 4;
  add.s64       %rd4, %rd1, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32    %f1, %f2, %f3, %f1; // accumulate
  add.u32       %r4, %r4, 1;
  setp.lt.s32   %p1, %r4, 128;
  @%p1 bra      LOOP_3;
  ret;
}
`;
export const AMD = `r_64_32_128:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  s_lshl_b32     s3, s2, 7
  v_lshlrev_b32  v1, 2, v0
  v_mov_b32      v2, 0
  s_mov_b32      s10, 0
  s_waitcnt      lgkmcnt(0)
.LBB0_1:                          ; loop over k
  s_add_i32      s11, s3, s10
  s_lshl_b32     s12, s11, 2
  s_load_dword   s14, s[6:7], s12
  global_load_dword v4, v1, s[8:9]
  s_waitcnt      vmcnt(0) lgkmcnt(0)
  v_fmac_f32     v2, s14, v4
  s_add_i32      s10, s10, 1
  s_cbranch_scc1 .LBB0_1
  s_endpgm
`;
export const HIP = `extern "C" __global__ void
__launch_bounds__(32) r_64_32_128(
    float* data0, float* data1,
    float* data2) {
  int gidx0 = blockIdx.x;  // 64
  int lidx1 = threadIdx.x; // 32
  float acc0 = 0.0f;
  int alu0 = gidx0<<7;
  for (int r2 = 0; r2 < 128; r2++) {
    float v0 = data1[alu0+r2];
    float v1 = data2[(r2<<5)+lidx1];
    acc0 = acc0 + v0*v1;
  }
  int alu1 = (lidx1<<6)+gidx0;
  data0[alu1] = max(acc0, 0.0f);
}
`;
export const LLVM = `define amdgpu_kernel void @r_64_32_128(
    ptr %data0, ptr %data1, ptr %data2) {
entry:
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %l = call i32 @llvm.amdgcn.workitem.id.x()
  %row = shl i32 %g, 7
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%k1, %loop]
  %s = phi float [0.0, %entry], [%s1, %loop]
  %i = add i32 %row, %k
  %p = getelementptr float, ptr %data1, i32 %i
  %a = load float, ptr %p
  %b = load float, ptr %q
  %m = fmul float %a, %b
  %s1 = fadd float %s, %m
  ret void
}
`;
