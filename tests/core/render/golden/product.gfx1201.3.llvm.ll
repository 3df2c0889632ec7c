target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @r_32_16_32_sppl(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias readonly align 16 %data1, ptr addrspace(1) noalias readonly align 16 %data2) #0 !dbg !2 {
entry:
  %v11 = alloca [16 x float], align 16, addrspace(5), !dbg !27
  %v2 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !18
  %v4 = ashr i32 %v2, 4, !dbg !20
  %v6 = mul i32 %v4, 128, !dbg !22
  %v8 = and i32 %v2, 15, !dbg !24
  %v9 = add i32 %v6, %v8, !dbg !25
  %v10 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v9, !dbg !26
  %v13 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 0, !dbg !29
  store float 0.000000e+00, ptr addrspace(5) %v13, align 4, !dbg !31
  %v17 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 1, !dbg !33
  store float 0.000000e+00, ptr addrspace(5) %v17, align 4, !dbg !34
  %v20 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 2, !dbg !36
  store float 0.000000e+00, ptr addrspace(5) %v20, align 4, !dbg !37
  %v23 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 3, !dbg !39
  store float 0.000000e+00, ptr addrspace(5) %v23, align 4, !dbg !40
  %v25 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 4, !dbg !41
  store float 0.000000e+00, ptr addrspace(5) %v25, align 4, !dbg !42
  %v28 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 5, !dbg !44
  store float 0.000000e+00, ptr addrspace(5) %v28, align 4, !dbg !45
  %v31 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 6, !dbg !47
  store float 0.000000e+00, ptr addrspace(5) %v31, align 4, !dbg !48
  %v34 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 7, !dbg !50
  store float 0.000000e+00, ptr addrspace(5) %v34, align 4, !dbg !51
  %v37 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 8, !dbg !53
  store float 0.000000e+00, ptr addrspace(5) %v37, align 4, !dbg !54
  %v40 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 9, !dbg !56
  store float 0.000000e+00, ptr addrspace(5) %v40, align 4, !dbg !57
  %v43 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 10, !dbg !59
  store float 0.000000e+00, ptr addrspace(5) %v43, align 4, !dbg !60
  %v46 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 11, !dbg !62
  store float 0.000000e+00, ptr addrspace(5) %v46, align 4, !dbg !63
  %v49 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 12, !dbg !65
  store float 0.000000e+00, ptr addrspace(5) %v49, align 4, !dbg !66
  %v52 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 13, !dbg !68
  store float 0.000000e+00, ptr addrspace(5) %v52, align 4, !dbg !69
  %v55 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 14, !dbg !71
  store float 0.000000e+00, ptr addrspace(5) %v55, align 4, !dbg !72
  %v57 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 15, !dbg !73
  store float 0.000000e+00, ptr addrspace(5) %v57, align 4, !dbg !74
  %v62 = mul i32 %v4, 8, !dbg !78
  %v63 = mul i32 %v8, 32, !dbg !79
  br label %enter72, !dbg !88
enter72:
  br label %loop72, !dbg !88
loop72:
  %v72 = phi i32 [ 0, %enter72 ], [ %next72, %step72 ], !dbg !88
  %v72.2 = icmp slt i32 %v72, 2, !dbg !88
  br i1 %v72.2, label %body72, label %exit72, !dbg !88
