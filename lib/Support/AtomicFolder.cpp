//===- AtomicFolder.cpp - a folder committed atomically -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/AtomicFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdio>
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
  for (unsigned attempt = 0; !code && attempt != 1000; ++attempt) {
    std::string temporary = temporaryName(target, attempt);
    Unfinished unfinished(temporary);
    code =
        fs::create_directory(temporary, /*IgnoreExisting=*/false, fs::all_all);
    if (!code)
      return std::unique_ptr<AtomicFolder>(
          new AtomicFolder(std::string(target), std::move(temporary),
                           std::move(unfinished), diags));
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

/// Exchanges two folders in one step. Returns `errno`, or 0.
static int exchange(const std::string &one, const std::string &other) {
#if defined(__linux__) && defined(RENAME_EXCHANGE)
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
                     RENAME_EXCHANGE)
             ? errno
             : 0;
#elif defined(__APPLE__) && defined(RENAME_SWAP)
  return ::renamex_np(one.c_str(), other.c_str(), RENAME_SWAP) ? errno : 0;
#else
  return ENOTSUP;
#endif
}

/// For file systems that cannot exchange folders: renames `target` to `old`
/// first, and back when `made` cannot take its place. Between the two renames
/// there is no folder at `target`.
static int replaceInTwoSteps(const std::string &made, const std::string &target,
                             const std::string &old) {
  if (::rename(target.c_str(), old.c_str()))
    return errno;
  if (!::rename(made.c_str(), target.c_str()))
    return 0;
  int error = errno;
  if (error != ENOTEMPTY && error != EEXIST)
    (void)::rename(old.c_str(), target.c_str());
  else // Another process was faster, so `old` is no longer the newest.
    (void)fs::remove_directories(old);
  return error;
}

/// Renames the folder `made` to `target`. A folder that it replaces is at
/// `made` or `old` afterwards. Returns `errno`, or 0.
static int replaceFolder(const std::string &made, const std::string &target,
                         const std::string &old) {
  auto mayFollow = [](int error) {
    // Other processes replace or remove the folder at the same time.
    return error == ENOENT || error == ENOTEMPTY || error == EEXIST;
  };
  int error = 0;
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    // This succeeds when there is nothing to replace, or an empty folder.
    if (!::rename(made.c_str(), target.c_str()))
      return 0;
    error = errno;
    if (error != ENOTEMPTY && error != EEXIST)
      return error;
    error = exchange(made, target);
    if (error && !mayFollow(error))
      error = replaceInTwoSteps(made, target, old);
    if (!error || !mayFollow(error))
      return error;
  }
  return error;
}

bool AtomicFolder::commit(Durability durability) {
  std::error_code code;
  if (durability == Durability::Synced)
    code = syncFolder(temporary);
  std::string old = temporary + "-old";
  if (!code)
    code = std::error_code(replaceFolder(temporary, target, old),
                           std::generic_category());
  if (code) {
    diags.reportFile(target, diag::CannotWrite, code.message());
    return false;
  }
  // The folder is in place even if the following fails.
  if (durability == Durability::Synced)
    code = syncFolder(path::parent_path(target));
  (void)fs::remove_directories(temporary);
  (void)fs::remove_directories(old);
  temporary.clear();
  if (code)
    diags.reportFile(target, diag::CannotWrite, code.message());
  return !code;
}
