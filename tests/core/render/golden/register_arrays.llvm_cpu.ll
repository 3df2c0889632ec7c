target triple = "x86_64-unknown-linux-gnu"
define void @register_arrays(ptr noalias %data0, ptr noalias readonly %data1) #0 !dbg !2 {
entry:
  %v2 = alloca [4 x float], align 16, !dbg !18
  %v3 = alloca [8 x float], align 16, !dbg !19
  %v5 = getelementptr inbounds float, ptr %data1, i32 0, !dbg !21
  %v6 = load <4 x float>, ptr %v5, align 4, !dbg !22
  %v7 = getelementptr inbounds float, ptr %v2, i32 0, !dbg !23
  store <4 x float> %v6, ptr %v7, align 4, !dbg !24
  br label %enter10, !dbg !26
enter10:
  br label %loop10, !dbg !26
loop10:
  %v10 = phi i32 [ 0, %enter10 ], [ %next10, %step10 ], !dbg !26
  %v10.2 = icmp slt i32 %v10, 8, !dbg !26
  br i1 %v10.2, label %body10, label %exit10, !dbg !26
body10:
  %v12 = getelementptr inbounds float, ptr %data1, i32 %v10, !dbg !28
  %v13 = load float, ptr %v12, align 4, !dbg !29
  %v15 = fmul float %v13, 2.000000e+00, !dbg !31
  %v16 = getelementptr inbounds float, ptr %v3, i32 %v10, !dbg !32
  store float %v15, ptr %v16, align 4, !dbg !33
  br label %step10, !dbg !34
step10:
  %next10 = add nsw i32 %v10, 1, !dbg !34
  br label %loop10, !dbg !34
exit10:
  br label %enter19, !dbg !35
enter19:
  br label %loop19, !dbg !35
loop19:
  %v19 = phi i32 [ 0, %enter19 ], [ %next19, %step19 ], !dbg !35
  %v19.2 = icmp slt i32 %v19, 8, !dbg !35
  br i1 %v19.2, label %body19, label %exit19, !dbg !35
body19:
  %v21 = sub i32 7, %v19, !dbg !37
  %v23 = getelementptr inbounds float, ptr %v3, i32 %v21, !dbg !39
  %v24 = load float, ptr %v23, align 4, !dbg !40
  %v27 = getelementptr inbounds float, ptr %v2, i32 2, !dbg !43
  %v28 = load float, ptr %v27, align 4, !dbg !44
  %v29 = fadd float %v24, %v28, !dbg !45
  %v30 = getelementptr inbounds float, ptr %data0, i32 %v19, !dbg !46
  store float %v29, ptr %v30, align 4, !dbg !47
  br label %step19, !dbg !48
step19:
  %next19 = add nsw i32 %v19, 1, !dbg !48
  br label %loop19, !dbg !48
exit19:
  ret void, !dbg !49
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "register_arrays", directory: "")
!2 = distinct !DISubprogram(name: "register_arrays", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!18 = !DILocation(line: 3, scope: !2)
!19 = !DILocation(line: 4, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
!47 = !DILocation(line: 32, scope: !2)
!48 = !DILocation(line: 33, scope: !2)
!49 = !DILocation(line: 34, scope: !2)
