target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @r_32_16_64_bfml(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias readonly align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2) #0 !dbg !2 {
entry:
  %v10 = alloca [8 x float], align 16, addrspace(5), !dbg !26
  %v2 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !18
  %v4 = ashr i32 %v2, 4, !dbg !20
  %v5 = mul i32 %v4, 64, !dbg !21
  %v7 = and i32 %v2, 15, !dbg !23
  %v8 = add i32 %v5, %v7, !dbg !24
  %v9 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v8, !dbg !25
  %v12 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 0, !dbg !28
  store float 0.000000e+00, ptr addrspace(5) %v12, align 4, !dbg !30
  %v16 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 1, !dbg !32
  store float 0.000000e+00, ptr addrspace(5) %v16, align 4, !dbg !33
  %v19 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 2, !dbg !35
  store float 0.000000e+00, ptr addrspace(5) %v19, align 4, !dbg !36
  %v22 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 3, !dbg !38
  store float 0.000000e+00, ptr addrspace(5) %v22, align 4, !dbg !39
  %v24 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 4, !dbg !40
  store float 0.000000e+00, ptr addrspace(5) %v24, align 4, !dbg !41
  %v27 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 5, !dbg !43
  store float 0.000000e+00, ptr addrspace(5) %v27, align 4, !dbg !44
  %v30 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 6, !dbg !46
  store float 0.000000e+00, ptr addrspace(5) %v30, align 4, !dbg !47
  %v33 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 7, !dbg !49
  store float 0.000000e+00, ptr addrspace(5) %v33, align 4, !dbg !50
  %v39 = mul i32 %v4, 8, !dbg !55
  %v40 = mul i32 %v7, 64, !dbg !56
  %v44 = mul i32 %v4, 128, !dbg !60
  br label %enter51, !dbg !67
enter51:
  br label %loop51, !dbg !67
loop51:
  %v51 = phi i32 [ 0, %enter51 ], [ %next51, %step51 ], !dbg !67
  %v51.2 = icmp slt i32 %v51, 2, !dbg !67
  br i1 %v51.2, label %body51, label %exit51, !dbg !67
