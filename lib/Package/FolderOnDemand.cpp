//===- FolderOnDemand.cpp - a folder of a package in memory ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FolderOnDemand.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/AtomicFolder.h"

using namespace anec;

bool anec::copyPackage(const ModelPackage &package, llvm::StringRef path,
                       Diagnostics &diags) {
  std::unique_ptr<AtomicFolder> target =
      AtomicFolder::create(path, packageFolder(), diags);
  if (!target)
    return false;
  std::vector<std::string> files = {"manifest.json"};
  for (const PackagedFile &file : package.files)
    files.push_back(file.path);
  AtomicFiles copies(target->folder(), diags);
  for (const std::string &file : files) {
    MappedFile from = package.contents.lookup(file);
    if (!from)
      from = mapFile(package.pathOf(file), diags);
    OutputFile *copy = from ? copies.add(file) : nullptr;
    if (!copy)
      return false;
    *copy << from->getBuffer();
    if (!copies.commit())
      return false;
  }
  return target->commit();
}

std::optional<std::string> FolderOnDemand::path(const ModelPackage &package,
                                                Diagnostics &diags) {
  constexpr llvm::StringLiteral name = "model.anepkg";
  std::lock_guard<std::mutex> lock(writing);
  if (folder)
    return folder->file(name);
  std::shared_ptr<TemporaryFolder> made = TemporaryFolder::create(diags);
  if (!made || !copyPackage(package, made->file(name), diags))
    return std::nullopt;
  folder = std::move(made);
  return folder->file(name);
}

std::optional<std::string> anec::folderOf(const ModelPackage &package,
                                          Diagnostics &diags) {
  return package.onDemand ? package.onDemand->path(package, diags)
                          : package.folder;
}
