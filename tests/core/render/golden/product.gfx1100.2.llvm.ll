target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @r_32_16_32_vnbh(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias readonly align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2) #0 !dbg !2 {
entry:
  %v4 = alloca [16 x i32], align 16, addrspace(5), !dbg !20
  %v2 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !18
  %v3 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v2, !dbg !19
  %v6 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 0, !dbg !22
  store i32 0, ptr addrspace(5) %v6, align 4, !dbg !23
  %v9 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 1, !dbg !25
  store i32 0, ptr addrspace(5) %v9, align 4, !dbg !26
  %v12 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 2, !dbg !28
  store i32 0, ptr addrspace(5) %v12, align 4, !dbg !29
  %v15 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 3, !dbg !31
  store i32 0, ptr addrspace(5) %v15, align 4, !dbg !32
  %v18 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 4, !dbg !34
  store i32 0, ptr addrspace(5) %v18, align 4, !dbg !35
  %v21 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 5, !dbg !37
  store i32 0, ptr addrspace(5) %v21, align 4, !dbg !38
  %v24 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 6, !dbg !40
  store i32 0, ptr addrspace(5) %v24, align 4, !dbg !41
  %v27 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 7, !dbg !43
  store i32 0, ptr addrspace(5) %v27, align 4, !dbg !44
  %v30 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 8, !dbg !46
  store i32 0, ptr addrspace(5) %v30, align 4, !dbg !47
  %v33 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 9, !dbg !49
  store i32 0, ptr addrspace(5) %v33, align 4, !dbg !50
  %v36 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 10, !dbg !52
  store i32 0, ptr addrspace(5) %v36, align 4, !dbg !53
  %v39 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 11, !dbg !55
  store i32 0, ptr addrspace(5) %v39, align 4, !dbg !56
  %v42 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 12, !dbg !58
  store i32 0, ptr addrspace(5) %v42, align 4, !dbg !59
  %v45 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 13, !dbg !61
  store i32 0, ptr addrspace(5) %v45, align 4, !dbg !62
  %v48 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 14, !dbg !64
  store i32 0, ptr addrspace(5) %v48, align 4, !dbg !65
  %v51 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 15, !dbg !67
  store i32 0, ptr addrspace(5) %v51, align 4, !dbg !68
  %v56 = and i32 %v2, 15, !dbg !72
  %v57 = mul i32 %v56, 32, !dbg !73
  br label %enter74, !dbg !90
enter74:
  br label %loop74, !dbg !90
loop74:
  %v74 = phi i32 [ 0, %enter74 ], [ %next74, %step74 ], !dbg !90
  %v74.2 = icmp slt i32 %v74, 2, !dbg !90
  br i1 %v74.2, label %body74, label %exit74, !dbg !90
