//===- RunTokenizer.cpp - the tokenizer in the folder of a run ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/RunTokenizer.h"
#include "CheckpointState.h"
#include "anec/Train/TokenizerKind.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Digest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;

/// The name of the copy; empty when there is no file to copy.
static llvm::StringRef copyName(const UsedTokenizer &used) {
  if (used.path.empty())
    return "";
  std::optional<TokenizerKind> kind = parseWord<TokenizerKind>(used.kind);
  return kind == TokenizerKind::HuggingFace     ? "tokenizer.json"
         : kind == TokenizerKind::SentencePiece ? "tokenizer.model"
                                                : "tokenizer.bin";
}

/// Files beside a tokenizer.json that say which ids begin and end a text, and
/// the form of conversations.
static constexpr llvm::StringLiteral companions[] = {
    "tokenizer_config.json", "generation_config.json", "chat_template.jinja",
    "chat_template.json"};

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
  AtomicFiles files(std::move(folder), diags);
  auto add = [&](const std::string &from, llvm::StringRef to) {
    MappedFile file = mapFile(from, diags);
    OutputFile *copy = file ? files.add(to) : nullptr;
    if (copy)
      *copy << file->getBuffer();
    return copy != nullptr;
  };
  if (!add(used.path, name))
    return false;
  llvm::StringRef beside = llvm::sys::path::parent_path(used.path);
  if (used.kind == spelling(TokenizerKind::HuggingFace))
    for (llvm::StringRef other : companions)
      if (std::string path = fileIn(beside, other);
          fs::exists(path) && !add(path, other))
        return false;
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

std::string anec::textFolderOf(const Checkpoint &trained) {
  std::string path = tokenizerOfRun(trained.folder, trained.state.tokenizer);
  if (path.empty())
    return "";
  std::string folder = llvm::sys::path::parent_path(path).str();
  return folder.empty() ? "." : folder;
}
