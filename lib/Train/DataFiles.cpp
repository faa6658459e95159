//===- DataFiles.cpp - the files that data consists of --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DataFiles.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;

bool DataFile::hasArrays() const {
  llvm::StringRef ending = llvm::sys::path::extension(path);
  return ending == ".npy" || ending == ".safetensors";
}

/// Adds the files in `folder` and below.
static bool listFolder(llvm::StringRef folder, llvm::StringRef without,
                       std::vector<DataFile> &files, Diagnostics &diags) {
  std::vector<std::string> found;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end;
       entry != end && !code; entry.increment(code)) {
    bool isFolder = entry->type() == fs::file_type::directory_file;
    if (llvm::sys::path::filename(entry->path()).starts_with(".") ||
        (isFolder && fs::equivalent(entry->path(), without))) {
      entry.no_push();
      continue;
    }
    if (fs::is_regular_file(entry->path()))
      found.push_back(entry->path());
  }
  if (code) {
    diags.reportFile(folder, diag::CannotOpen, code.message());
    return false;
  }
  llvm::sort(found);
  for (std::string &path : found)
    files.push_back({std::move(path), /*isNamed=*/false});
  return true;
}

std::optional<std::vector<DataFile>>
anec::listDataFiles(llvm::ArrayRef<std::string> paths, llvm::StringRef without,
                    Diagnostics &diags) {
  std::vector<DataFile> files;
  for (const std::string &path : paths) {
    if (!fs::is_directory(path))
      files.push_back({path, /*isNamed=*/true});
    else if (!listFolder(path, without, files, diags))
      return std::nullopt;
  }
  return files;
}
