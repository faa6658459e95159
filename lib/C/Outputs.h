//===- Outputs.h - where the C API writes weights --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_C_OUTPUTS_H
#define ANEC_LIB_C_OUTPUTS_H

#include "Handles.h"
#include "lib/Arrays/ModelFolder.h"

namespace anec::c {

/// Whether `output` is a folder, or ends in one of `files`. A folder can have
/// any name; a mistyped file must not become one.
[[nodiscard]] bool checkEnding(llvm::StringRef output,
                               llvm::ArrayRef<llvm::StringRef> files,
                               Diagnostics &diags);
ModelFolderOptions folderOf(const char *tokenizer, uint64_t shardSize);

} // namespace anec::c

#endif // ANEC_LIB_C_OUTPUTS_H
