target triple = "x86_64-unknown-linux-gnu"
define void @elementwise(ptr noalias %data0, ptr noalias readonly %data1, ptr noalias readonly %data2) #0 !dbg !2 {
entry:
  br label %enter4, !dbg !20
enter4:
  br label %loop4, !dbg !20
loop4:
  %v4 = phi i32 [ 0, %enter4 ], [ %next4, %step4 ], !dbg !20
  %v4.2 = icmp slt i32 %v4, 16, !dbg !20
  br i1 %v4.2, label %body4, label %exit4, !dbg !20
body4:
  %v6 = mul i32 %v4, 4, !dbg !22
  %v7 = getelementptr inbounds float, ptr %data1, i32 %v6, !dbg !23
  %v8 = load <4 x float>, ptr %v7, align 4, !dbg !24
  %v9 = getelementptr inbounds float, ptr %data2, i32 %v6, !dbg !25
  %v10 = load <4 x float>, ptr %v9, align 4, !dbg !26
  %v11 = fmul <4 x float> %v8, %v10, !dbg !27
  %v13 = fadd <4 x float> %v11, splat (float 1.500000e+00), !dbg !29
  %v14 = getelementptr inbounds float, ptr %data0, i32 %v6, !dbg !30
  store <4 x float> %v13, ptr %v14, align 4, !dbg !31
  br label %step4, !dbg !32
step4:
  %next4 = add nsw i32 %v4, 1, !dbg !32
  br label %loop4, !dbg !32
exit4:
  ret void, !dbg !33
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "elementwise", directory: "")
!2 = distinct !DISubprogram(name: "elementwise", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
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