body72:
  %v74 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 0, !dbg !90
  %v75 = mul i32 %v72, 16, !dbg !91
  %v76 = add i32 %v75, %v62, !dbg !92
  %v77 = add i32 %v76, %v63, !dbg !93
  %v78 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v77, !dbg !94
  %v79 = load <8 x i8>, ptr addrspace(1) %v78, align 8, !dbg !95
  %v80 = mul i32 %v72, 256, !dbg !96
  %v81 = add i32 %v80, %v6, !dbg !97
  %v82 = add i32 %v81, %v8, !dbg !98
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
  %v106 = insertelement <8 x i8> poison, i8 %v84, i64 0, !dbg !122
  %v106.2 = insertelement <8 x i8> %v106, i8 %v87, i64 1, !dbg !122
  %v106.3 = insertelement <8 x i8> %v106.2, i8 %v90, i64 2, !dbg !122
  %v106.4 = insertelement <8 x i8> %v106.3, i8 %v93, i64 3, !dbg !122
  %v106.5 = insertelement <8 x i8> %v106.4, i8 %v96, i64 4, !dbg !122
  %v106.6 = insertelement <8 x i8> %v106.5, i8 %v99, i64 5, !dbg !122
  %v106.7 = insertelement <8 x i8> %v106.6, i8 %v102, i64 6, !dbg !122
  %v106.8 = insertelement <8 x i8> %v106.7, i8 %v105, i64 7, !dbg !122
  %v107 = load float, ptr addrspace(5) %v74, align 4, !dbg !123
  %v108 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 1, !dbg !124
  %v109 = load float, ptr addrspace(5) %v108, align 4, !dbg !125
  %v110 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 2, !dbg !126
  %v111 = load float, ptr addrspace(5) %v110, align 4, !dbg !127
  %v112 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 3, !dbg !128
  %v113 = load float, ptr addrspace(5) %v112, align 4, !dbg !129
  %v114 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 4, !dbg !130
  %v115 = load float, ptr addrspace(5) %v114, align 4, !dbg !131
  %v116 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 5, !dbg !132
  %v117 = load float, ptr addrspace(5) %v116, align 4, !dbg !133
  %v118 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 6, !dbg !134
  %v119 = load float, ptr addrspace(5) %v118, align 4, !dbg !135
  %v120 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 7, !dbg !136
  %v121 = load float, ptr addrspace(5) %v120, align 4, !dbg !137
  %v122 = insertelement <8 x float> poison, float %v107, i64 0, !dbg !138
  %v122.2 = insertelement <8 x float> %v122, float %v109, i64 1, !dbg !138
  %v122.3 = insertelement <8 x float> %v122.2, float %v111, i64 2, !dbg !138
  %v122.4 = insertelement <8 x float> %v122.3, float %v113, i64 3, !dbg !138
  %v122.5 = insertelement <8 x float> %v122.4, float %v115, i64 4, !dbg !138
  %v122.6 = insertelement <8 x float> %v122.5, float %v117, i64 5, !dbg !138
  %v122.7 = insertelement <8 x float> %v122.6, float %v119, i64 6, !dbg !138
  %v122.8 = insertelement <8 x float> %v122.7, float %v121, i64 7, !dbg !138
  %v123 = bitcast <8 x i8> %v79 to <2 x i32>, !dbg !139
  %v123.2 = bitcast <8 x i8> %v106.8 to <2 x i32>, !dbg !139
  %v123.3 = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8(<2 x i32> %v123, <2 x i32> %v123.2, <8 x float> %v122.8), !dbg !139
  %v124 = extractelement <8 x float> %v123.3, i64 0, !dbg !140
  store float %v124, ptr addrspace(5) %v74, align 4, !dbg !141
  %v126 = extractelement <8 x float> %v123.3, i64 1, !dbg !142
  store float %v126, ptr addrspace(5) %v108, align 4, !dbg !143
  %v128 = extractelement <8 x float> %v123.3, i64 2, !dbg !144
  store float %v128, ptr addrspace(5) %v110, align 4, !dbg !145
  %v130 = extractelement <8 x float> %v123.3, i64 3, !dbg !146
  store float %v130, ptr addrspace(5) %v112, align 4, !dbg !147
  %v132 = extractelement <8 x float> %v123.3, i64 4, !dbg !148
  store float %v132, ptr addrspace(5) %v114, align 4, !dbg !149
  %v134 = extractelement <8 x float> %v123.3, i64 5, !dbg !150
  store float %v134, ptr addrspace(5) %v116, align 4, !dbg !151
  %v136 = extractelement <8 x float> %v123.3, i64 6, !dbg !152
  store float %v136, ptr addrspace(5) %v118, align 4, !dbg !153
  %v138 = extractelement <8 x float> %v123.3, i64 7, !dbg !154
  store float %v138, ptr addrspace(5) %v120, align 4, !dbg !155
  %v140 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 8, !dbg !156
  %v141 = add i32 %v77, 512, !dbg !157
  %v142 = getelementptr inbounds i8, ptr addrspace(1) %data1, i32 %v141, !dbg !158
  %v143 = load <8 x i8>, ptr addrspace(1) %v142, align 8, !dbg !159
  %v144 = load float, ptr addrspace(5) %v140, align 4, !dbg !160
  %v145 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 9, !dbg !161
  %v146 = load float, ptr addrspace(5) %v145, align 4, !dbg !162
  %v147 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 10, !dbg !163
  %v148 = load float, ptr addrspace(5) %v147, align 4, !dbg !164
  %v149 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 11, !dbg !165
  %v150 = load float, ptr addrspace(5) %v149, align 4, !dbg !166
  %v151 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 12, !dbg !167
  %v152 = load float, ptr addrspace(5) %v151, align 4, !dbg !168
  %v153 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 13, !dbg !169
  %v154 = load float, ptr addrspace(5) %v153, align 4, !dbg !170
  %v155 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 14, !dbg !171
  %v156 = load float, ptr addrspace(5) %v155, align 4, !dbg !172
  %v157 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 15, !dbg !173
  %v158 = load float, ptr addrspace(5) %v157, align 4, !dbg !174
  %v159 = insertelement <8 x float> poison, float %v144, i64 0, !dbg !175
  %v159.2 = insertelement <8 x float> %v159, float %v146, i64 1, !dbg !175
  %v159.3 = insertelement <8 x float> %v159.2, float %v148, i64 2, !dbg !175
  %v159.4 = insertelement <8 x float> %v159.3, float %v150, i64 3, !dbg !175
  %v159.5 = insertelement <8 x float> %v159.4, float %v152, i64 4, !dbg !175
  %v159.6 = insertelement <8 x float> %v159.5, float %v154, i64 5, !dbg !175
  %v159.7 = insertelement <8 x float> %v159.6, float %v156, i64 6, !dbg !175
  %v159.8 = insertelement <8 x float> %v159.7, float %v158, i64 7, !dbg !175
  %v160 = bitcast <8 x i8> %v143 to <2 x i32>, !dbg !176
  %v160.2 = bitcast <8 x i8> %v106.8 to <2 x i32>, !dbg !176
  %v160.3 = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8(<2 x i32> %v160, <2 x i32> %v160.2, <8 x float> %v159.8), !dbg !176
  %v161 = extractelement <8 x float> %v160.3, i64 0, !dbg !177
  store float %v161, ptr addrspace(5) %v140, align 4, !dbg !178
  %v163 = extractelement <8 x float> %v160.3, i64 1, !dbg !179
  store float %v163, ptr addrspace(5) %v145, align 4, !dbg !180
  %v165 = extractelement <8 x float> %v160.3, i64 2, !dbg !181
  store float %v165, ptr addrspace(5) %v147, align 4, !dbg !182
  %v167 = extractelement <8 x float> %v160.3, i64 3, !dbg !183
  store float %v167, ptr addrspace(5) %v149, align 4, !dbg !184
  %v169 = extractelement <8 x float> %v160.3, i64 4, !dbg !185
  store float %v169, ptr addrspace(5) %v151, align 4, !dbg !186
  %v171 = extractelement <8 x float> %v160.3, i64 5, !dbg !187
  store float %v171, ptr addrspace(5) %v153, align 4, !dbg !188
  %v173 = extractelement <8 x float> %v160.3, i64 6, !dbg !189
  store float %v173, ptr addrspace(5) %v155, align 4, !dbg !190
  %v175 = extractelement <8 x float> %v160.3, i64 7, !dbg !191
  store float %v175, ptr addrspace(5) %v157, align 4, !dbg !192
  br label %step72, !dbg !194
