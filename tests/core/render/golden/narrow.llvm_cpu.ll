target triple = "x86_64-unknown-linux-gnu"
define void @narrow(ptr noalias %data0, ptr noalias %data1, ptr noalias readonly %data2, ptr noalias readonly %data3) #0 !dbg !2 {
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
  %v8 = getelementptr inbounds i8, ptr %data2, i32 %v7, !dbg !24
  %v9 = load <4 x i8>, ptr %v8, align 1, !dbg !25
  %v10 = getelementptr inbounds i8, ptr %data3, i32 %v7, !dbg !26
  %v11 = load <4 x i8>, ptr %v10, align 1, !dbg !27
  %v13 = add <4 x i8> %v9, %v11, !dbg !29
  %v15 = icmp slt <4 x i8> %v13, splat (i8 0), !dbg !31
  %v16 = getelementptr inbounds i8, ptr %data1, i32 %v7, !dbg !32
  %v17 = zext <4 x i1> %v15 to <4 x i8>, !dbg !33
  store <4 x i8> %v17, ptr %v16, align 1, !dbg !33
  %v18 = getelementptr inbounds i8, ptr %data0, i32 %v7, !dbg !34
  store <4 x i8> %v13, ptr %v18, align 1, !dbg !35
  br label %step5, !dbg !36
step5:
  %next5 = add nsw i32 %v5, 1, !dbg !36
  br label %loop5, !dbg !36
exit5:
  ret void, !dbg !37
}
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "narrow", directory: "")
!2 = distinct !DISubprogram(name: "narrow", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
