target triple = "x86_64-unknown-linux-gnu"
define void @gated(ptr noalias %data0, ptr noalias readonly %data1) #0 !dbg !2 {
entry:
  br label %enter3, !dbg !19
enter3:
  br label %loop3, !dbg !19
loop3:
  %v3 = phi i32 [ 0, %enter3 ], [ %next3, %step3 ], !dbg !19
  %v3.2 = icmp slt i32 %v3, 8, !dbg !19
  br i1 %v3.2, label %body3, label %exit3, !dbg !19
body3:
  %v5 = icmp slt i32 %v3, 4, !dbg !21
  %v6 = mul i32 %v3, 4, !dbg !22
  %v7 = getelementptr inbounds float, ptr %data1, i32 %v6, !dbg !23
  br i1 %v5, label %read9, label %skip9, !dbg !25
read9:
  %v9 = load <4 x float>, ptr %v7, align 4, !dbg !25
  br label %skip9, !dbg !25
skip9:
  %v9.2 = phi <4 x float> [ %v9, %read9 ], [ splat (float -1.000000e+00), %body3 ], !dbg !25
  br i1 %v5, label %read11, label %skip11, !dbg !27
read11:
  %v11 = load float, ptr %v7, align 4, !dbg !27
  br label %skip11, !dbg !27
skip11:
  %v11.2 = phi float [ %v11, %read11 ], [ 7.000000e+00, %skip9 ], !dbg !27
  %v12 = getelementptr inbounds float, ptr %data0, i32 %v6, !dbg !28
  store <4 x float> %v9.2, ptr %v12, align 4, !dbg !29
  %v15 = and i32 %v3, 1, !dbg !31
  %v17 = icmp ne i32 %v15, 0, !dbg !33
  br i1 %v17, label %then18, label %done18, !dbg !34
then18:
  %v20 = add i32 %v3, 32, !dbg !36
  %v21 = getelementptr inbounds float, ptr %data0, i32 %v20, !dbg !37
  store float %v11.2, ptr %v21, align 4, !dbg !38
  br label %done18, !dbg !39
done18:
  br label %step3, !dbg !40
step3:
  %next3 = add nsw i32 %v3, 1, !dbg !40
  br label %loop3, !dbg !40
exit3:
  ret void, !dbg !41
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "gated", directory: "")
!2 = distinct !DISubprogram(name: "gated", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!19 = !DILocation(line: 4, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!38 = !DILocation(line: 23, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!41 = !DILocation(line: 26, scope: !2)
