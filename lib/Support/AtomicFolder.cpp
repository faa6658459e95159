//===- AtomicFolder.cpp - a folder committed atomically -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/AtomicFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace anec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Whether the folder at `target` can be replaced.
static bool isReplaceable(llvm::StringRef target, llvm::StringRef mark) {
  llvm::SmallString<256> file(target);
  path::append(file, mark);
  if (fs::exists(file))
    return true;
  std::error_code code;
  fs::directory_iterator entry(target, code), end;
  return !code && entry == end;
}

/// Whether `name` is the temporary name for `target` of a process that no
/// longer exists.
static bool isLeftBehind(llvm::StringRef name, llvm::StringRef target) {
  pid_t process = 0;
  unsigned attempt = 0;
  return name.consume_front(target) && name.consume_front(".") &&
         !name.consumeInteger(10, process) && name.consume_front("-") &&
         !name.consumeInteger(10, attempt) && name == ".tmp" && process > 0 &&
         ::kill(process, 0) && errno == ESRCH;
}

/// Removes the temporary folders for `target` of killed processes.
static void removeLeftBehind(llvm::StringRef target) {
  llvm::StringRef parent = path::parent_path(target);
  std::vector<std::string> folders;
  std::error_code code;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, code), end;
       !code && entry != end; entry.increment(code))
    if (isLeftBehind(path::filename(entry->path()), path::filename(target)))
      folders.push_back(entry->path());
  for (const std::string &folder : folders)
    (void)fs::remove_directories(folder);
}

std::unique_ptr<AtomicFolder> AtomicFolder::create(llvm::StringRef requested,
                                                   llvm::StringRef mark,
                                                   Diagnostics &diags) {
  llvm::SmallString<256> target(requested);
  while (target.size() > 1 && path::is_separator(target.back()))
    target.pop_back();
  // Renaming onto a link would replace the link, not its target.
  llvm::SmallString<256> real;
  if (fs::is_symlink_file(target) && !fs::real_path(target, real))
    target = real;
  if (fs::exists(target) &&
      (!fs::is_directory(target) || !isReplaceable(target, mark))) {
    diags.reportFile(requested, diag::NotReplaced, mark);
    return nullptr;
  }
  llvm::StringRef parent = path::parent_path(target);
  std::error_code code;
  if (!parent.empty())
    code = fs::create_directories(parent, true, fs::all_all);
  if (!code)
    removeLeftBehind(target);
  std::string temporary;
  for (unsigned attempt = 0; !code && attempt != 1000; ++attempt) {
    temporary = (target + "." + llvm::Twine(::getpid()) + "-" +
                 llvm::Twine(attempt) + ".tmp")
                    .str();
    code =
        fs::create_directory(temporary, /*IgnoreExisting=*/false, fs::all_all);
    if (!code)
      return std::unique_ptr<AtomicFolder>(
          new AtomicFolder(std::string(target), std::move(temporary), diags));
    if (code == std::errc::file_exists)
      code = {};
  }
  if (!code)
    code = std::make_error_code(std::errc::file_exists);
  diags.reportFile(requested, diag::CannotWrite, code.message());
  return nullptr;
}

AtomicFolder::~AtomicFolder() {
  if (!temporary.empty())
    (void)fs::remove_directories(temporary);
}

/// Waits until the directory entries of `folder` are on the disk.
static std::error_code syncFolder(llvm::StringRef folder) {
  std::string name = folder.empty() ? "." : folder.str();
  int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  std::error_code code;
  if (descriptor < 0 || ::fsync(descriptor))
    code = std::error_code(errno, std::generic_category());
  if (descriptor >= 0)
    ::close(descriptor);
  return code;
}

bool AtomicFolder::commit(Durability durability) {
  // A folder cannot be renamed onto one that has files, so the old one is
  // renamed first, and renamed back when the new one cannot be.
  std::string old = temporary + "-old";
  bool replaces = fs::exists(target);
  std::error_code code;
  if (durability == Durability::Synced)
    code = syncFolder(temporary);
  if (!code && replaces)
    code = fs::rename(target, old);
  if (!code) {
    code = fs::rename(temporary, target);
    if (code && replaces)
      (void)fs::rename(old, target);
  }
  if (code) {
    diags.reportFile(target, diag::CannotWrite, code.message());
    return false;
  }
  temporary.clear();
  // The folder is in place even if the following fails.
  if (durability == Durability::Synced)
    code = syncFolder(path::parent_path(target));
  if (replaces)
    (void)fs::remove_directories(old);
  if (code)
    diags.reportFile(target, diag::CannotWrite, code.message());
  return !code;
}
