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
  %v8 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !24
  store float 0.000000e+00, ptr %v8, align 4, !dbg !26
  br label %enter12, !dbg !28
enter12:
  br label %loop12, !dbg !28
loop12:
  %v12 = phi i32 [ 0, %enter12 ], [ %next12, %step12 ], !dbg !28
  %v12.2 = icmp slt i32 %v12, 12, !dbg !28
  br i1 %v12.2, label %body12, label %exit12, !dbg !28
body12:
  %v14 = mul i32 %v4, 12, !dbg !30
  %v15 = add i32 %v14, %v12, !dbg !31
  %v16 = getelementptr inbounds float, ptr %data1, i32 %v15, !dbg !32
  %v17 = load float, ptr %v16, align 4, !dbg !33
  %v18 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !34
  %v19 = load float, ptr %v18, align 4, !dbg !35
  %v20 = getelementptr inbounds float, ptr %data2, i32 %v12, !dbg !36
  %v21 = load float, ptr %v20, align 4, !dbg !37
  %v22 = call float @llvm.fma.f32(float %v17, float %v21, float %v19), !dbg !38
  store float %v22, ptr %v18, align 4, !dbg !39
  br label %step12, !dbg !40
step12:
  %next12 = add nsw i32 %v12, 1, !dbg !40
  br label %loop12, !dbg !40
exit12:
  %v26 = getelementptr inbounds float, ptr %v5, i32 0, !dbg !42
  %v27 = load float, ptr %v26, align 4, !dbg !43
  %v28 = getelementptr inbounds float, ptr %data0, i32 %v4, !dbg !44
  store float %v27, ptr %v28, align 4, !dbg !45
  br label %step4, !dbg !46
step4:
  %next4 = add nsw i32 %v4, 1, !dbg !46
  br label %loop4, !dbg !46
exit4:
  ret void, !dbg !47
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
!24 = !DILocation(line: 9, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
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
!40 = !DILocation(line: 25, scope: !2)
!42 = !DILocation(line: 27, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
!47 = !DILocation(line: 32, scope: !2)
