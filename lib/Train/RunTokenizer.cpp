//===- RunTokenizer.cpp - the tokenizer in the folder of a run ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RunTokenizer.h"
#include "CheckpointState.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/Digest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;

/// The name of the copy; empty when there is no file to copy.
static llvm::StringRef copyName(const UsedTokenizer &used) {
  if (used.path.empty())
    return "";
  return used.kind == "huggingface"     ? "tokenizer.json"
         : used.kind == "sentencepiece" ? "tokenizer.model"
                                        : "tokenizer.bin";
}

bool anec::keepTokenizer(std::shared_ptr<const Folder> folder,
                         const UsedTokenizer &used, Diagnostics &diags) {
  llvm::StringRef name = copyName(used);
  if (name.empty())
    return true;
  std::string ignored;
  if (folder->has(name)) {
    std::unique_ptr<llvm::MemoryBuffer> there = folder->read(name, ignored);
    if (there && sha256(bytesOf(*there)) == used.digest)
      return true;
  }
  MappedFile file = mapFile(used.path, diags);
  if (!file)
    return false;
  AtomicFiles files(std::move(folder), diags);
  OutputFile *copy = files.add(name);
  if (!copy)
    return false;
  *copy << file->getBuffer();
  return files.commit();
}

/// The folder of the run that `folder` is, or is a checkpoint of.
static std::string runOf(llvm::StringRef folder) {
  if (!fs::exists(fileIn(folder, "state.json")))
    return folder.str();
  llvm::StringRef trimmed = folder.rtrim('/');
  llvm::StringRef name = llvm::sys::path::filename(trimmed);
  if (trimmed.empty() || name == "." || name == "..")
    return fileIn(folder, "..");
  llvm::StringRef parent = llvm::sys::path::parent_path(trimmed);
  return parent.empty() ? "." : parent.str();
}

std::string anec::tokenizerOfRun(llvm::StringRef folder,
                                 const UsedTokenizer &used) {
  llvm::StringRef name = copyName(used);
  if (name.empty())
    return "";
  std::string copy = fileIn(runOf(folder), name);
  return fs::exists(copy) ? copy : used.path;
}
