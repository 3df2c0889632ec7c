target triple = "x86_64-unknown-linux-gnu"
define void @matrix_vector(ptr noalias %data0, ptr noalias readonly %data1, ptr noalias readonly %data2) #0 !dbg !2 {
entry:
  %v5 = alloca [1 x float], align 16, !dbg !21
  br label %enter4, !dbg !20
enter4:
  br label %loop4, !dbg !20
loop4:
  %v4 = phi i32 [ 0, %enter4 ], [ %next4, %step4 ], !dbg !20
  %v4.2 = icmp slt i32 %v4, 8, !dbg !20
  br i1 %v4.2, label %body4, label %exit4, !dbg !20
body4:
  %v7 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !23
  store float 0.000000e+00, ptr %v7, align 4, !dbg !25
  br label %enter11, !dbg !27
enter11:
  br label %loop11, !dbg !27
loop11:
  %v11 = phi i32 [ 0, %enter11 ], [ %next11, %step11 ], !dbg !27
  %v11.2 = icmp slt i32 %v11, 12, !dbg !27
  br i1 %v11.2, label %body11, label %exit11, !dbg !27
body11:
  %v13 = mul i32 %v4, 12, !dbg !29
  %v14 = add i32 %v13, %v11, !dbg !30
  %v15 = getelementptr inbounds float, ptr %data1, i32 %v14, !dbg !31
  %v16 = load float, ptr %v15, align 4, !dbg !32
  %v17 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !33
  %v18 = load float, ptr %v17, align 4, !dbg !34
  %v19 = getelementptr inbounds float, ptr %data2, i32 %v11, !dbg !35
  %v20 = load float, ptr %v19, align 4, !dbg !36
  %v21 = call float @llvm.fma.f32(float %v16, float %v20, float %v18), !dbg !37
  store float %v21, ptr %v17, align 4, !dbg !38
  br label %step11, !dbg !39
step11:
  %next11 = add nsw i32 %v11, 1, !dbg !39
  br label %loop11, !dbg !39
exit11:
  %v25 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !41
  %v26 = load float, ptr %v25, align 4, !dbg !42
  %v27 = getelementptr inbounds float, ptr %data0, i32 %v4, !dbg !43
  store float %v26, ptr %v27, align 4, !dbg !44
  br label %step4, !dbg !45
step4:
  %next4 = add nsw i32 %v4, 1, !dbg !45
  br label %loop4, !dbg !45
exit4:
  ret void, !dbg !46
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "matrix_vector", directory: "")
!2 = distinct !DISubprogram(name: "matrix_vector", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!30 = !DILocation(line: 15, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!38 = !DILocation(line: 23, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!41 = !DILocation(line: 26, scope: !2)
!42 = !DILocation(line: 27, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
