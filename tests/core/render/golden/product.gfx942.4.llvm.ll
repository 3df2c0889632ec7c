target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @r_32_16_64_gjql(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias readonly align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2) #0 !dbg !2 {
entry:
  %v10 = alloca [8 x i32], align 16, addrspace(5), !dbg !26
  %v2 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !18
  %v4 = ashr i32 %v2, 4, !dbg !20
  %v5 = mul i32 %v4, 64, !dbg !21
  %v7 = and i32 %v2, 15, !dbg !23
  %v8 = add i32 %v5, %v7, !dbg !24
  %v9 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v8, !dbg !25
  %v12 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 0, !dbg !28
  store i32 0, ptr addrspace(5) %v12, align 4, !dbg !29
  %v15 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 1, !dbg !31
  store i32 0, ptr addrspace(5) %v15, align 4, !dbg !32
  %v18 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 2, !dbg !34
  store i32 0, ptr addrspace(5) %v18, align 4, !dbg !35
  %v21 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 3, !dbg !37
  store i32 0, ptr addrspace(5) %v21, align 4, !dbg !38
  %v23 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 4, !dbg !39
  store i32 0, ptr addrspace(5) %v23, align 4, !dbg !40
  %v26 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 5, !dbg !42
  store i32 0, ptr addrspace(5) %v26, align 4, !dbg !43
  %v29 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 6, !dbg !45
  store i32 0, ptr addrspace(5) %v29, align 4, !dbg !46
  %v32 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 7, !dbg !48
  store i32 0, ptr addrspace(5) %v32, align 4, !dbg !49
  %v38 = mul i32 %v4, 8, !dbg !54
  %v39 = mul i32 %v7, 64, !dbg !55
  %v43 = mul i32 %v4, 128, !dbg !59
  br label %enter50, !dbg !66
enter50:
  br label %loop50, !dbg !66
loop50:
  %v50 = phi i32 [ 0, %enter50 ], [ %next50, %step50 ], !dbg !66
  %v50.2 = icmp slt i32 %v50, 2, !dbg !66
  br i1 %v50.2, label %body50, label %exit50, !dbg !66
