//===- Folder.cpp - a folder, worked in by its descriptor -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Folder.h"
#include "lib/Support/ReadFile.h"
#include "lib/Support/Sync.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

llvm::StringLiteral anec::describeFileKind(mode_t mode) {
  if (S_ISREG(mode))
    return "a file";
  if (S_ISDIR(mode))
    return "a folder";
  if (S_ISLNK(mode))
    return "a symbolic link";
  if (S_ISFIFO(mode))
    return "a FIFO";
  if (S_ISSOCK(mode))
    return "a socket";
  return "a device";
}

static std::error_code lastErrorCode() {
  return std::error_code(errno, std::generic_category());
}

//===----------------------------------------------------------------------===//
// Folder
//===----------------------------------------------------------------------===//

static int openDirectory(int base, const char *name, int flags) {
  flags |= O_DIRECTORY | O_CLOEXEC;
  int fd = ::openat(base, name, O_RDONLY | flags);
#ifdef O_PATH
  // Files can be made in a folder that cannot be listed.
  if (fd < 0 && errno == EACCES)
    fd = ::openat(base, name, O_PATH | flags);
#endif
  return fd;
}

std::optional<Folder> Folder::open(llvm::StringRef path,
                                   std::error_code &code) {
  std::string name = path.empty() ? "." : path.str();
  int fd = openDirectory(AT_FDCWD, name.c_str(), 0);
  code = fd < 0 ? lastErrorCode() : std::error_code();
  if (fd < 0)
    return std::nullopt;
  return Folder(fd, path.str());
}

Folder::~Folder() {
  if (fd >= 0)
    ::close(fd);
}

Folder::Folder(Folder &&other) noexcept
    : fd(std::exchange(other.fd, -1)), where(std::move(other.where)) {}

Folder &Folder::operator=(Folder &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(where, other.where);
  return *this;
}

std::string Folder::pathOf(llvm::StringRef name) const {
  llvm::SmallString<256> joined(where);
  llvm::sys::path::append(joined, name);
  return std::string(joined);
}

mode_t Folder::modeOf(llvm::StringRef name) const {
  struct stat status;
  return ::fstatat(fd, name.str().c_str(), &status, AT_SYMLINK_NOFOLLOW)
             ? 0
             : status.st_mode;
}

bool Folder::isAt(const Folder &parent, llvm::StringRef name) const {
  struct stat own, there;
  return !::fstat(fd, &own) &&
         !::fstatat(parent.fd, name.str().c_str(), &there,
                    AT_SYMLINK_NOFOLLOW) &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  // The descriptor that is listed has a place of its own.
  int own = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listed = own < 0 ? nullptr : ::fdopendir(own);
  if (!listed) {
    if (own >= 0)
      ::close(own);
    return names;
  }
  while (const dirent *entry = ::readdir(listed)) {
    llvm::StringRef name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(name.str());
  }
  ::closedir(listed);
  llvm::sort(names);
  return names;
}

std::optional<Folder> Folder::openFolder(llvm::StringRef name,
                                         std::error_code &code) const {
  int opened = openDirectory(fd, name.str().c_str(), O_NOFOLLOW);
  code = opened < 0 ? lastErrorCode() : std::error_code();
  if (opened < 0)
    return std::nullopt;
  return Folder(opened, pathOf(name));
}

std::optional<Folder> Folder::makeFolder(llvm::StringRef name, bool &made,
                                         std::error_code &code) const {
  // All permissions that the user's umask allows, as for any new folder.
  made = !::mkdirat(fd, name.str().c_str(), 0777);
  if (!made && errno != EEXIST) {
    code = lastErrorCode();
    return std::nullopt;
  }
  return openFolder(name, code);
}