body51:
  %v53 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 0, !dbg !69
  %v54 = mul i32 %v51, 32, !dbg !70
  %v55 = add i32 %v54, %v39, !dbg !71
  %v56 = add i32 %v55, %v40, !dbg !72
  %v57 = getelementptr inbounds i16, ptr addrspace(1) %data1, i32 %v56, !dbg !73
  %v58 = load <8 x i16>, ptr addrspace(1) %v57, align 16, !dbg !74
  %v59 = mul i32 %v51, 512, !dbg !75
  %v60 = add i32 %v59, %v44, !dbg !76
  %v61 = add i32 %v60, %v7, !dbg !77
  %v62 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v61, !dbg !78
  %v63 = load i16, ptr addrspace(1) %v62, align 2, !dbg !79
  %v64 = add i32 %v61, 16, !dbg !80
  %v65 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v64, !dbg !81
  %v66 = load i16, ptr addrspace(1) %v65, align 2, !dbg !82
  %v67 = add i32 %v61, 32, !dbg !83
  %v68 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v67, !dbg !84
  %v69 = load i16, ptr addrspace(1) %v68, align 2, !dbg !85
  %v70 = add i32 %v61, 48, !dbg !86
  %v71 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v70, !dbg !87
  %v72 = load i16, ptr addrspace(1) %v71, align 2, !dbg !88
  %v73 = add i32 %v61, 64, !dbg !89
  %v74 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v73, !dbg !90
  %v75 = load i16, ptr addrspace(1) %v74, align 2, !dbg !91
  %v76 = add i32 %v61, 80, !dbg !92
  %v77 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v76, !dbg !93
  %v78 = load i16, ptr addrspace(1) %v77, align 2, !dbg !94
  %v79 = add i32 %v61, 96, !dbg !95
  %v80 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v79, !dbg !96
  %v81 = load i16, ptr addrspace(1) %v80, align 2, !dbg !97
  %v82 = add i32 %v61, 112, !dbg !98
  %v83 = getelementptr inbounds i16, ptr addrspace(1) %data2, i32 %v82, !dbg !99
  %v84 = load i16, ptr addrspace(1) %v83, align 2, !dbg !100
  %v85 = insertelement <8 x i16> poison, i16 %v63, i64 0, !dbg !101
  %v85.2 = insertelement <8 x i16> %v85, i16 %v66, i64 1, !dbg !101
  %v85.3 = insertelement <8 x i16> %v85.2, i16 %v69, i64 2, !dbg !101
  %v85.4 = insertelement <8 x i16> %v85.3, i16 %v72, i64 3, !dbg !101
  %v85.5 = insertelement <8 x i16> %v85.4, i16 %v75, i64 4, !dbg !101
  %v85.6 = insertelement <8 x i16> %v85.5, i16 %v78, i64 5, !dbg !101
  %v85.7 = insertelement <8 x i16> %v85.6, i16 %v81, i64 6, !dbg !101
  %v85.8 = insertelement <8 x i16> %v85.7, i16 %v84, i64 7, !dbg !101
  %v86 = load float, ptr addrspace(5) %v53, align 4, !dbg !102
  %v87 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 1, !dbg !103
  %v88 = load float, ptr addrspace(5) %v87, align 4, !dbg !104
  %v89 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 2, !dbg !105
  %v90 = load float, ptr addrspace(5) %v89, align 4, !dbg !106
  %v91 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 3, !dbg !107
  %v92 = load float, ptr addrspace(5) %v91, align 4, !dbg !108
  %v93 = insertelement <4 x float> poison, float %v86, i64 0, !dbg !109
  %v93.2 = insertelement <4 x float> %v93, float %v88, i64 1, !dbg !109
  %v93.3 = insertelement <4 x float> %v93.2, float %v90, i64 2, !dbg !109
  %v93.4 = insertelement <4 x float> %v93.3, float %v92, i64 3, !dbg !109
  %v94 = bitcast <8 x i16> %v58 to <8 x bfloat>, !dbg !110
  %v94.2 = bitcast <8 x i16> %v85.8 to <8 x bfloat>, !dbg !110
  %v94.3 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat> %v94, <8 x bfloat> %v94.2, <4 x float> %v93.4, i32 0, i32 0, i32 0), !dbg !110
  %v95 = extractelement <4 x float> %v94.3, i64 0, !dbg !111
  store float %v95, ptr addrspace(5) %v53, align 4, !dbg !112
  %v97 = extractelement <4 x float> %v94.3, i64 1, !dbg !113
  store float %v97, ptr addrspace(5) %v87, align 4, !dbg !114
  %v99 = extractelement <4 x float> %v94.3, i64 2, !dbg !115
  store float %v99, ptr addrspace(5) %v89, align 4, !dbg !116
  %v101 = extractelement <4 x float> %v94.3, i64 3, !dbg !117
  store float %v101, ptr addrspace(5) %v91, align 4, !dbg !118
  %v103 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 4, !dbg !119
  %v104 = add i32 %v56, 1024, !dbg !120
  %v105 = getelementptr inbounds i16, ptr addrspace(1) %data1, i32 %v104, !dbg !121
  %v106 = load <8 x i16>, ptr addrspace(1) %v105, align 16, !dbg !122
  %v107 = load float, ptr addrspace(5) %v103, align 4, !dbg !123
  %v108 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 5, !dbg !124
  %v109 = load float, ptr addrspace(5) %v108, align 4, !dbg !125
  %v110 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 6, !dbg !126
  %v111 = load float, ptr addrspace(5) %v110, align 4, !dbg !127
  %v112 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 7, !dbg !128
  %v113 = load float, ptr addrspace(5) %v112, align 4, !dbg !129
  %v114 = insertelement <4 x float> poison, float %v107, i64 0, !dbg !130
  %v114.2 = insertelement <4 x float> %v114, float %v109, i64 1, !dbg !130
  %v114.3 = insertelement <4 x float> %v114.2, float %v111, i64 2, !dbg !130
  %v114.4 = insertelement <4 x float> %v114.3, float %v113, i64 3, !dbg !130
  %v115 = bitcast <8 x i16> %v106 to <8 x bfloat>, !dbg !131
  %v115.2 = bitcast <8 x i16> %v85.8 to <8 x bfloat>, !dbg !131
  %v115.3 = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat> %v115, <8 x bfloat> %v115.2, <4 x float> %v114.4, i32 0, i32 0, i32 0), !dbg !131
  %v116 = extractelement <4 x float> %v115.3, i64 0, !dbg !132
  store float %v116, ptr addrspace(5) %v103, align 4, !dbg !133
  %v118 = extractelement <4 x float> %v115.3, i64 1, !dbg !134
  store float %v118, ptr addrspace(5) %v108, align 4, !dbg !135
  %v120 = extractelement <4 x float> %v115.3, i64 2, !dbg !136
  store float %v120, ptr addrspace(5) %v110, align 4, !dbg !137
  %v122 = extractelement <4 x float> %v115.3, i64 3, !dbg !138
  store float %v122, ptr addrspace(5) %v112, align 4, !dbg !139
  br label %step51, !dbg !141
