//===- ReadFile.cpp - opening files to read -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/ReadFile.h"
#include "anec/Support/Folder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

/// The limits of texts. A text is held in memory with all that is made of it.
static constexpr off_t mostOfFile = off_t(1) << 30;
static constexpr size_t mostOfStream = size_t(256) << 20;

static std::string lastErrorText() {
  return std::generic_category().message(errno);
}

namespace {

class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator int() const { return fd; }
  int take() { return std::exchange(fd, -1); }

private:
  int fd;
};

} // namespace

/// The error of a file that Git LFS left in place of its contents; empty for
/// other files. Such a pointer has less than 1024 bytes (git-lfs, spec.md).
static std::string lfsPointerError(int file, off_t size) {
  constexpr off_t mostOfPointer = 1024;
  if (size >= mostOfPointer)
    return "";
  char bytes[mostOfPointer];
  ssize_t count = ::pread(file, bytes, mostOfPointer, 0);
  llvm::StringRef text(bytes, size_t(std::max<ssize_t>(count, 0)));
  if (!text.starts_with("version https://git-lfs.github.com/spec/"))
    return "";
  llvm::StringRef rest = text.split("\nsize ").second;
  llvm::StringRef extent = rest.take_while(llvm::isDigit);
  return ("it is a Git LFS pointer to " + (extent.empty() ? "its" : extent) +
          (extent.empty() ? " contents" : " bytes that are not here") +
          "; get them with `git lfs pull`")
      .str();
}

/// Opens a regular file, without waiting for one that is none.
static int openRegular(int folder, llvm::StringRef name, int flags,
                       struct stat &status, std::string &error) {
  Descriptor file(
      ::openat(folder, name.str().c_str(),
               O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  if (file < 0 || ::fstat(file, &status)) {
    // What Linux says of a link that is not to be followed, and of a socket.
    error = errno == ELOOP && flags ? "it is a symbolic link"
            : errno == ENXIO        ? "it is a socket, not a regular file"
                                    : lastErrorText();
    return -1;
  }
  if (S_ISREG(status.st_mode)) {
    error = lfsPointerError(file, status.st_size);
    return error.empty() ? file.take() : -1;
  }
  error = S_ISDIR(status.st_mode)
              ? std::generic_category().message(EISDIR)
              : ("it is " + describeFileKind(status.st_mode) +
                 ", not a regular file")
                    .str();
  return -1;
}

int anec::openRegularFile(llvm::StringRef path, std::string &error) {
  struct stat status;
  return openRegular(AT_FDCWD, path, 0, status, error);
}

int anec::openRegularFileIn(int folder, llvm::StringRef name,
                            std::string &error) {
  struct stat status;
  return openRegular(folder, name, O_NOFOLLOW, status, error);
}

bool anec::isLfsPointer(llvm::StringRef path) {
  Descriptor file(
      ::open(path.str().c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status;
  return file >= 0 && !::fstat(file, &status) && S_ISREG(status.st_mode) &&
         !lfsPointerError(file, status.st_size).empty();
}

std::unique_ptr<llvm::MemoryBuffer> anec::readTextIn(int folder,
                                                     llvm::StringRef name,
                                                     llvm::StringRef path,
                                                     std::string &error) {
  struct stat status;
  Descriptor file(openRegular(folder, name, folder == AT_FDCWD ? 0 : O_NOFOLLOW,
                              status, error));
  if (file < 0)
    return nullptr;
  if (status.st_size > mostOfFile) {
    error = "it is larger than 1 GB";
    return nullptr;
  }
  // Not mapped, so that the text stays when the file is cut off.
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      llvm::sys::fs::convertFDToNativeFile(file), path, status.st_size,
      /*RequiresNullTerminator=*/true, /*IsVolatile=*/true);
  if (buffer)
    return std::move(*buffer);
  error = buffer.getError().message();
  return nullptr;
}

std::unique_ptr<llvm::MemoryBuffer> anec::readText(llvm::StringRef path,
                                                   std::string &error) {
  return readTextIn(AT_FDCWD, path, path, error);
}

/// Reads to the end, which a device may not have.
static std::unique_ptr<llvm::MemoryBuffer>
readStream(int descriptor, llvm::StringRef name, std::string &error) {
  llvm::SmallVector<char, 0> text;
  constexpr size_t block = 1 << 16;
  for (;;) {
    size_t size = text.size();
    text.resize_for_overwrite(size + block);
    ssize_t count = ::read(descriptor, text.data() + size, block);
    text.truncate(size + size_t(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      error = lastErrorText();
      return nullptr;
    }
    if (!count)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text),
                                                             name);
    if (text.size() > mostOfStream) {
      error = "more than 256 MB come from it; write them to a file first";
      return nullptr;
    }
  }
}

bool anec::isStreamPath(llvm::StringRef path) {
  return path == "-" || path.starts_with("/dev/") ||
         path.starts_with("/proc/self/fd/");
}

int anec::openInput(llvm::StringRef path, std::string &error) {
  if (!isStreamPath(path))
    return openRegularFile(path, error);
  Descriptor file(path == "-"
                      ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : ::open(path.str().c_str(),
                               O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status;
  if (file < 0 || ::fstat(file, &status)) {
    error = lastErrorText();
    return -1;
  }
  if (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)) {
    error = ("it is " + describeFileKind(status.st_mode) +
             ", not a regular file or a stream")
                .str();
    return -1;
  }
  // From here on reading waits for the writer.
  if (path != "-" &&
      ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) < 0) {
    error = lastErrorText();
    return -1;
  }
  return file.take();
}

std::unique_ptr<llvm::MemoryBuffer> anec::readInput(llvm::StringRef path,
                                                    std::string &error) {
  if (!isStreamPath(path))
    return readText(path, error);
  Descriptor file(openInput(path, error));
  return file < 0 ? nullptr
                  : readStream(file, path == "-" ? "<stdin>" : path, error);
}