int Folder::create(llvm::StringRef name) const {
  return ::openat(fd, name.str().c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

int Folder::openFile(llvm::StringRef path, std::string &error) const {
  auto [name, rest] = path.split('/');
  if (name == "..") {
    error = "`..` leaves the folder";
    return -1;
  }
  if (rest.empty())
    return openRegularFileIn(fd, name, error);
  std::error_code code;
  std::optional<Folder> inner = openFolder(name, code);
  if (inner)
    return inner->openFile(rest, error);
  error = code.message();
  return -1;
}

std::unique_ptr<llvm::MemoryBuffer> Folder::read(llvm::StringRef name,
                                                 std::string &error) const {
  return readTextIn(fd, name, pathOf(name), error);
}

std::error_code Folder::keepPermissions(llvm::StringRef name, int made) const {
  constexpr mode_t permissions = S_IRWXU | S_IRWXG | S_IRWXO;
  mode_t replaced = modeOf(name);
  struct stat status;
  if (!replaced || ::fstat(made, &status))
    return replaced ? lastErrorCode() : std::error_code();
  if ((replaced & S_IFMT) != (status.st_mode & S_IFMT))
    return {};
  mode_t wanted = (replaced & permissions) | (S_ISDIR(replaced) ? S_IRWXU : 0);
  // File systems without permissions refuse to set them, and all are the same.
  if (wanted == (status.st_mode & permissions) || !::fchmod(made, wanted))
    return {};
  return lastErrorCode();
}

std::error_code Folder::rename(llvm::StringRef from, llvm::StringRef to) const {
  return ::renameat(fd, from.str().c_str(), fd, to.str().c_str())
             ? lastErrorCode()
             : std::error_code();
}

std::error_code Folder::remove(llvm::StringRef name) const {
  int flags = S_ISDIR(modeOf(name)) ? AT_REMOVEDIR : 0;
  return ::unlinkat(fd, name.str().c_str(), flags) ? lastErrorCode()
                                                   : std::error_code();
}

std::error_code Folder::sync() const {
  return std::error_code(syncToDisk(fd), std::generic_category());
}

//===----------------------------------------------------------------------===//
// Removal
//===----------------------------------------------------------------------===//

/// How deep folders in packages and checkpoints are, and more.
static constexpr unsigned deepest = 32;

static std::string below(llvm::StringRef path, llvm::StringRef name) {
  return path.empty() ? name.str() : (path + "/" + name).str();
}

static std::string findForeign(const Folder &folder, IsKnown isKnown,
                               llvm::StringRef path, unsigned depth) {
  for (const std::string &name : folder.names()) {
    std::string inner = below(path, name);
    mode_t mode = folder.modeOf(name);
    if (!mode) // removed meanwhile
      continue;
    bool isFolder = S_ISDIR(mode);
    if ((!isFolder && !S_ISREG(mode)) || !isKnown(inner, isFolder))
      return inner;
    if (!isFolder)
      continue;
    std::error_code code;
    std::optional<Folder> opened = folder.openFolder(name, code);
    if (!opened || depth == deepest)
      return inner;
    std::string found = findForeign(*opened, isKnown, inner, depth + 1);
    if (!found.empty())
      return found;
  }
  return "";
}

std::string anec::findForeign(const Folder &folder, IsKnown isKnown) {
  return ::findForeign(folder, isKnown, "", 0);
}

static void removeKnown(const Folder &parent, llvm::StringRef name,
                        IsKnown isKnown, llvm::StringRef path, unsigned depth) {
  std::error_code code;
  if (std::optional<Folder> folder = parent.openFolder(name, code))
    for (const std::string &entry : folder->names()) {
      std::string inner = below(path, entry);
      mode_t mode = folder->modeOf(entry);
      bool isFolder = S_ISDIR(mode);
      if (!isKnown(inner, isFolder))
        continue;
      if (isFolder && depth < deepest)
        removeKnown(*folder, entry, isKnown, inner, depth + 1);
      else if (S_ISREG(mode))
        (void)folder->remove(entry);
    }
  // Fails for a folder that is not empty.
  (void)::unlinkat(parent.descriptor(), name.str().c_str(), AT_REMOVEDIR);
}

void anec::removeKnown(const Folder &parent, llvm::StringRef name,
                       IsKnown isKnown) {
  ::removeKnown(parent, name, isKnown, "", 0);
}

static void removeTree(const Folder &parent, llvm::StringRef name,
                       unsigned depth) {
  std::error_code code;
  if (std::optional<Folder> folder = parent.openFolder(name, code))
    for (const std::string &entry : folder->names()) {
      if (!S_ISDIR(folder->modeOf(entry)))
        (void)folder->remove(entry);
      else if (depth < deepest)
        removeTree(*folder, entry, depth + 1);
    }
  (void)::unlinkat(parent.descriptor(), name.str().c_str(), AT_REMOVEDIR);
}

void anec::removeTree(llvm::StringRef path) {
  std::error_code code;
  if (std::optional<Folder> parent =
          Folder::open(llvm::sys::path::parent_path(path), code))
    ::removeTree(*parent, llvm::sys::path::filename(path), 0);
  else // For want of a descriptor: an empty folder needs none.
    (void)::rmdir(path.str().c_str());
}
