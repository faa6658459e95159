//===- AtomicFolder.cpp - a folder committed atomically -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/AtomicFolder.h"
#include "lib/Support/Diags.h"
#include "lib/Support/FileName.h"
#include "lib/Support/TemporaryName.h"
#include "lib/Support/WriterLock.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// What may be removed
//===----------------------------------------------------------------------===//

/// Reads the mark of `folder`. Sets `listed` to the files that it lists, and
/// the mark itself.
static bool listFiles(const Folder &folder, const FolderKind &kind,
                      ListedFiles &listed, std::string &wrong) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = folder.read(kind.mark, error);
  if (!text) {
    wrong = folder.has(kind.mark)
                ? ("its `" + kind.mark + "` cannot be read: " + error).str()
                : ("it has no `" + kind.mark + "`").str();
    return false;
  }
  if (!listed.paths.empty() && listed.mark == text->getBuffer())
    return true;
  std::vector<std::string> files = {kind.mark.str()};
  if (!kind.list(text->getBuffer(), files, error)) {
    wrong = ("its `" + kind.mark + "` is not of anec: " + error).str();
    return false;
  }
  listed.mark = text->getBuffer().str();
  listed.paths.clear();
  for (const std::string &file : files)
    listed.paths.insert(file);
  return true;
}

/// Whether `path` may be in a folder of `kind` with the files `listed`.
static bool isOwn(const FolderKind &kind, const ListedFiles &listed,
                  llvm::StringRef path, bool isFolder) {
  // macOS leaves this file in every folder that a user looks at.
  if (!isFolder && path::filename(path) == ".DS_Store")
    return true;
  return kind.mayHold(path, isFolder) &&
         (isFolder || listed.paths.contains(path));
}

/// Whether `folder` is of `kind` and may be removed. Sets `listed` to its
/// files.
static bool holdsOwn(const Folder &folder, const FolderKind &kind,
                     ListedFiles &listed, std::string &wrong) {
  if (folder.names().empty()) {
    listed = {};
    return true;
  }
  if (!listFiles(folder, kind, listed, wrong))
    return false;
  std::string foreign =
      findForeign(folder, [&](llvm::StringRef path, bool isFolder) {
        return isOwn(kind, listed, path, isFolder);
      });
  if (!foreign.empty())
    wrong = "its `" + kind.mark.str() + "` does not list `" +
            showFileName(foreign) + "`";
  return foreign.empty();
}

bool anec::isOwnFolder(const Folder &parent, llvm::StringRef name,
                       const FolderKind &kind, ListedFiles &listed,
                       std::string &wrong) {
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    std::error_code code;
    std::optional<Folder> folder = parent.openFolder(name, code);
    if (!folder) {
      mode_t mode = parent.modeOf(name);
      if (!mode) { // there is nothing to replace any more
        listed = {};
        return true;
      }
      if (S_ISDIR(mode) && code == std::errc::no_such_file_or_directory)
        continue;
      wrong = S_ISDIR(mode) ? code.message()
                            : ("it is " + describeFileKind(mode)).str();
      return false;
    }
    if (holdsOwn(*folder, kind, listed, wrong))
      return true;
    // Another process may have replaced it meanwhile, and be removing it.
    if (folder->isAt(parent, name))
      return false;
  }
  return false;
}

/// Removes the files of `listed` and the folders that they were in.
static void removeListed(const Folder &parent, llvm::StringRef name,
                         const FolderKind &kind, const ListedFiles &listed) {
  removeKnown(parent, name, [&](llvm::StringRef path, bool isFolder) {
    return isOwn(kind, listed, path, isFolder);
  });
}

bool anec::removeOwnFolder(const Folder &parent, llvm::StringRef name,
                           const FolderKind &kind, std::string &wrong) {
  ListedFiles listed;
  if (!isOwnFolder(parent, name, kind, listed, wrong))
    return false;
  std::string aside = temporaryName(name);
  if (std::error_code code = parent.rename(name, aside)) {
    wrong = code.message();
    return false;
  }
  removeListed(parent, aside, kind, listed);
  return true;
}