step72:
  %next72 = add nsw i32 %v72, 1, !dbg !194
  br label %loop72, !dbg !194
exit72:
  %v180 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 0, !dbg !196
  %v181 = load float, ptr addrspace(5) %v180, align 4, !dbg !197
  %v182 = add i32 %v9, 16, !dbg !198
  %v183 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v182, !dbg !199
  %v184 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 1, !dbg !200
  %v185 = load float, ptr addrspace(5) %v184, align 4, !dbg !201
  %v186 = add i32 %v9, 32, !dbg !202
  %v187 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v186, !dbg !203
  %v188 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 2, !dbg !204
  %v189 = load float, ptr addrspace(5) %v188, align 4, !dbg !205
  %v190 = add i32 %v9, 48, !dbg !206
  %v191 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v190, !dbg !207
  %v192 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 3, !dbg !208
  %v193 = load float, ptr addrspace(5) %v192, align 4, !dbg !209
  %v194 = add i32 %v9, 64, !dbg !210
  %v195 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v194, !dbg !211
  %v196 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 4, !dbg !212
  %v197 = load float, ptr addrspace(5) %v196, align 4, !dbg !213
  %v198 = add i32 %v9, 80, !dbg !214
  %v199 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v198, !dbg !215
  %v200 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 5, !dbg !216
  %v201 = load float, ptr addrspace(5) %v200, align 4, !dbg !217
  %v202 = add i32 %v9, 96, !dbg !218
  %v203 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v202, !dbg !219
  %v204 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 6, !dbg !220
  %v205 = load float, ptr addrspace(5) %v204, align 4, !dbg !221
  %v206 = add i32 %v9, 112, !dbg !222
  %v207 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v206, !dbg !223
  %v208 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 7, !dbg !224
  %v209 = load float, ptr addrspace(5) %v208, align 4, !dbg !225
  %v210 = add i32 %v9, 256, !dbg !226
  %v211 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v210, !dbg !227
  %v212 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 8, !dbg !228
  %v213 = load float, ptr addrspace(5) %v212, align 4, !dbg !229
  %v215 = add i32 %v9, 272, !dbg !231
  %v216 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v215, !dbg !232
  %v217 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 9, !dbg !233
  %v218 = load float, ptr addrspace(5) %v217, align 4, !dbg !234
  %v220 = add i32 %v9, 288, !dbg !236
  %v221 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v220, !dbg !237
  %v222 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 10, !dbg !238
  %v223 = load float, ptr addrspace(5) %v222, align 4, !dbg !239
  %v225 = add i32 %v9, 304, !dbg !241
  %v226 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v225, !dbg !242
  %v227 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 11, !dbg !243
  %v228 = load float, ptr addrspace(5) %v227, align 4, !dbg !244
  %v230 = add i32 %v9, 320, !dbg !246
  %v231 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v230, !dbg !247
  %v232 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 12, !dbg !248
  %v233 = load float, ptr addrspace(5) %v232, align 4, !dbg !249
  %v235 = add i32 %v9, 336, !dbg !251
  %v236 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v235, !dbg !252
  %v237 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 13, !dbg !253
  %v238 = load float, ptr addrspace(5) %v237, align 4, !dbg !254
  %v240 = add i32 %v9, 352, !dbg !256
  %v241 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v240, !dbg !257
  %v242 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 14, !dbg !258
  %v243 = load float, ptr addrspace(5) %v242, align 4, !dbg !259
  %v245 = add i32 %v9, 368, !dbg !261
  %v246 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v245, !dbg !262
  %v247 = getelementptr inbounds float, ptr addrspace(5) %v11, i32 15, !dbg !263
  %v248 = load float, ptr addrspace(5) %v247, align 4, !dbg !264
  store float %v181, ptr addrspace(1) %v10, align 4, !dbg !265
  store float %v185, ptr addrspace(1) %v183, align 4, !dbg !266
  store float %v189, ptr addrspace(1) %v187, align 4, !dbg !267
  store float %v193, ptr addrspace(1) %v191, align 4, !dbg !268
  store float %v197, ptr addrspace(1) %v195, align 4, !dbg !269
  store float %v201, ptr addrspace(1) %v199, align 4, !dbg !270
  store float %v205, ptr addrspace(1) %v203, align 4, !dbg !271
  store float %v209, ptr addrspace(1) %v207, align 4, !dbg !272
  store float %v213, ptr addrspace(1) %v211, align 4, !dbg !273
  store float %v218, ptr addrspace(1) %v216, align 4, !dbg !274
  store float %v223, ptr addrspace(1) %v221, align 4, !dbg !275
  store float %v228, ptr addrspace(1) %v226, align 4, !dbg !276
  store float %v233, ptr addrspace(1) %v231, align 4, !dbg !277
  store float %v238, ptr addrspace(1) %v236, align 4, !dbg !278
  store float %v243, ptr addrspace(1) %v241, align 4, !dbg !279
  store float %v248, ptr addrspace(1) %v246, align 4, !dbg !280
  ret void, !dbg !282
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="32,32" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "r_32_16_32_sppl", directory: "")
!2 = distinct !DISubprogram(name: "r_32_16_32_sppl", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!18 = !DILocation(line: 3, scope: !2)
!20 = !DILocation(line: 5, scope: !2)
!22 = !DILocation(line: 7, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
!39 = !DILocation(line: 24, scope: !2)
!40 = !DILocation(line: 25, scope: !2)
!41 = !DILocation(line: 26, scope: !2)
!42 = !DILocation(line: 27, scope: !2)
!44 = !DILocation(line: 29, scope: !2)
!45 = !DILocation(line: 30, scope: !2)
!47 = !DILocation(line: 32, scope: !2)
!48 = !DILocation(line: 33, scope: !2)
!50 = !DILocation(line: 35, scope: !2)
!51 = !DILocation(line: 36, scope: !2)
!53 = !DILocation(line: 38, scope: !2)
!54 = !DILocation(line: 39, scope: !2)
!56 = !DILocation(line: 41, scope: !2)
!57 = !DILocation(line: 42, scope: !2)
!59 = !DILocation(line: 44, scope: !2)
!60 = !DILocation(line: 45, scope: !2)
!62 = !DILocation(line: 47, scope: !2)
!63 = !DILocation(line: 48, scope: !2)
!65 = !DILocation(line: 50, scope: !2)
!66 = !DILocation(line: 51, scope: !2)
!68 = !DILocation(line: 53, scope: !2)
!69 = !DILocation(line: 54, scope: !2)
!71 = !DILocation(line: 56, scope: !2)
!72 = !DILocation(line: 57, scope: !2)
!73 = !DILocation(line: 58, scope: !2)
!74 = !DILocation(line: 59, scope: !2)
!78 = !DILocation(line: 63, scope: !2)
!79 = !DILocation(line: 64, scope: !2)
!88 = !DILocation(line: 73, scope: !2)
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
!194 = !DILocation(line: 179, scope: !2)
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
!217 = !DILocation(line: 202, scope: !2)
!218 = !DILocation(line: 203, scope: !2)
!219 = !DILocation(line: 204, scope: !2)
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
!231 = !DILocation(line: 216, scope: !2)
!232 = !DILocation(line: 217, scope: !2)
!233 = !DILocation(line: 218, scope: !2)
!234 = !DILocation(line: 219, scope: !2)
!236 = !DILocation(line: 221, scope: !2)
!237 = !DILocation(line: 222, scope: !2)
!238 = !DILocation(line: 223, scope: !2)
!239 = !DILocation(line: 224, scope: !2)
!241 = !DILocation(line: 226, scope: !2)
!242 = !DILocation(line: 227, scope: !2)
!243 = !DILocation(line: 228, scope: !2)
!244 = !DILocation(line: 229, scope: !2)
!246 = !DILocation(line: 231, scope: !2)
!247 = !DILocation(line: 232, scope: !2)
!248 = !DILocation(line: 233, scope: !2)
!249 = !DILocation(line: 234, scope: !2)
!251 = !DILocation(line: 236, scope: !2)
!252 = !DILocation(line: 237, scope: !2)
!253 = !DILocation(line: 238, scope: !2)
!254 = !DILocation(line: 239, scope: !2)
!256 = !DILocation(line: 241, scope: !2)
!257 = !DILocation(line: 242, scope: !2)
!258 = !DILocation(line: 243, scope: !2)
!259 = !DILocation(line: 244, scope: !2)
!261 = !DILocation(line: 246, scope: !2)
!262 = !DILocation(line: 247, scope: !2)
!263 = !DILocation(line: 248, scope: !2)
!264 = !DILocation(line: 249, scope: !2)
!265 = !DILocation(line: 250, scope: !2)
!266 = !DILocation(line: 251, scope: !2)
!267 = !DILocation(line: 252, scope: !2)
!268 = !DILocation(line: 253, scope: !2)
!269 = !DILocation(line: 254, scope: !2)
!270 = !DILocation(line: 255, scope: !2)
!271 = !DILocation(line: 256, scope: !2)
!272 = !DILocation(line: 257, scope: !2)
!273 = !DILocation(line: 258, scope: !2)
!274 = !DILocation(line: 259, scope: !2)
!275 = !DILocation(line: 260, scope: !2)
!276 = !DILocation(line: 261, scope: !2)
!277 = !DILocation(line: 262, scope: !2)
!278 = !DILocation(line: 263, scope: !2)
!279 = !DILocation(line: 264, scope: !2)
!280 = !DILocation(line: 265, scope: !2)
!282 = !DILocation(line: 267, scope: !2)
