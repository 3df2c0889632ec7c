target triple = "amdgcn-amd-amdhsa"
@local0 = internal unnamed_addr addrspace(3) global [32 x float] poison, align 16
define amdgpu_kernel void @shared(ptr addrspace(1) noalias align 16 %data0, ptr addrspace(1) noalias readonly align 16 %data1) #0 !dbg !2 {
entry:
  %v3 = call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !19
  %v5 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !21
  %v7 = mul i32 %v3, 32, !dbg !23
  %v8 = add i32 %v7, %v5, !dbg !24
  %v9 = getelementptr inbounds float, ptr addrspace(1) %data1, i32 %v8, !dbg !25
  %v10 = load float, ptr addrspace(1) %v9, align 4, !dbg !26
  %v11 = getelementptr inbounds float, ptr addrspace(3) @local0, i32 %v5, !dbg !27
  store float %v10, ptr addrspace(3) %v11, align 4, !dbg !28
  fence syncscope("workgroup") release, !dbg !29
  call void @llvm.amdgcn.s.barrier(), !dbg !29
  fence syncscope("workgroup") acquire, !dbg !29
  %v15 = sub i32 31, %v5, !dbg !31
  %v17 = getelementptr inbounds float, ptr addrspace(3) @local0, i32 %v15, !dbg !33
  %v18 = load float, ptr addrspace(3) %v17, align 4, !dbg !34
  %v19 = getelementptr inbounds float, ptr addrspace(1) %data0, i32 %v8, !dbg !35
  store float %v18, ptr addrspace(1) %v19, align 4, !dbg !36
  ret void, !dbg !37
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="32,32" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "shared", directory: "")
!2 = distinct !DISubprogram(name: "shared", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!16 = !DILocation(line: 1, scope: !2)
!19 = !DILocation(line: 4, scope: !2)
!21 = !DILocation(line: 6, scope: !2)
!23 = !DILocation(line: 8, scope: !2)
!24 = !DILocation(line: 9, scope: !2)
!25 = !DILocation(line: 10, scope: !2)
!26 = !DILocation(line: 11, scope: !2)
!27 = !DILocation(line: 12, scope: !2)
!28 = !DILocation(line: 13, scope: !2)
!29 = !DILocation(line: 14, scope: !2)
!31 = !DILocation(line: 16, scope: !2)
!33 = !DILocation(line: 18, scope: !2)
!34 = !DILocation(line: 19, scope: !2)
!35 = !DILocation(line: 20, scope: !2)
!36 = !DILocation(line: 21, scope: !2)
!37 = !DILocation(line: 22, scope: !2)