/// Whether a process that writes such a folder can have made this.
static bool mayBeLeft(const FolderKind &kind, llvm::StringRef path,
                      bool isFolder) {
  return kind.mayHold(isFolder ? path : withoutTemporaryEnd(path), isFolder);
}

void anec::removeLeftBehind(const Folder &parent, llvm::StringRef name,
                            const FolderKind &kind, Diagnostics &diags) {
  auto isKnown = [&](llvm::StringRef path, bool isFolder) {
    return mayBeLeft(kind, path, isFolder);
  };
  std::error_code code;
  std::optional<Folder> folder = parent.openFolder(name, code);
  if (folder && findForeign(*folder, isKnown).empty() &&
      mayRemoveLeftBehind(parent, name, folder->descriptor(), diags))
    removeKnown(parent, name, isKnown);
}

//===----------------------------------------------------------------------===//
// AtomicFolder
//===----------------------------------------------------------------------===//

void AtomicFolder::report(std::error_code code) {
  diags.reportFile(parent->pathOf(target), diag::CannotWrite, code.message());
}

std::unique_ptr<AtomicFolder> AtomicFolder::create(llvm::StringRef requested,
                                                   const FolderKind &kind,
                                                   Diagnostics &diags) {
  llvm::SmallString<256> target(requested);
  while (target.size() > 1 && path::is_separator(target.back()))
    target.pop_back();
  // Renaming onto a link would replace the link, not its target.
  llvm::SmallString<256> real;
  if (fs::is_symlink_file(target) && !fs::real_path(target, real))
    target = real;
  llvm::StringRef above = path::parent_path(target);
  llvm::StringRef name = path::filename(target);
  if (name == "." || name == ".." || name == "/") {
    diags.reportFile(requested, diag::NotReplaced, "it is in use");
    return nullptr;
  }
  std::error_code code;
  if (!above.empty())
    code = fs::create_directories(above, true, fs::all_all);
  std::optional<Folder> parent =
      code ? std::nullopt : Folder::open(above, code);
  if (!parent) {
    diags.reportFile(requested, diag::CannotWrite, code.message());
    return nullptr;
  }
  return create(std::make_shared<const Folder>(std::move(*parent)), name, kind,
                diags);
}

std::unique_ptr<AtomicFolder>
AtomicFolder::create(std::shared_ptr<const Folder> parent, llvm::StringRef name,
                     const FolderKind &kind, Diagnostics &diags) {
  std::string wrong;
  ListedFiles replaced;
  if (parent->has(name) && !isOwnFolder(*parent, name, kind, replaced, wrong)) {
    diags.reportFile(parent->pathOf(name), diag::NotReplaced, wrong);
    return nullptr;
  }
  for (const std::string &other : parent->names())
    if (temporaryTarget(other) == name)
      removeLeftBehind(*parent, other, kind, diags);
  std::unique_ptr<AtomicFolder> made(
      new AtomicFolder(std::move(parent), name.str(), kind, diags));
  made->replaced = std::move(replaced);
  return made->start() ? std::move(made) : nullptr;
}

/// Makes the folder with a temporary name.
bool AtomicFolder::start() {
  std::error_code code;
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    std::string name = temporaryName(target);
    bool made = false;
    if (parent->has(name)) {
      code = std::make_error_code(std::errc::file_exists);
      continue;
    }
    Unfinished entry(parent->pathOf(name));
    std::optional<Folder> folder = parent->makeFolder(name, made, code);
    if (folder && made && lockAsWriter(folder->descriptor(), *parent, name)) {
      code = parent->keepPermissions(target, folder->descriptor());
      if (code) {
        (void)parent->remove(name);
        break;
      }
      unfinished = std::move(entry);
      temporary = std::move(name);
      written = std::make_shared<const Folder>(std::move(*folder));
      return true;
    }
    // Another process may have removed it already.
    if (folder || (made && code == std::errc::no_such_file_or_directory))
      continue;
    if (made) // Nothing is in it yet.
      (void)parent->remove(name);
    break;
  }
  report(code);
  return false;
}