body50:
  %v52 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 0, !dbg !68
  %v53 = mul i32 %v50, 32, !dbg !69
  %v54 = add i32 %v53, %v38, !dbg !70
  %v55 = add i32 %v54, %v39, !dbg !71
  %v56 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v55, !dbg !72
  %v57 = load <8 x i8>, ptr addrspace(1) %v56, align 8, !dbg !73
  %v58 = mul i32 %v50, 512, !dbg !74
  %v59 = add i32 %v58, %v43, !dbg !75
  %v60 = add i32 %v59, %v7, !dbg !76
  %v61 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v60, !dbg !77
  %v62 = load i8, ptr addrspace(1) %v61, align 1, !dbg !78
  %v63 = add i32 %v60, 16, !dbg !79
  %v64 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v63, !dbg !80
  %v65 = load i8, ptr addrspace(1) %v64, align 1, !dbg !81
  %v66 = add i32 %v60, 32, !dbg !82
  %v67 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v66, !dbg !83
  %v68 = load i8, ptr addrspace(1) %v67, align 1, !dbg !84
  %v69 = add i32 %v60, 48, !dbg !85
  %v70 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v69, !dbg !86
  %v71 = load i8, ptr addrspace(1) %v70, align 1, !dbg !87
  %v72 = add i32 %v60, 64, !dbg !88
  %v73 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v72, !dbg !89
  %v74 = load i8, ptr addrspace(1) %v73, align 1, !dbg !90
  %v75 = add i32 %v60, 80, !dbg !91
  %v76 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v75, !dbg !92
  %v77 = load i8, ptr addrspace(1) %v76, align 1, !dbg !93
  %v78 = add i32 %v60, 96, !dbg !94
  %v79 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v78, !dbg !95
  %v80 = load i8, ptr addrspace(1) %v79, align 1, !dbg !96
  %v81 = add i32 %v60, 112, !dbg !97
  %v82 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v81, !dbg !98
  %v83 = load i8, ptr addrspace(1) %v82, align 1, !dbg !99
  %v84 = insertelement <8 x i8> poison, i8 %v62, i64 0, !dbg !100
  %v84.2 = insertelement <8 x i8> %v84, i8 %v65, i64 1, !dbg !100
  %v84.3 = insertelement <8 x i8> %v84.2, i8 %v68, i64 2, !dbg !100
  %v84.4 = insertelement <8 x i8> %v84.3, i8 %v71, i64 3, !dbg !100
  %v84.5 = insertelement <8 x i8> %v84.4, i8 %v74, i64 4, !dbg !100
  %v84.6 = insertelement <8 x i8> %v84.5, i8 %v77, i64 5, !dbg !100
  %v84.7 = insertelement <8 x i8> %v84.6, i8 %v80, i64 6, !dbg !100
  %v84.8 = insertelement <8 x i8> %v84.7, i8 %v83, i64 7, !dbg !100
  %v85 = load i32, ptr addrspace(5) %v52, align 4, !dbg !101
  %v86 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 1, !dbg !102
  %v87 = load i32, ptr addrspace(5) %v86, align 4, !dbg !103
  %v88 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 2, !dbg !104
  %v89 = load i32, ptr addrspace(5) %v88, align 4, !dbg !105
  %v90 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 3, !dbg !106
  %v91 = load i32, ptr addrspace(5) %v90, align 4, !dbg !107
  %v92 = insertelement <4 x i32> poison, i32 %v85, i64 0, !dbg !108
  %v92.2 = insertelement <4 x i32> %v92, i32 %v87, i64 1, !dbg !108
  %v92.3 = insertelement <4 x i32> %v92.2, i32 %v89, i64 2, !dbg !108
  %v92.4 = insertelement <4 x i32> %v92.3, i32 %v91, i64 3, !dbg !108
  %v93 = bitcast <8 x i8> %v57 to i64, !dbg !109
  %v93.2 = bitcast <8 x i8> %v84.8 to i64, !dbg !109
  %v93.3 = call <4 x i32> @llvm.amdgcn.mfma.i32.16x16x32.i8(i64 %v93, i64 %v93.2, <4 x i32> %v92.4, i32 0, i32 0, i32 0), !dbg !109
  %v94 = extractelement <4 x i32> %v93.3, i64 0, !dbg !110
  store i32 %v94, ptr addrspace(5) %v52, align 4, !dbg !111
  %v96 = extractelement <4 x i32> %v93.3, i64 1, !dbg !112
  store i32 %v96, ptr addrspace(5) %v86, align 4, !dbg !113
  %v98 = extractelement <4 x i32> %v93.3, i64 2, !dbg !114
  store i32 %v98, ptr addrspace(5) %v88, align 4, !dbg !115
  %v100 = extractelement <4 x i32> %v93.3, i64 3, !dbg !116
  store i32 %v100, ptr addrspace(5) %v90, align 4, !dbg !117
  %v102 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 4, !dbg !118
  %v103 = add i32 %v55, 1024, !dbg !119
  %v104 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v103, !dbg !120
  %v105 = load <8 x i8>, ptr addrspace(1) %v104, align 8, !dbg !121
  %v106 = load i32, ptr addrspace(5) %v102, align 4, !dbg !122
  %v107 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 5, !dbg !123
  %v108 = load i32, ptr addrspace(5) %v107, align 4, !dbg !124
  %v109 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 6, !dbg !125
  %v110 = load i32, ptr addrspace(5) %v109, align 4, !dbg !126
  %v111 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 7, !dbg !127
  %v112 = load i32, ptr addrspace(5) %v111, align 4, !dbg !128
  %v113 = insertelement <4 x i32> poison, i32 %v106, i64 0, !dbg !129
  %v113.2 = insertelement <4 x i32> %v113, i32 %v108, i64 1, !dbg !129
  %v113.3 = insertelement <4 x i32> %v113.2, i32 %v110, i64 2, !dbg !129
  %v113.4 = insertelement <4 x i32> %v113.3, i32 %v112, i64 3, !dbg !129
  %v114 = bitcast <8 x i8> %v105 to i64, !dbg !130
  %v114.2 = bitcast <8 x i8> %v84.8 to i64, !dbg !130
  %v114.3 = call <4 x i32> @llvm.amdgcn.mfma.i32.16x16x32.i8(i64 %v114, i64 %v114.2, <4 x i32> %v113.4, i32 0, i32 0, i32 0), !dbg !130
  %v115 = extractelement <4 x i32> %v114.3, i64 0, !dbg !131
  store i32 %v115, ptr addrspace(5) %v102, align 4, !dbg !132
  %v117 = extractelement <4 x i32> %v114.3, i64 1, !dbg !133
  store i32 %v117, ptr addrspace(5) %v107, align 4, !dbg !134
  %v119 = extractelement <4 x i32> %v114.3, i64 2, !dbg !135
  store i32 %v119, ptr addrspace(5) %v109, align 4, !dbg !136
  %v121 = extractelement <4 x i32> %v114.3, i64 3, !dbg !137
  store i32 %v121, ptr addrspace(5) %v111, align 4, !dbg !138
  br label %step50, !dbg !140