body74:
  %v76 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 0, !dbg !92
  %v77 = mul i32 %v74, 16, !dbg !93
  %v78 = add i32 %v77, %v57, !dbg !94
  %v79 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v78, !dbg !95
  %v80 = load <16 x i8>, ptr addrspace(1) %v79, align 16, !dbg !96
  %v81 = mul i32 %v74, 256, !dbg !97
  %v82 = add i32 %v81, %v56, !dbg !98
  %v83 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v82, !dbg !99
  %v84 = load i8, ptr addrspace(1) %v83, align 1, !dbg !100
  %v85 = add i32 %v82, 16, !dbg !101
  %v86 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v85, !dbg !102
  %v87 = load i8, ptr addrspace(1) %v86, align 1, !dbg !103
  %v88 = add i32 %v82, 32, !dbg !104
  %v89 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v88, !dbg !105
  %v90 = load i8, ptr addrspace(1) %v89, align 1, !dbg !106
  %v91 = add i32 %v82, 48, !dbg !107
  %v92 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v91, !dbg !108
  %v93 = load i8, ptr addrspace(1) %v92, align 1, !dbg !109
  %v94 = add i32 %v82, 64, !dbg !110
  %v95 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v94, !dbg !111
  %v96 = load i8, ptr addrspace(1) %v95, align 1, !dbg !112
  %v97 = add i32 %v82, 80, !dbg !113
  %v98 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v97, !dbg !114
  %v99 = load i8, ptr addrspace(1) %v98, align 1, !dbg !115
  %v100 = add i32 %v82, 96, !dbg !116
  %v101 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v100, !dbg !117
  %v102 = load i8, ptr addrspace(1) %v101, align 1, !dbg !118
  %v103 = add i32 %v82, 112, !dbg !119
  %v104 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v103, !dbg !120
  %v105 = load i8, ptr addrspace(1) %v104, align 1, !dbg !121
  %v106 = add i32 %v82, 128, !dbg !122
  %v107 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v106, !dbg !123
  %v108 = load i8, ptr addrspace(1) %v107, align 1, !dbg !124
  %v109 = add i32 %v82, 144, !dbg !125
  %v110 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v109, !dbg !126
  %v111 = load i8, ptr addrspace(1) %v110, align 1, !dbg !127
  %v112 = add i32 %v82, 160, !dbg !128
  %v113 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v112, !dbg !129
  %v114 = load i8, ptr addrspace(1) %v113, align 1, !dbg !130
  %v115 = add i32 %v82, 176, !dbg !131
  %v116 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v115, !dbg !132
  %v117 = load i8, ptr addrspace(1) %v116, align 1, !dbg !133
  %v118 = add i32 %v82, 192, !dbg !134
  %v119 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v118, !dbg !135
  %v120 = load i8, ptr addrspace(1) %v119, align 1, !dbg !136
  %v121 = add i32 %v82, 208, !dbg !137
  %v122 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v121, !dbg !138
  %v123 = load i8, ptr addrspace(1) %v122, align 1, !dbg !139
  %v124 = add i32 %v82, 224, !dbg !140
  %v125 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v124, !dbg !141
  %v126 = load i8, ptr addrspace(1) %v125, align 1, !dbg !142
  %v127 = add i32 %v82, 240, !dbg !143
  %v128 = getelementptr inbounds i8, ptr addrspace(1) %data2, i32 %v127, !dbg !144
  %v129 = load i8, ptr addrspace(1) %v128, align 1, !dbg !145
  %v130 = insertelement <16 x i8> poison, i8 %v84, i64 0, !dbg !146
  %v130.2 = insertelement <16 x i8> %v130, i8 %v87, i64 1, !dbg !146
  %v130.3 = insertelement <16 x i8> %v130.2, i8 %v90, i64 2, !dbg !146
  %v130.4 = insertelement <16 x i8> %v130.3, i8 %v93, i64 3, !dbg !146
  %v130.5 = insertelement <16 x i8> %v130.4, i8 %v96, i64 4, !dbg !146
  %v130.6 = insertelement <16 x i8> %v130.5, i8 %v99, i64 5, !dbg !146
  %v130.7 = insertelement <16 x i8> %v130.6, i8 %v102, i64 6, !dbg !146
  %v130.8 = insertelement <16 x i8> %v130.7, i8 %v105, i64 7, !dbg !146
  %v130.9 = insertelement <16 x i8> %v130.8, i8 %v108, i64 8, !dbg !146
  %v130.10 = insertelement <16 x i8> %v130.9, i8 %v111, i64 9, !dbg !146
  %v130.11 = insertelement <16 x i8> %v130.10, i8 %v114, i64 10, !dbg !146
  %v130.12 = insertelement <16 x i8> %v130.11, i8 %v117, i64 11, !dbg !146
  %v130.13 = insertelement <16 x i8> %v130.12, i8 %v120, i64 12, !dbg !146
  %v130.14 = insertelement <16 x i8> %v130.13, i8 %v123, i64 13, !dbg !146
  %v130.15 = insertelement <16 x i8> %v130.14, i8 %v126, i64 14, !dbg !146
  %v130.16 = insertelement <16 x i8> %v130.15, i8 %v129, i64 15, !dbg !146
  %v131 = load i32, ptr addrspace(5) %v76, align 4, !dbg !147
  %v132 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 1, !dbg !148
  %v133 = load i32, ptr addrspace(5) %v132, align 4, !dbg !149
  %v134 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 2, !dbg !150
  %v135 = load i32, ptr addrspace(5) %v134, align 4, !dbg !151
  %v136 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 3, !dbg !152
  %v137 = load i32, ptr addrspace(5) %v136, align 4, !dbg !153
  %v138 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 4, !dbg !154
  %v139 = load i32, ptr addrspace(5) %v138, align 4, !dbg !155
  %v140 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 5, !dbg !156
  %v141 = load i32, ptr addrspace(5) %v140, align 4, !dbg !157
  %v142 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 6, !dbg !158
  %v143 = load i32, ptr addrspace(5) %v142, align 4, !dbg !159
  %v144 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 7, !dbg !160
  %v145 = load i32, ptr addrspace(5) %v144, align 4, !dbg !161
  %v146 = insertelement <8 x i32> poison, i32 %v131, i64 0, !dbg !162
  %v146.2 = insertelement <8 x i32> %v146, i32 %v133, i64 1, !dbg !162
  %v146.3 = insertelement <8 x i32> %v146.2, i32 %v135, i64 2, !dbg !162
  %v146.4 = insertelement <8 x i32> %v146.3, i32 %v137, i64 3, !dbg !162
  %v146.5 = insertelement <8 x i32> %v146.4, i32 %v139, i64 4, !dbg !162
  %v146.6 = insertelement <8 x i32> %v146.5, i32 %v141, i64 5, !dbg !162
  %v146.7 = insertelement <8 x i32> %v146.6, i32 %v143, i64 6, !dbg !162
  %v146.8 = insertelement <8 x i32> %v146.7, i32 %v145, i64 7, !dbg !162
  %v147 = bitcast <16 x i8> %v80 to <4 x i32>, !dbg !163
  %v147.2 = bitcast <16 x i8> %v130.16 to <4 x i32>, !dbg !163
  %v147.3 = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8(i1 true, <4 x i32> %v147, i1 true, <4 x i32> %v147.2, <8 x i32> %v146.8, i1 false), !dbg !163
  %v148 = extractelement <8 x i32> %v147.3, i64 0, !dbg !164
  store i32 %v148, ptr addrspace(5) %v76, align 4, !dbg !165
  %v150 = extractelement <8 x i32> %v147.3, i64 1, !dbg !166
  store i32 %v150, ptr addrspace(5) %v132, align 4, !dbg !167
  %v152 = extractelement <8 x i32> %v147.3, i64 2, !dbg !168
  store i32 %v152, ptr addrspace(5) %v134, align 4, !dbg !169
  %v154 = extractelement <8 x i32> %v147.3, i64 3, !dbg !170
  store i32 %v154, ptr addrspace(5) %v136, align 4, !dbg !171
  %v156 = extractelement <8 x i32> %v147.3, i64 4, !dbg !172
  store i32 %v156, ptr addrspace(5) %v138, align 4, !dbg !173
  %v158 = extractelement <8 x i32> %v147.3, i64 5, !dbg !174
  store i32 %v158, ptr addrspace(5) %v140, align 4, !dbg !175
  %v160 = extractelement <8 x i32> %v147.3, i64 6, !dbg !176
  store i32 %v160, ptr addrspace(5) %v142, align 4, !dbg !177
  %v162 = extractelement <8 x i32> %v147.3, i64 7, !dbg !178
  store i32 %v162, ptr addrspace(5) %v144, align 4, !dbg !179
  %v164 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 8, !dbg !180
  %v165 = add i32 %v78, 512, !dbg !181
  %v166 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v165, !dbg !182
  %v167 = load <16 x i8>, ptr addrspace(1) %v166, align 16, !dbg !183
  %v168 = load i32, ptr addrspace(5) %v164, align 4, !dbg !184
  %v169 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 9, !dbg !185
  %v170 = load i32, ptr addrspace(5) %v169, align 4, !dbg !186
  %v171 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 10, !dbg !187
  %v172 = load i32, ptr addrspace(5) %v171, align 4, !dbg !188
  %v173 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 11, !dbg !189
  %v174 = load i32, ptr addrspace(5) %v173, align 4, !dbg !190
  %v175 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 12, !dbg !191
  %v176 = load i32, ptr addrspace(5) %v175, align 4, !dbg !192
  %v177 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 13, !dbg !193
  %v178 = load i32, ptr addrspace(5) %v177, align 4, !dbg !194
  %v179 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 14, !dbg !195
  %v180 = load i32, ptr addrspace(5) %v179, align 4, !dbg !196
  %v181 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 15, !dbg !197
  %v182 = load i32, ptr addrspace(5) %v181, align 4, !dbg !198
  %v183 = insertelement <8 x i32> poison, i32 %v168, i64 0, !dbg !199
  %v183.2 = insertelement <8 x i32> %v183, i32 %v170, i64 1, !dbg !199
  %v183.3 = insertelement <8 x i32> %v183.2, i32 %v172, i64 2, !dbg !199
  %v183.4 = insertelement <8 x i32> %v183.3, i32 %v174, i64 3, !dbg !199
  %v183.5 = insertelement <8 x i32> %v183.4, i32 %v176, i64 4, !dbg !199
  %v183.6 = insertelement <8 x i32> %v183.5, i32 %v178, i64 5, !dbg !199
  %v183.7 = insertelement <8 x i32> %v183.6, i32 %v180, i64 6, !dbg !199
  %v183.8 = insertelement <8 x i32> %v183.7, i32 %v182, i64 7, !dbg !199
  %v184 = bitcast <16 x i8> %v167 to <4 x i32>, !dbg !200
  %v184.2 = bitcast <16 x i8> %v130.16 to <4 x i32>, !dbg !200
  %v184.3 = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8(i1 true, <4 x i32> %v184, i1 true, <4 x i32> %v184.2, <8 x i32> %v183.8, i1 false), !dbg !200
  %v185 = extractelement <8 x i32> %v184.3, i64 0, !dbg !201
  store i32 %v185, ptr addrspace(5) %v164, align 4, !dbg !202
  %v187 = extractelement <8 x i32> %v184.3, i64 1, !dbg !203
  store i32 %v187, ptr addrspace(5) %v169, align 4, !dbg !204
  %v189 = extractelement <8 x i32> %v184.3, i64 2, !dbg !205
  store i32 %v189, ptr addrspace(5) %v171, align 4, !dbg !206
  %v191 = extractelement <8 x i32> %v184.3, i64 3, !dbg !207
  store i32 %v191, ptr addrspace(5) %v173, align 4, !dbg !208
  %v193 = extractelement <8 x i32> %v184.3, i64 4, !dbg !209
  store i32 %v193, ptr addrspace(5) %v175, align 4, !dbg !210
  %v195 = extractelement <8 x i32> %v184.3, i64 5, !dbg !211
  store i32 %v195, ptr addrspace(5) %v177, align 4, !dbg !212
  %v197 = extractelement <8 x i32> %v184.3, i64 6, !dbg !213
  store i32 %v197, ptr addrspace(5) %v179, align 4, !dbg !214
  %v199 = extractelement <8 x i32> %v184.3, i64 7, !dbg !215
  store i32 %v199, ptr addrspace(5) %v181, align 4, !dbg !216
  br label %step74, !dbg !218
