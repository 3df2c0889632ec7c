target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @lane_gates(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2, ptr addrspace(1) noalias readonly align 16 %data3) #0 !dbg !2 {
entry:
  br label %enter5, !dbg !21
enter5:
  br label %loop5, !dbg !21
loop5:
  %v5 = phi i32 [ 0, %enter5 ], [ %next5, %step5 ], !dbg !21
  %v5.2 = icmp slt i32 %v5, 8, !dbg !21
  br i1 %v5.2, label %body5, label %exit5, !dbg !21
body5:
  %v7 = mul i32 %v5, 4, !dbg !23
  %v8 = mul i32 %v5, 8, !dbg !24
  %v9 = insertelement <4 x i32> poison, i32 %v7, i64 0, !dbg !25
  %v9.2 = shufflevector <4 x i32> %v9, <4 x i32> poison, <4 x i32> zeroinitializer, !dbg !25
  %v11 = add <4 x i32> %v9.2, <i32 0, i32 1, i32 2, i32 3>, !dbg !27
  %v13 = icmp slt <4 x i32> %v11, splat (i32 30), !dbg !29
  %v14 = getelementptr inbounds float, ptr addrspace(1) %data2, i32 %v7, !dbg !30
  %v16 = call <4 x float> @llvm.masked.load.v4f32.p1(ptr addrspace(1) %v14, i32 16, <4 x i1> %v13, <4 x float> splat (float -1.000000e+00)), !dbg !32
  %v17 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v7, !dbg !33
  store <4 x float> %v16, ptr addrspace(1) %v17, align 16, !dbg !34
  %v19 = insertelement <8 x i32> poison, i32 %v8, i64 0, !dbg !35
  %v19.2 = shufflevector <8 x i32> %v19, <8 x i32> poison, <8 x i32> zeroinitializer, !dbg !35
  %v21 = add <8 x i32> %v19.2, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, !dbg !37
  %v23 = icmp slt <8 x i32> %v21, splat (i32 60), !dbg !39
  %v24 = getelementptr inbounds half, ptr addrspace(1) %data3, i32 %v8, !dbg !40
  %v26 = call <8 x half> @llvm.masked.load.v8f16.p1(ptr addrspace(1) %v24, i32 16, <8 x i1> %v23, <8 x half> splat (half 0xH3800)), !dbg !42
  %v27 = getelementptr inbounds half, ptr addrspace(1) %data1, i32 %v8, !dbg !43
  store <8 x half> %v26, ptr addrspace(1) %v27, align 16, !dbg !44
  br label %step5, !dbg !45
step5:
  %next5 = add nsw i32 %v5, 1, !dbg !45
  br label %loop5, !dbg !45
exit5:
  ret void, !dbg !46
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,1" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "lane_gates", directory: "")
!2 = distinct !DISubprogram(name: "lane_gates", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!30 = !DILocation(line: 15, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!42 = !DILocation(line: 27, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
