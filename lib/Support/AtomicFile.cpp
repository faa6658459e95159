//===- AtomicFile.cpp - output files committed together -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/AtomicFile.h"
#include "lib/Support/Diags.h"
#include "lib/Support/FileName.h"
#include "lib/Support/Sync.h"
#include "lib/Support/TemporaryName.h"
#include "lib/Support/WriterLock.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
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
  for (int open : {descriptor, lock})
    if (open >= 0)
      ::close(open);
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

int anec::writeAll(int descriptor, StringRef bytes) {
  return ::writeAll(bytes.data(), bytes.size(),
                    [&](const char *data, size_t count) {
                      return ::write(descriptor, data, count);
                    });
}

void OutputFile::write_impl(const char *bytes, size_t size) {
  if (error())
    return;
  int code = memory ? memory->write(position, bytes, size)
                    : anec::writeAll(descriptor, {bytes, size});
  if (code)
    fail(code);
  position += size;
}

void OutputFile::pwrite_impl(const char *bytes, size_t size, uint64_t offset) {
  writeAt(offset, bytes, size);
}

void OutputFile::writeAt(uint64_t offset, const void *bytes, size_t size) {
  if (error())
    return;
  if (memory) {
    if (int code = memory->write(offset, bytes, size))
      fail(code);
    return;
  }
  auto writeSome = [&](const char *data, size_t count) {
    ssize_t written = ::pwrite(descriptor, data, count, off_t(offset));
    if (written > 0)
      offset += written;
    return written;
  };
  if (int code = ::writeAll(static_cast<const char *>(bytes), size, writeSome))
    fail(code);
}

void OutputFile::reserveExtraSpace(uint64_t size) {
  if (!memory || error())
    return;
  if (int code = memory->reserve(tell() + size))
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
  createdFolders.push_back({nullptr, folder.str()});
  return true;
}

/// Opens the folder `path`, which the user named, or creates it.
std::shared_ptr<const Folder> AtomicFiles::openFolder(StringRef path,
                                                      StringRef file) {
  auto known = folders.find(path);
  if (known != folders.end())
    return known->second;
  if (!createFolders(path, file))
    return nullptr;
  std::error_code code;
  std::optional<Folder> opened = Folder::open(path, code);
  if (!opened) {
    report(file, code.value());
    return nullptr;
  }
  auto folder = std::make_shared<const Folder>(std::move(*opened));
  folders[path] = folder;
  return folder;
}

/// Removes temporary files for `target` of processes that were killed.
void AtomicFiles::removeLeftBehind(const Folder &folder, StringRef target) {
  for (const std::string &name : folder.names()) {
    if (temporaryTarget(name) != target || !S_ISREG(folder.modeOf(name)))
      continue;
    std::string unreadable;
    int descriptor = folder.openFile(name, unreadable);
    if (descriptor < 0)
      continue;
    if (mayRemoveLeftBehind(folder, name, descriptor, diags))
      (void)folder.remove(name);
    ::close(descriptor);
  }
}

/// Makes a file with a temporary name for `name`.
OutputFile *AtomicFiles::start(std::shared_ptr<const Folder> folder,
                               std::string name, std::string path) {
  if (!isInUnfinished(path))
    removeLeftBehind(*folder, name);
  std::unique_ptr<OutputFile> file(new OutputFile(std::move(path)));
  for (unsigned attempt = 0; attempt != 1000; ++attempt) {
    file->temporaryName = anec::temporaryName(name);
    file->unfinished = Unfinished(folder->pathOf(file->temporaryName));
    file->descriptor = folder->create(file->temporaryName);
    if (file->descriptor < 0 && errno != EEXIST)
      break;
    if (file->descriptor >= 0 &&
        lockAsWriter(file->descriptor, *folder, file->temporaryName))
      break;
    if (file->descriptor >= 0)
      ::close(std::exchange(file->descriptor, -1));
    errno = EEXIST;
  }
  if (file->descriptor < 0) {
    report(file->path(), errno);
    return nullptr;
  }
  // Before anything is in it: a private file is at no time one for others.
  if (std::error_code code = folder->keepPermissions(name, file->descriptor)) {
    report(file->path(), code.value());
    (void)folder->remove(file->temporaryName);
    return nullptr;
  }
  file->folder = std::move(folder);
  file->finalName = std::move(name);
  files.push_back(std::move(file));
  return files.back().get();
}

