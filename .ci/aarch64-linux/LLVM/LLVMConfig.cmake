# What anec asks of LLVM's own package file, which also looks for every tool of LLVM:
# libraries for the target, tools for the machine that builds.
set(LLVM_VERSION_MAJOR 19)
set(LLVM_PACKAGE_VERSION 19.1)
set(LLVM_INCLUDE_DIRS ${ANEC_AARCH64_ROOT}/usr/lib/llvm-19/include)
set(LLVM_TOOLS_BINARY_DIR /usr/lib/llvm-19/bin)

set(libraries ${ANEC_AARCH64_ROOT}/usr/lib/llvm-19/lib)
add_library(LLVMDemangle STATIC IMPORTED GLOBAL)
set_target_properties(LLVMDemangle PROPERTIES
  IMPORTED_LOCATION ${libraries}/libLLVMDemangle.a)
add_library(LLVMSupport STATIC IMPORTED GLOBAL)
set_target_properties(LLVMSupport PROPERTIES
  IMPORTED_LOCATION ${libraries}/libLLVMSupport.a
  INTERFACE_LINK_LIBRARIES "LLVMDemangle;z;zstd;tinfo;dl;rt;m")
