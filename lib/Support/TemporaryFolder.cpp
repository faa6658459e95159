//===- TemporaryFolder.cpp - a folder that goes with its owner ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/TemporaryFolder.h"
#include "anec/Support/Folder.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
namespace fs = llvm::sys::fs;

std::shared_ptr<TemporaryFolder> TemporaryFolder::create(Diagnostics &diags) {
  llvm::SmallString<128> folder;
  if (std::error_code code = fs::createUniqueDirectory("anec", folder)) {
    diags.reportFile(folder, diag::CannotWrite, code.message());
    return nullptr;
  }
  return std::shared_ptr<TemporaryFolder>(
      new TemporaryFolder(folder.str().str()));
}

TemporaryFolder::~TemporaryFolder() { removeTree(folder); }
