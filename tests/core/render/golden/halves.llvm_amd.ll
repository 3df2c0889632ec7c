target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @halves(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2) #0 !dbg !2 {
entry:
  br label %enter4, !dbg !20
enter4:
  br label %loop4, !dbg !20
loop4:
  %v4 = phi i32 [ 0, %enter4 ], [ %next4, %step4 ], !dbg !20
  %v4.2 = icmp slt i32 %v4, 8, !dbg !20
  br i1 %v4.2, label %body4, label %exit4, !dbg !20
body4:
  %v5 = mul i32 %v4, 8, !dbg !21
  %v6 = getelementptr inbounds half, ptr addrspace(1) %data2, i32 %v5, !dbg !22
  %v7 = load <8 x half>, ptr addrspace(1) %v6, align 16, !dbg !23
  %v8 = fpext <8 x half> %v7 to <8 x float>, !dbg !24
  %v9 = bitcast <8 x float> %v8 to <8 x i32>, !dbg !25
  %v9.2 = lshr <8 x i32> %v9, splat (i32 16), !dbg !25
  %v9.3 = and <8 x i32> %v9.2, splat (i32 1), !dbg !25
  %v9.4 = add <8 x i32> %v9.3, splat (i32 32767), !dbg !25
  %v9.5 = add <8 x i32> %v9, %v9.4, !dbg !25
  %v9.6 = lshr <8 x i32> %v9.5, splat (i32 16), !dbg !25
  %v9.7 = or <8 x i32> %v9.2, splat (i32 64), !dbg !25
  %v9.8 = fcmp uno <8 x float> %v8, %v8, !dbg !25
  %v9.9 = select <8 x i1> %v9.8, <8 x i32> %v9.7, <8 x i32> %v9.6, !dbg !25
  %v9.10 = trunc <8 x i32> %v9.9 to <8 x i16>, !dbg !25
  %v10 = getelementptr inbounds i16, ptr addrspace(1) %data1, i32 %v5, !dbg !26
  store <8 x i16> %v9.10, ptr addrspace(1) %v10, align 16, !dbg !27
  %v13 = fadd <8 x half> %v7, splat (half 0xH3555), !dbg !29
  %v14 = getelementptr inbounds half, ptr addrspace(1) %data0, i32 %v5, !dbg !30
  store <8 x half> %v13, ptr addrspace(1) %v14, align 16, !dbg !31
  br label %step4, !dbg !32
step4:
  %next4 = add nsw i32 %v4, 1, !dbg !32
  br label %loop4, !dbg !32
exit4:
  ret void, !dbg !33
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,1" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "halves", directory: "")
!2 = distinct !DISubprogram(name: "halves", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!30 = !DILocation(line: 15, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