step50:
  %next50 = add nsw i32 %v50, 1, !dbg !140
  br label %loop50, !dbg !140
exit50:
  %v126 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 0, !dbg !142
  %v127 = load i32, ptr addrspace(5) %v126, align 4, !dbg !143
  %v128 = add i32 %v8, 16, !dbg !144
  %v129 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v128, !dbg !145
  %v130 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 1, !dbg !146
  %v131 = load i32, ptr addrspace(5) %v130, align 4, !dbg !147
  %v132 = add i32 %v8, 32, !dbg !148
  %v133 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v132, !dbg !149
  %v134 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 2, !dbg !150
  %v135 = load i32, ptr addrspace(5) %v134, align 4, !dbg !151
  %v136 = add i32 %v8, 48, !dbg !152
  %v137 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v136, !dbg !153
  %v138 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 3, !dbg !154
  %v139 = load i32, ptr addrspace(5) %v138, align 4, !dbg !155
  %v141 = add i32 %v8, 256, !dbg !157
  %v142 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v141, !dbg !158
  %v143 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 4, !dbg !159
  %v144 = load i32, ptr addrspace(5) %v143, align 4, !dbg !160
  %v146 = add i32 %v8, 272, !dbg !162
  %v147 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v146, !dbg !163
  %v148 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 5, !dbg !164
  %v149 = load i32, ptr addrspace(5) %v148, align 4, !dbg !165
  %v151 = add i32 %v8, 288, !dbg !167
  %v152 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v151, !dbg !168
  %v153 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 6, !dbg !169
  %v154 = load i32, ptr addrspace(5) %v153, align 4, !dbg !170
  %v156 = add i32 %v8, 304, !dbg !172
  %v157 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v156, !dbg !173
  %v158 = getelementptr inbounds i32, ptr addrspace(5) %v10, i32 7, !dbg !174
  %v159 = load i32, ptr addrspace(5) %v158, align 4, !dbg !175
  store i32 %v127, ptr addrspace(1) %v9, align 4, !dbg !176
  store i32 %v131, ptr addrspace(1) %v129, align 4, !dbg !177
  store i32 %v135, ptr addrspace(1) %v133, align 4, !dbg !178
  store i32 %v139, ptr addrspace(1) %v137, align 4, !dbg !179
  store i32 %v144, ptr addrspace(1) %v142, align 4, !dbg !180
  store i32 %v149, ptr addrspace(1) %v147, align 4, !dbg !181
  store i32 %v154, ptr addrspace(1) %v152, align 4, !dbg !182
  store i32 %v159, ptr addrspace(1) %v157, align 4, !dbg !183
  ret void, !dbg !185
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "r_32_16_64_gjql", directory: "")
!2 = distinct !DISubprogram(name: "r_32_16_64_gjql", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!18 = !DILocation(line: 3, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!38 = !DILocation(line: 23, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!42 = !DILocation(line: 27, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
!48 = !DILocation(line: 33, scope: !2)
!49 = !DILocation(line: 34, scope: !2)
!54 = !DILocation(line: 39, scope: !2)
!55 = !DILocation(line: 40, scope: !2)
!59 = !DILocation(line: 44, scope: !2)
!66 = !DILocation(line: 51, scope: !2)
!68 = !DILocation(line: 53, scope: !2)
!69 = !DILocation(line: 54, scope: !2)
!70 = !DILocation(line: 55, scope: !2)
!71 = !DILocation(line: 56, scope: !2)
!72 = !DILocation(line: 57, scope: !2)
!73 = !DILocation(line: 58, scope: !2)
!74 = !DILocation(line: 59, scope: !2)
!75 = !DILocation(line: 60, scope: !2)
!76 = !DILocation(line: 61, scope: !2)
!77 = !DILocation(line: 62, scope: !2)
!78 = !DILocation(line: 63, scope: !2)
!79 = !DILocation(line: 64, scope: !2)
!80 = !DILocation(line: 65, scope: !2)
!81 = !DILocation(line: 66, scope: !2)
!82 = !DILocation(line: 67, scope: !2)
!83 = !DILocation(line: 68, scope: !2)
!84 = !DILocation(line: 69, scope: !2)
!85 = !DILocation(line: 70, scope: !2)
!86 = !DILocation(line: 71, scope: !2)
!87 = !DILocation(line: 72, scope: !2)
!88 = !DILocation(line: 73, scope: !2)
!89 = !DILocation(line: 74, scope: !2)
!90 = !DILocation(line: 75, scope: !2)
!91 = !DILocation(line: 76, scope: !2)
!92 = !DILocation(line: 77, scope: !2)
!93 = !DILocation(line: 78, scope: !2)
!94 = !DILocation(line: 79, scope: !2)
!95 = !DILocation(line: 80, scope: !2)
!96 = !DILocation(line: 81, scope: !2)
!97 = !DILocation(line: 82, scope: !2)
!98 = !DILocation(line: 83, scope: !2)
!99 = !DILocation(line: 84, scope: !2)
!100 = !DILocation(line: 85, scope: !2)
!101 = !DILocation(line: 86, scope: !2)
!102 = !DILocation(line: 87, scope: !2)
!103 = !DILocation(line: 88, scope: !2)
!104 = !DILocation(line: 89, scope: !2)
!105 = !DILocation(line: 90, scope: !2)
!106 = !DILocation(line: 91, scope: !2)
!107 = !DILocation(line: 92, scope: !2)
!108 = !DILocation(line: 93, scope: !2)
!109 = !DILocation(line: 94, scope: !2)
!110 = !DILocation(line: 95, scope: !2)
!111 = !DILocation(line: 96, scope: !2)
!112 = !DILocation(line: 97, scope: !2)
!113 = !DILocation(line: 98, scope: !2)
!114 = !DILocation(line: 99, scope: !2)
!115 = !DILocation(line: 100, scope: !2)
!116 = !DILocation(line: 101, scope: !2)
!117 = !DILocation(line: 102, scope: !2)
!118 = !DILocation(line: 103, scope: !2)
!119 = !DILocation(line: 104, scope: !2)
!120 = !DILocation(line: 105, scope: !2)
!121 = !DILocation(line: 106, scope: !2)
!122 = !DILocation(line: 107, scope: !2)
!123 = !DILocation(line: 108, scope: !2)
!124 = !DILocation(line: 109, scope: !2)
!125 = !DILocation(line: 110, scope: !2)
!126 = !DILocation(line: 111, scope: !2)
!127 = !DILocation(line: 112, scope: !2)
!128 = !DILocation(line: 113, scope: !2)
!129 = !DILocation(line: 114, scope: !2)
!130 = !DILocation(line: 115, scope: !2)
!131 = !DILocation(line: 116, scope: !2)
!132 = !DILocation(line: 117, scope: !2)
!133 = !DILocation(line: 118, scope: !2)
!134 = !DILocation(line: 119, scope: !2)
!135 = !DILocation(line: 120, scope: !2)
!136 = !DILocation(line: 121, scope: !2)
!137 = !DILocation(line: 122, scope: !2)
!138 = !DILocation(line: 123, scope: !2)
!140 = !DILocation(line: 125, scope: !2)
!142 = !DILocation(line: 127, scope: !2)
!143 = !DILocation(line: 128, scope: !2)
!144 = !DILocation(line: 129, scope: !2)
!145 = !DILocation(line: 130, scope: !2)
!146 = !DILocation(line: 131, scope: !2)
!147 = !DILocation(line: 132, scope: !2)
!148 = !DILocation(line: 133, scope: !2)
!149 = !DILocation(line: 134, scope: !2)
!150 = !DILocation(line: 135, scope: !2)
!151 = !DILocation(line: 136, scope: !2)
!152 = !DILocation(line: 137, scope: !2)
!153 = !DILocation(line: 138, scope: !2)
!154 = !DILocation(line: 139, scope: !2)
!155 = !DILocation(line: 140, scope: !2)
!157 = !DILocation(line: 142, scope: !2)
!158 = !DILocation(line: 143, scope: !2)
!159 = !DILocation(line: 144, scope: !2)
!160 = !DILocation(line: 145, scope: !2)
!162 = !DILocation(line: 147, scope: !2)
!163 = !DILocation(line: 148, scope: !2)
!164 = !DILocation(line: 149, scope: !2)
!165 = !DILocation(line: 150, scope: !2)
!167 = !DILocation(line: 152, scope: !2)
!168 = !DILocation(line: 153, scope: !2)
!169 = !DILocation(line: 154, scope: !2)
!170 = !DILocation(line: 155, scope: !2)
!172 = !DILocation(line: 157, scope: !2)
!173 = !DILocation(line: 158, scope: !2)
!174 = !DILocation(line: 159, scope: !2)
!175 = !DILocation(line: 160, scope: !2)
!176 = !DILocation(line: 161, scope: !2)
!177 = !DILocation(line: 162, scope: !2)
!178 = !DILocation(line: 163, scope: !2)
!179 = !DILocation(line: 164, scope: !2)
!180 = !DILocation(line: 165, scope: !2)
!181 = !DILocation(line: 166, scope: !2)
!182 = !DILocation(line: 167, scope: !2)
!183 = !DILocation(line: 168, scope: !2)
!185 = !DILocation(line: 170, scope: !2)