/// Opens a device or a FIFO.
OutputFile *AtomicFiles::startDevice(StringRef path, mode_t mode) {
  // Opening a FIFO that is not read would wait for a reader.
  int descriptor = S_ISCHR(mode) || S_ISFIFO(mode)
                       ? ::open(path.str().c_str(),
                                O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                       : -1;
  if (descriptor < 0) {
    if (S_ISFIFO(mode) && errno == ENXIO)
      diags.reportFile(path, diag::CannotWrite,
                       "it is a FIFO, and no process reads it");
    else if (S_ISCHR(mode) || S_ISFIFO(mode))
      report(path, errno);
    else
      diags.reportFile(path, diag::CannotWrite,
                       ("it is " + describeFileKind(mode)).str());
    return nullptr;
  }
  (void)::fcntl(descriptor, F_SETFL,
                ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  std::unique_ptr<OutputFile> file(new OutputFile(path.str()));
  file->descriptor = descriptor;
  files.push_back(std::move(file));
  return files.back().get();
}

OutputFile *AtomicFiles::add(StringRef requested) {
  if (memory)
    return addInMemory(requested);
  if (root)
    return addIn(root, requested);
  // Renaming onto a link would replace the link, not its target.
  SmallString<256> target(requested);
  if (fs::is_symlink_file(requested))
    if (fs::real_path(requested, target))
      target = requested;

  struct stat status;
  bool exists = !::stat(target.c_str(), &status);
  if (exists && S_ISDIR(status.st_mode)) {
    report(requested, EISDIR);
    return nullptr;
  }
  if (exists && !S_ISREG(status.st_mode))
    return startDevice(target, status.st_mode);
  std::shared_ptr<const Folder> folder =
      openFolder(path::parent_path(target), requested);
  if (!folder)
    return nullptr;
  return start(std::move(folder), path::filename(target).str(),
               std::string(target));
}

OutputFile *AtomicFiles::add(StringRef folder, StringRef name) {
  assert(((!root && !memory) || folder.empty()) && "files have one root");
  if (memory)
    return addInMemory(name);
  if (root)
    return addIn(root, name);
  SmallString<256> file(folder);
  path::append(file, name);
  std::shared_ptr<const Folder> opened =
      openFolder(folder, isFilePath(name) ? StringRef(file) : folder);
  return opened ? addIn(std::move(opened), name) : nullptr;
}

/// Opens the folder `name` in `folder`, or makes it.
std::shared_ptr<const Folder>
AtomicFiles::openInner(const std::shared_ptr<const Folder> &folder,
                       StringRef name, StringRef file) {
  auto known = innerFolders.find(folder->pathOf(name));
  if (known != innerFolders.end())
    return known->second;
  bool made = false;
  std::error_code code;
  std::optional<Folder> inner = folder->makeFolder(name, made, code);
  if (made)
    createdFolders.push_back({folder, name.str()});
  if (inner) {
    auto opened = std::make_shared<const Folder>(std::move(*inner));
    innerFolders[opened->path()] = opened;
    return opened;
  }
  mode_t mode = folder->modeOf(name);
  if (mode && !S_ISDIR(mode) && !S_ISREG(mode))
    diags.reportFile(folder->pathOf(name), diag::NoPlainFile,
                     describeFileKind(mode));
  else
    report(file, code.value());
  return nullptr;
}

/// Checks `name`, which anec chose or which came from a file, and that no other
/// file in `folder` is the same one; `file` is its path.
bool AtomicFiles::addName(StringRef folder, StringRef file, StringRef name) {
  if (!isFilePath(name)) {
    diags.reportFile(folder, diag::BadFileName, showFileName(name));
    return false;
  }
  FileNames &beside = names[folder];
  if (const std::string *other = beside.find(name)) {
    diags.reportFile(file, diag::CannotWrite,
                     "`" + showFileName(*other) +
                         "` is the same file on a volume that ignores case");
    return false;
  }
  beside.add(name);
  return true;
}

OutputFile *AtomicFiles::addInMemory(StringRef name) {
  SmallString<128> file(place);
  path::append(file, name);
  if (!addName(place, file, name))
    return nullptr;
  std::unique_ptr<OutputFile> made(new OutputFile(file.str().str()));
  made->memory = std::make_unique<MemoryFile>();
  made->finalName = name.str();
  files.push_back(std::move(made));
  return files.back().get();
}

OutputFile *AtomicFiles::addIn(std::shared_ptr<const Folder> folder,
                               StringRef inside) {
  std::string file = folder->pathOf(inside);
  if (!addName(folder->path(), file, inside))
    return nullptr;
  while (inside.contains('/')) {
    auto [first, rest] = inside.split('/');
    folder = openInner(folder, first, file);
    if (!folder)
      return nullptr;
    inside = rest;
  }
  mode_t mode = folder->modeOf(inside);
  if (mode && !S_ISREG(mode)) {
    diags.reportFile(file, diag::NoPlainFile, describeFileKind(mode));
    return nullptr;
  }
  return start(std::move(folder), inside.str(), std::move(file));
}

/// Flushes and closes the file, and reports its first error.
bool AtomicFiles::close(OutputFile &file, Durability durability) {
  file.flush();
  if (file.memory) {
    if (file.error())
      report(file.path(), file.error());
    return !file.error();
  }
  // A device cannot be synced, and does not need to be.
  if (!file.error() && durability == Durability::Synced && !file.isDevice())
    if (int error = syncToDisk(file.descriptor))
      file.fail(error);
  // Without a descriptor for it, the file is not locked for a moment.
  if (!file.isDevice())
    file.lock = ::fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0);
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
  std::vector<const OutputFile *> renamed;
  llvm::SmallSetVector<const Folder *, 4> renamedIn;
  for (const auto &file : files) {
    if (file->memory)
      (*memory)[file->finalName] = file->memory->share(file->path());
    if (file->memory || file->isDevice())
      continue;
    bool replaces = file->folder->has(file->finalName);
    if (std::error_code code =
            file->folder->rename(file->temporaryName, file->finalName)) {
      report(file->path(), code.value());
      // An incomplete set is worse than none. Replaced files cannot be
      // restored.
      for (const OutputFile *other : renamed)
        (void)other->folder->remove(other->finalName);
      discard();
      return false;
    }
    file->unfinished.finish();
    file->temporaryName.clear();
    renamedIn.insert(file->folder.get());
    if (!replaces)
      renamed.push_back(file.get());
  }
  // The files are whole whether or not their new names are on the disk yet.
  if (durability == Durability::Synced)
    for (const Folder *folder : renamedIn)
      // Some file systems do not sync folders.
      if (std::error_code code = folder->sync();
          code && code != std::errc::invalid_argument) {
        report(folder->path(), code.value());
        complete = false;
      }
  files.clear();
  createdFolders.clear();
  folders.clear();
  innerFolders.clear();
  names.clear();
  return complete;
}

void AtomicFiles::discard() {
  for (const auto &file : files) {
    if (file->memory || file->isDevice())
      continue;
    (void)file->folder->remove(file->temporaryName);
    file->unfinished.finish();
  }
  files.clear();
  // Innermost first; a folder with files of other processes is kept.
  for (const Created &created : llvm::reverse(createdFolders))
    (void)::unlinkat(created.parent ? created.parent->descriptor() : AT_FDCWD,
                     created.name.c_str(), AT_REMOVEDIR);
  createdFolders.clear();
  folders.clear();
  innerFolders.clear();
  names.clear();
}