step51:
  %next51 = add nsw i32 %v51, 1, !dbg !141
  br label %loop51, !dbg !141
exit51:
  %v127 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 0, !dbg !143
  %v128 = load float, ptr addrspace(5) %v127, align 4, !dbg !144
  %v129 = add i32 %v8, 16, !dbg !145
  %v130 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v129, !dbg !146
  %v131 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 1, !dbg !147
  %v132 = load float, ptr addrspace(5) %v131, align 4, !dbg !148
  %v133 = add i32 %v8, 32, !dbg !149
  %v134 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v133, !dbg !150
  %v135 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 2, !dbg !151
  %v136 = load float, ptr addrspace(5) %v135, align 4, !dbg !152
  %v137 = add i32 %v8, 48, !dbg !153
  %v138 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v137, !dbg !154
  %v139 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 3, !dbg !155
  %v140 = load float, ptr addrspace(5) %v139, align 4, !dbg !156
  %v142 = add i32 %v8, 256, !dbg !158
  %v143 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v142, !dbg !159
  %v144 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 4, !dbg !160
  %v145 = load float, ptr addrspace(5) %v144, align 4, !dbg !161
  %v147 = add i32 %v8, 272, !dbg !163
  %v148 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v147, !dbg !164
  %v149 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 5, !dbg !165
  %v150 = load float, ptr addrspace(5) %v149, align 4, !dbg !166
  %v152 = add i32 %v8, 288, !dbg !168
  %v153 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v152, !dbg !169
  %v154 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 6, !dbg !170
  %v155 = load float, ptr addrspace(5) %v154, align 4, !dbg !171
  %v157 = add i32 %v8, 304, !dbg !173
  %v158 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v157, !dbg !174
  %v159 = getelementptr inbounds float, ptr addrspace(5) %v10, i32 7, !dbg !175
  %v160 = load float, ptr addrspace(5) %v159, align 4, !dbg !176
  store float %v128, ptr addrspace(1) %v9, align 4, !dbg !177
  store float %v132, ptr addrspace(1) %v130, align 4, !dbg !178
  store float %v136, ptr addrspace(1) %v134, align 4, !dbg !179
  store float %v140, ptr addrspace(1) %v138, align 4, !dbg !180
  store float %v145, ptr addrspace(1) %v143, align 4, !dbg !181
  store float %v150, ptr addrspace(1) %v148, align 4, !dbg !182
  store float %v155, ptr addrspace(1) %v153, align 4, !dbg !183
  store float %v160, ptr addrspace(1) %v158, align 4, !dbg !184
  ret void, !dbg !186
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "r_32_16_64_bfml", directory: "")
!2 = distinct !DISubprogram(name: "r_32_16_64_bfml", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
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
!30 = !DILocation(line: 15, scope: !2)
!32 = !DILocation(line: 17, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!38 = !DILocation(line: 23, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!41 = !DILocation(line: 26, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
!47 = !DILocation(line: 32, scope: !2)
!49 = !DILocation(line: 34, scope: !2)
!50 = !DILocation(line: 35, scope: !2)
!55 = !DILocation(line: 40, scope: !2)
!56 = !DILocation(line: 41, scope: !2)
!60 = !DILocation(line: 45, scope: !2)
!67 = !DILocation(line: 52, scope: !2)
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
!139 = !DILocation(line: 124, scope: !2)
!141 = !DILocation(line: 126, scope: !2)
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
!156 = !DILocation(line: 141, scope: !2)
!158 = !DILocation(line: 143, scope: !2)
!159 = !DILocation(line: 144, scope: !2)
!160 = !DILocation(line: 145, scope: !2)
!161 = !DILocation(line: 146, scope: !2)
!163 = !DILocation(line: 148, scope: !2)
!164 = !DILocation(line: 149, scope: !2)
!165 = !DILocation(line: 150, scope: !2)
!166 = !DILocation(line: 151, scope: !2)
!168 = !DILocation(line: 153, scope: !2)
!169 = !DILocation(line: 154, scope: !2)
!170 = !DILocation(line: 155, scope: !2)
!171 = !DILocation(line: 156, scope: !2)
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
!184 = !DILocation(line: 169, scope: !2)
!186 = !DILocation(line: 171, scope: !2)