AtomicFolder::~AtomicFolder() {
  written.reset();
  if (!temporary.empty())
    removeKnown(*parent, temporary, [&](llvm::StringRef path, bool isFolder) {
      return mayBeLeft(kind, path, isFolder);
    });
}

/// Exchanges two folders in one step. Returns `errno`, or 0.
static int exchange(const Folder &parent, llvm::StringRef one,
                    llvm::StringRef other) {
  [[maybe_unused]] std::string from = one.str(), to = other.str();
#if defined(__linux__) && defined(RENAME_EXCHANGE)
  return ::renameat2(parent.descriptor(), from.c_str(), parent.descriptor(),
                     to.c_str(), RENAME_EXCHANGE)
             ? errno
             : 0;
#elif defined(__APPLE__) && defined(RENAME_SWAP)
  return ::renameatx_np(parent.descriptor(), from.c_str(), parent.descriptor(),
                        to.c_str(), RENAME_SWAP)
             ? errno
             : 0;
#else
  return ENOTSUP;
#endif
}

/// Removes the folder `name`, which was replaced.
void AtomicFolder::removeReplaced(llvm::StringRef name) {
  std::string wrong;
  if (isOwnFolder(*parent, name, kind, replaced, wrong))
    removeListed(*parent, name, kind, replaced);
}

/// For file systems that cannot exchange folders: renames the target to `old`
/// first, and back when the new folder cannot take its place. Between the two
/// renames there is no folder at the target.
int AtomicFolder::replaceInTwoSteps(llvm::StringRef old) {
  if (std::error_code code = parent->rename(target, old))
    return code.value();
  std::error_code code = parent->rename(temporary, target);
  if (!code)
    return 0;
  int error = code.value();
  if (error != ENOTEMPTY && error != EEXIST)
    (void)parent->rename(old, target);
  else // Another process was faster, so `old` is no longer the newest.
    removeReplaced(old);
  return error;
}

/// Renames the new folder to its final path. A folder that it replaces is at
/// `temporary` or `old` afterwards. Returns `errno`, or 0.
int AtomicFolder::replace(llvm::StringRef old) {
  auto mayFollow = [](int error) {
    // Other processes replace or remove the folder at the same time.
    return error == ENOENT || error == ENOTEMPTY || error == EEXIST;
  };
  int error = 0;
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    // This succeeds when there is nothing to replace, or an empty folder.
    error = parent->rename(temporary, target).value();
    if (error != ENOTEMPTY && error != EEXIST)
      return error;
    error = exchange(*parent, temporary, target);
    if (error && !mayFollow(error))
      error = replaceInTwoSteps(old);
    if (!error || !mayFollow(error))
      return error;
  }
  return error;
}

bool AtomicFolder::commit(Durability durability) {
  std::string wrong;
  // Something may have been added since it was looked at.
  if (parent->has(target) &&
      !isOwnFolder(*parent, target, kind, replaced, wrong)) {
    diags.reportFile(parent->pathOf(target), diag::NotReplaced, wrong);
    return false;
  }
  std::error_code code;
  if (durability == Durability::Synced)
    code = written->sync();
  std::string old = temporary + "-old";
  if (!code)
    code = std::error_code(replace(old), std::generic_category());
  if (code) {
    report(code);
    return false;
  }
  // The folder is in place even if the following fails.
  if (durability == Durability::Synced)
    code = parent->sync();
  removeReplaced(temporary);
  removeReplaced(old);
  temporary.clear();
  if (code)
    report(code);
  return !code;
}
