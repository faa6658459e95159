//===- PackageForm.h - programs as their packages have them -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_PACKAGEFORM_H
#define ANEC_LIB_API_PACKAGEFORM_H

#include "anec/API/Compile.h"

namespace anec {

/// Makes `module`, read from `source`, what is checked and predicted. A source
/// of training becomes for Core ML what build() makes of it for a package: a
/// program in fp16, in the forms that Core ML takes. Others stay, unless they
/// are to be in fp16. Returns false after an error.
[[nodiscard]] bool takePackageForm(Module &module, const Source &source,
                                   const CompileOptions &options,
                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_API_PACKAGEFORM_H
