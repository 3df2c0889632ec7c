target triple = "x86_64-unknown-linux-gnu"
define void @variable_loop(ptr noalias %data0, i32 %arg.n) #0 !dbg !2 {
entry:
  %v2 = alloca [1 x i32], align 16, !dbg !18
  %v4 = getelementptr inbounds i32, ptr %v2, i32 0, !dbg !20
  store i32 5, ptr %v4, align 4, !dbg !22
  br label %enter7, !dbg !23
enter7:
  br label %loop7, !dbg !23
loop7:
  %v7 = phi i32 [ 0, %enter7 ], [ %next7, %step7 ], !dbg !23
  %v7.2 = icmp slt i32 %v7, %arg.n, !dbg !23
  br i1 %v7.2, label %body7, label %exit7, !dbg !23
body7:
  %v9 = getelementptr inbounds i32, ptr %v2, i32 0, !dbg !25
  %v10 = load i32, ptr %v9, align 4, !dbg !26
  %v11 = add i32 %v10, %v7, !dbg !27
  store i32 %v11, ptr %v9, align 4, !dbg !28
  br label %step7, !dbg !29
step7:
  %next7 = add nsw i32 %v7, 1, !dbg !29
  br label %loop7, !dbg !29
exit7:
  %v15 = getelementptr inbounds i32, ptr %v2, i32 0, !dbg !31
  %v16 = load i32, ptr %v15, align 4, !dbg !32
  %v17 = getelementptr inbounds i32, ptr %data0, i32 0, !dbg !33
  store i32 %v16, ptr %v17, align 4, !dbg !34
  ret void, !dbg !35
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "variable_loop", directory: "")
!2 = distinct !DISubprogram(name: "variable_loop", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!18 = !DILocation(line: 3, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
