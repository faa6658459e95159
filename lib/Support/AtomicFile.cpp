//===- AtomicFile.cpp - output files committed together -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

using namespace anec;
using namespace llvm;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

OutputFile::~OutputFile() {
  // The buffered bytes of an uncommitted file are not needed any more.
  firstError = ECANCELED;
  flush();
  if (descriptor >= 0)
    ::close(descriptor);
}

void OutputFile::fail(int code) {
  int none = 0;
  firstError.compare_exchange_strong(none, code ? code : EIO);
}

/// Calls `writeSome(bytes, size)` until everything is written; returns the
/// error, or 0.
template <typename Fn>
static int writeAll(const char *bytes, size_t size, Fn writeSome) {
  // One call writes at most 2 GB on both Linux and macOS.
  constexpr size_t most = size_t(1) << 30;
  while (size) {
    ssize_t written = writeSome(bytes, std::min(size, most));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return written < 0 ? errno : EIO;
    bytes += written;
    size -= written;
  }
  return 0;
}

void OutputFile::write_impl(const char *bytes, size_t size) {
  if (error())
    return;
  if (int code = writeAll(bytes, size, [&](const char *data, size_t count) {
        return ::write(descriptor, data, count);
      }))
    fail(code);
  position += size;
}

void OutputFile::pwrite_impl(const char *bytes, size_t size, uint64_t offset) {
  writeAt(offset, bytes, size);
}

void OutputFile::writeAt(uint64_t offset, const void *bytes, size_t size) {
  if (error())
    return;
  auto writeSome = [&](const char *data, size_t count) {
    ssize_t written = ::pwrite(descriptor, data, count, off_t(offset));
    if (written > 0)
      offset += written;
    return written;
  };
  if (int code = writeAll(static_cast<const char *>(bytes), size, writeSome))
    fail(code);
}

//===----------------------------------------------------------------------===//
// AtomicFiles
//===----------------------------------------------------------------------===//

AtomicFiles::~AtomicFiles() { discard(); }

void AtomicFiles::report(StringRef file, int code) {
  diags.reportFile(file, diag::CannotWrite,
                   std::generic_category().message(code));
}

/// Creates `folder` and the folders above it, and records which ones are new.
bool AtomicFiles::createFolders(StringRef folder, StringRef file) {
  if (folder.empty() || fs::is_directory(folder))
    return true;
  if (!createFolders(path::parent_path(folder), file))
    return false;
  // All permissions that the user's umask allows, as for any new folder.
  if (std::error_code code =
          fs::create_directory(folder, /*IgnoreExisting=*/true, fs::all_all)) {
    report(file, code.value());
    return false;
  }
  createdFolders.push_back(folder.str());
  return true;
}

/// Opens a new file next to `target`. (createUniqueFile would treat a `%` in
/// the user's path as a placeholder.)
static std::error_code openAside(StringRef target, int &descriptor,
                                 std::string &temporary,
                                 Unfinished &unfinished) {
  std::error_code code;
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    temporary = temporaryName(target, attempt);
    unfinished = Unfinished(temporary);
    code = fs::openFileForWrite(temporary, descriptor, fs::CD_CreateNew);
    if (code != std::errc::file_exists)
      break;
  }
  return code;
}

OutputFile *AtomicFiles::add(StringRef requested) {
  // Renaming onto a link would replace the link, not its target.
  SmallString<256> target(requested);
  if (fs::is_symlink_file(requested))
    if (fs::real_path(requested, target))
      target = requested;

  fs::file_status status;
  bool exists = !fs::status(target, status) && fs::exists(status);
  if (exists && fs::is_directory(status)) {
    report(requested, EISDIR);
    return nullptr;
  }
  std::unique_ptr<OutputFile> file(new OutputFile(std::string(target)));
  if (exists && !fs::is_regular_file(status)) {
    file->descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file->descriptor < 0) {
      report(requested, errno);
      return nullptr;
    }
  } else {
    if (!createFolders(path::parent_path(target), requested))
      return nullptr;
    if (!isInUnfinished(target))
      removeLeftBehind(target);
    std::error_code code = openAside(target, file->descriptor,
                                     file->temporaryPath, file->unfinished);
    if (code) {
      report(requested, code.value());
      return nullptr;
    }
  }
  files.push_back(std::move(file));
  return files.back().get();
}

/// Flushes and closes the file, and reports its first error.
bool AtomicFiles::close(OutputFile &file, Durability durability) {
  file.flush();
  // A device cannot be synced, and does not need to be.
  if (!file.error() && durability == Durability::Synced &&
      !file.temporaryPath.empty() && ::fsync(file.descriptor))
    file.fail(errno);
  if (::close(file.descriptor) && !file.error())
    file.fail(errno);
  file.descriptor = -1;
  if (!file.error())
    return true;
  report(file.path(), file.error());
  return false;
}

bool AtomicFiles::commit(Durability durability) {
  bool complete = true;
  for (const auto &file : files)
    complete &= close(*file, durability);
  if (!complete) {
    discard();
    return false;
  }
  std::vector<std::string> renamed;
  for (const auto &file : files) {
    if (file->temporaryPath.empty())
      continue;
    bool replaces = fs::exists(file->finalPath);
    if (std::error_code code =
            fs::rename(file->temporaryPath, file->finalPath)) {
      report(file->path(), code.value());
      // An incomplete set is worse than none. Replaced files cannot be
      // restored.
      for (const std::string &name : renamed)
        (void)fs::remove(name);
      discard();
      return false;
    }
    file->unfinished.finish();
    file->temporaryPath.clear();
    if (!replaces)
      renamed.push_back(file->finalPath);
  }
  files.clear();
  createdFolders.clear();
  return true;
}

void AtomicFiles::discard() {
  for (const auto &file : files) {
    if (file->temporaryPath.empty())
      continue;
    (void)fs::remove(file->temporaryPath);
    file->unfinished.finish();
  }
  files.clear();
  // Innermost first; a folder with files of other processes is kept.
  for (const std::string &folder : llvm::reverse(createdFolders))
    (void)::rmdir(folder.c_str());
  createdFolders.clear();
}