step74:
  %next74 = add nsw i32 %v74, 1, !dbg !218
  br label %loop74, !dbg !218
exit74:
  %v204 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 0, !dbg !220
  %v205 = load i32, ptr addrspace(5) %v204, align 4, !dbg !221
  %v206 = add i32 %v2, 32, !dbg !222
  %v207 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v206, !dbg !223
  %v208 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 1, !dbg !224
  %v209 = load i32, ptr addrspace(5) %v208, align 4, !dbg !225
  %v210 = add i32 %v2, 64, !dbg !226
  %v211 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v210, !dbg !227
  %v212 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 2, !dbg !228
  %v213 = load i32, ptr addrspace(5) %v212, align 4, !dbg !229
  %v214 = add i32 %v2, 96, !dbg !230
  %v215 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v214, !dbg !231
  %v216 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 3, !dbg !232
  %v217 = load i32, ptr addrspace(5) %v216, align 4, !dbg !233
  %v218 = add i32 %v2, 128, !dbg !234
  %v219 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v218, !dbg !235
  %v220 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 4, !dbg !236
  %v221 = load i32, ptr addrspace(5) %v220, align 4, !dbg !237
  %v222 = add i32 %v2, 160, !dbg !238
  %v223 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v222, !dbg !239
  %v224 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 5, !dbg !240
  %v225 = load i32, ptr addrspace(5) %v224, align 4, !dbg !241
  %v226 = add i32 %v2, 192, !dbg !242
  %v227 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v226, !dbg !243
  %v228 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 6, !dbg !244
  %v229 = load i32, ptr addrspace(5) %v228, align 4, !dbg !245
  %v230 = add i32 %v2, 224, !dbg !246
  %v231 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v230, !dbg !247
  %v232 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 7, !dbg !248
  %v233 = load i32, ptr addrspace(5) %v232, align 4, !dbg !249
  %v234 = add i32 %v2, 256, !dbg !250
  %v235 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v234, !dbg !251
  %v236 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 8, !dbg !252
  %v237 = load i32, ptr addrspace(5) %v236, align 4, !dbg !253
  %v239 = add i32 %v2, 288, !dbg !255
  %v240 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v239, !dbg !256
  %v241 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 9, !dbg !257
  %v242 = load i32, ptr addrspace(5) %v241, align 4, !dbg !258
  %v244 = add i32 %v2, 320, !dbg !260
  %v245 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v244, !dbg !261
  %v246 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 10, !dbg !262
  %v247 = load i32, ptr addrspace(5) %v246, align 4, !dbg !263
  %v249 = add i32 %v2, 352, !dbg !265
  %v250 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v249, !dbg !266
  %v251 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 11, !dbg !267
  %v252 = load i32, ptr addrspace(5) %v251, align 4, !dbg !268
  %v254 = add i32 %v2, 384, !dbg !270
  %v255 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v254, !dbg !271
  %v256 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 12, !dbg !272
  %v257 = load i32, ptr addrspace(5) %v256, align 4, !dbg !273
  %v259 = add i32 %v2, 416, !dbg !275
  %v260 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v259, !dbg !276
  %v261 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 13, !dbg !277
  %v262 = load i32, ptr addrspace(5) %v261, align 4, !dbg !278
  %v264 = add i32 %v2, 448, !dbg !280
  %v265 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v264, !dbg !281
  %v266 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 14, !dbg !282
  %v267 = load i32, ptr addrspace(5) %v266, align 4, !dbg !283
  %v269 = add i32 %v2, 480, !dbg !285
  %v270 = getelementptr inbounds i32, ptr addrspace(1) %data0, i32 %v269, !dbg !286
  %v271 = getelementptr inbounds i32, ptr addrspace(5) %v4, i32 15, !dbg !287
  %v272 = load i32, ptr addrspace(5) %v271, align 4, !dbg !288
  store i32 %v205, ptr addrspace(1) %v3, align 4, !dbg !289
  store i32 %v209, ptr addrspace(1) %v207, align 4, !dbg !290
  store i32 %v213, ptr addrspace(1) %v211, align 4, !dbg !291
  store i32 %v217, ptr addrspace(1) %v215, align 4, !dbg !292
  store i32 %v221, ptr addrspace(1) %v219, align 4, !dbg !293
  store i32 %v225, ptr addrspace(1) %v223, align 4, !dbg !294
  store i32 %v229, ptr addrspace(1) %v227, align 4, !dbg !295
  store i32 %v233, ptr addrspace(1) %v231, align 4, !dbg !296
  store i32 %v237, ptr addrspace(1) %v235, align 4, !dbg !297
  store i32 %v242, ptr addrspace(1) %v240, align 4, !dbg !298
  store i32 %v247, ptr addrspace(1) %v245, align 4, !dbg !299
  store i32 %v252, ptr addrspace(1) %v250, align 4, !dbg !300
  store i32 %v257, ptr addrspace(1) %v255, align 4, !dbg !301
  store i32 %v262, ptr addrspace(1) %v260, align 4, !dbg !302
  store i32 %v267, ptr addrspace(1) %v265, align 4, !dbg !303
  store i32 %v272, ptr addrspace(1) %v270, align 4, !dbg !304
  ret void, !dbg !306
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="32,32" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "r_32_16_32_vnbh", directory: "")
!2 = distinct !DISubprogram(name: "r_32_16_32_vnbh", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!18 = !DILocation(line: 3, scope: !2)
!19 = !DILocation(line: 4, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
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
!40 = !DILocation(line: 25, scope: !2)
!41 = !DILocation(line: 26, scope: !2)
!43 = !DILocation(line: 28, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!46 = !DILocation(line: 31, scope: !2)
!47 = !DILocation(line: 32, scope: !2)
!49 = !DILocation(line: 34, scope: !2)
!50 = !DILocation(line: 35, scope: !2)
!52 = !DILocation(line: 37, scope: !2)
!53 = !DILocation(line: 38, scope: !2)
!55 = !DILocation(line: 40, scope: !2)
!56 = !DILocation(line: 41, scope: !2)
!58 = !DILocation(line: 43, scope: !2)
!59 = !DILocation(line: 44, scope: !2)
!61 = !DILocation(line: 46, scope: !2)
!62 = !DILocation(line: 47, scope: !2)
!64 = !DILocation(line: 49, scope: !2)
!65 = !DILocation(line: 50, scope: !2)
!67 = !DILocation(line: 52, scope: !2)
!68 = !DILocation(line: 53, scope: !2)
!72 = !DILocation(line: 57, scope: !2)
!73 = !DILocation(line: 58, scope: !2)
!90 = !DILocation(line: 75, scope: !2)
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
!140 = !DILocation(line: 125, scope: !2)
!141 = !DILocation(line: 126, scope: !2)
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
!156 = !DILocation(line: 141, scope: !2)
!157 = !DILocation(line: 142, scope: !2)
!158 = !DILocation(line: 143, scope: !2)
!159 = !DILocation(line: 144, scope: !2)
!160 = !DILocation(line: 145, scope: !2)
!161 = !DILocation(line: 146, scope: !2)
!162 = !DILocation(line: 147, scope: !2)
!163 = !DILocation(line: 148, scope: !2)
!164 = !DILocation(line: 149, scope: !2)
!165 = !DILocation(line: 150, scope: !2)
!166 = !DILocation(line: 151, scope: !2)
!167 = !DILocation(line: 152, scope: !2)
!168 = !DILocation(line: 153, scope: !2)
!169 = !DILocation(line: 154, scope: !2)
!170 = !DILocation(line: 155, scope: !2)
!171 = !DILocation(line: 156, scope: !2)
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
!184 = !DILocation(line: 169, scope: !2)
!185 = !DILocation(line: 170, scope: !2)
!186 = !DILocation(line: 171, scope: !2)
!187 = !DILocation(line: 172, scope: !2)
!188 = !DILocation(line: 173, scope: !2)
!189 = !DILocation(line: 174, scope: !2)
!190 = !DILocation(line: 175, scope: !2)
!191 = !DILocation(line: 176, scope: !2)
!192 = !DILocation(line: 177, scope: !2)
!193 = !DILocation(line: 178, scope: !2)
!194 = !DILocation(line: 179, scope: !2)
!195 = !DILocation(line: 180, scope: !2)
!196 = !DILocation(line: 181, scope: !2)
!197 = !DILocation(line: 182, scope: !2)
!198 = !DILocation(line: 183, scope: !2)
!199 = !DILocation(line: 184, scope: !2)
!200 = !DILocation(line: 185, scope: !2)
!201 = !DILocation(line: 186, scope: !2)
!202 = !DILocation(line: 187, scope: !2)
!203 = !DILocation(line: 188, scope: !2)
!204 = !DILocation(line: 189, scope: !2)
!205 = !DILocation(line: 190, scope: !2)
!206 = !DILocation(line: 191, scope: !2)
!207 = !DILocation(line: 192, scope: !2)
!208 = !DILocation(line: 193, scope: !2)
!209 = !DILocation(line: 194, scope: !2)
!210 = !DILocation(line: 195, scope: !2)
!211 = !DILocation(line: 196, scope: !2)
!212 = !DILocation(line: 197, scope: !2)
!213 = !DILocation(line: 198, scope: !2)
!214 = !DILocation(line: 199, scope: !2)
!215 = !DILocation(line: 200, scope: !2)
!216 = !DILocation(line: 201, scope: !2)
!218 = !DILocation(line: 203, scope: !2)
!220 = !DILocation(line: 205, scope: !2)
!221 = !DILocation(line: 206, scope: !2)
!222 = !DILocation(line: 207, scope: !2)
!223 = !DILocation(line: 208, scope: !2)
!224 = !DILocation(line: 209, scope: !2)
!225 = !DILocation(line: 210, scope: !2)
!226 = !DILocation(line: 211, scope: !2)
!227 = !DILocation(line: 212, scope: !2)
!228 = !DILocation(line: 213, scope: !2)
!229 = !DILocation(line: 214, scope: !2)
!230 = !DILocation(line: 215, scope: !2)
!231 = !DILocation(line: 216, scope: !2)
!232 = !DILocation(line: 217, scope: !2)
!233 = !DILocation(line: 218, scope: !2)
!234 = !DILocation(line: 219, scope: !2)
!235 = !DILocation(line: 220, scope: !2)
!236 = !DILocation(line: 221, scope: !2)
!237 = !DILocation(line: 222, scope: !2)
!238 = !DILocation(line: 223, scope: !2)
!239 = !DILocation(line: 224, scope: !2)
!240 = !DILocation(line: 225, scope: !2)
!241 = !DILocation(line: 226, scope: !2)
!242 = !DILocation(line: 227, scope: !2)
!243 = !DILocation(line: 228, scope: !2)
!244 = !DILocation(line: 229, scope: !2)
!245 = !DILocation(line: 230, scope: !2)
!246 = !DILocation(line: 231, scope: !2)
!247 = !DILocation(line: 232, scope: !2)
!248 = !DILocation(line: 233, scope: !2)
!249 = !DILocation(line: 234, scope: !2)
!250 = !DILocation(line: 235, scope: !2)
!251 = !DILocation(line: 236, scope: !2)
!252 = !DILocation(line: 237, scope: !2)
!253 = !DILocation(line: 238, scope: !2)
!255 = !DILocation(line: 240, scope: !2)
!256 = !DILocation(line: 241, scope: !2)
!257 = !DILocation(line: 242, scope: !2)
!258 = !DILocation(line: 243, scope: !2)
!260 = !DILocation(line: 245, scope: !2)
!261 = !DILocation(line: 246, scope: !2)
!262 = !DILocation(line: 247, scope: !2)
!263 = !DILocation(line: 248, scope: !2)
!265 = !DILocation(line: 250, scope: !2)
!266 = !DILocation(line: 251, scope: !2)
!267 = !DILocation(line: 252, scope: !2)
!268 = !DILocation(line: 253, scope: !2)
!270 = !DILocation(line: 255, scope: !2)
!271 = !DILocation(line: 256, scope: !2)
!272 = !DILocation(line: 257, scope: !2)
!273 = !DILocation(line: 258, scope: !2)
!275 = !DILocation(line: 260, scope: !2)
!276 = !DILocation(line: 261, scope: !2)
!277 = !DILocation(line: 262, scope: !2)
!278 = !DILocation(line: 263, scope: !2)
!280 = !DILocation(line: 265, scope: !2)
!281 = !DILocation(line: 266, scope: !2)
!282 = !DILocation(line: 267, scope: !2)
!283 = !DILocation(line: 268, scope: !2)
!285 = !DILocation(line: 270, scope: !2)
!286 = !DILocation(line: 271, scope: !2)
!287 = !DILocation(line: 272, scope: !2)
!288 = !DILocation(line: 273, scope: !2)
!289 = !DILocation(line: 274, scope: !2)
!290 = !DILocation(line: 275, scope: !2)
!291 = !DILocation(line: 276, scope: !2)
!292 = !DILocation(line: 277, scope: !2)
!293 = !DILocation(line: 278, scope: !2)
!294 = !DILocation(line: 279, scope: !2)
!295 = !DILocation(line: 280, scope: !2)
!296 = !DILocation(line: 281, scope: !2)
!297 = !DILocation(line: 282, scope: !2)
!298 = !DILocation(line: 283, scope: !2)
!299 = !DILocation(line: 284, scope: !2)
!300 = !DILocation(line: 285, scope: !2)
!301 = !DILocation(line: 286, scope: !2)
!302 = !DILocation(line: 287, scope: !2)
!303 = !DILocation(line: 288, scope: !2)
!304 = !DILocation(line: 289, scope: !2)
!306 = !DILocation(line: 291, scope: !2)
