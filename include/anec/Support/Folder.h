//===- Folder.h - a folder, worked in by its descriptor ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder is opened once, by the path that the user gave, and what is in it
/// is reached through its descriptor. Links in it are never followed, so that
/// nothing outside of it is changed, even while others write to it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_FOLDER_H
#define ANEC_SUPPORT_FOLDER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <vector>

namespace anec {

/// What kind of file `mode` of a `stat` is: `a folder`, `a symbolic link`, `a
/// FIFO`.
llvm::StringLiteral describeFileKind(mode_t mode);

class Folder {
public:
  /// Opens the folder `path`, through links if there are any. An empty path is
  /// the working folder.
  static std::optional<Folder> open(llvm::StringRef path,
                                    std::error_code &code);
  ~Folder();
  Folder(Folder &&other) noexcept;
  Folder &operator=(Folder &&other) noexcept;

  /// As it was opened, for messages.
  llvm::StringRef path() const { return where; }
  std::string pathOf(llvm::StringRef name) const;
  int descriptor() const { return fd; }

  // Names are those of entries of the folder.

  /// The mode of `name`, not of what it links to; 0 when there is none.
  mode_t modeOf(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return modeOf(name) != 0; }
  /// All names, sorted.
  std::vector<std::string> names() const;
  /// Whether this is the folder that `parent` calls `name` now.
  bool isAt(const Folder &parent, llvm::StringRef name) const;
  /// Opens the folder `name`; a link is an error.
  std::optional<Folder> openFolder(llvm::StringRef name,
                                   std::error_code &code) const;
  /// The same, and makes it if there is none; sets `made` if so.
  std::optional<Folder> makeFolder(llvm::StringRef name, bool &made,
                                   std::error_code &code) const;
  /// Makes the file `name` for writing. Returns -1, with the reason in
  /// `errno`, when there is one.
  int create(llvm::StringRef name) const;
  /// Opens the regular file `path`, in the folder or below it, to read. Returns
  /// -1, with the reason in `error`, on failure. Links and `..` are errors.
  int openFile(llvm::StringRef path, std::string &error) const;
  /// The text of the regular file `name`.
  std::unique_ptr<llvm::MemoryBuffer> read(llvm::StringRef name,
                                           std::string &error) const;
  /// Gives `made`, a new file or folder that is open, the permissions that
  /// `name` has and that it is to replace. A folder stays one that its owner
  /// can write to.
  std::error_code keepPermissions(llvm::StringRef name, int made) const;
  std::error_code rename(llvm::StringRef from, llvm::StringRef to) const;
  /// Removes a file or a link, or an empty folder.
  std::error_code remove(llvm::StringRef name) const;
  /// Waits until the entries are on the disk.
  std::error_code sync() const;

private:
  Folder(int fd, std::string where) : fd(fd), where(std::move(where)) {}
  int fd;
  std::string where;
};

/// Decides by its path in a folder whether something is known: the files and
/// folders there that may be removed.
using IsKnown = llvm::function_ref<bool(llvm::StringRef path, bool isFolder)>;

/// The path of the first entry in `folder`, or below it, that is not known;
/// empty when there is none. Links, FIFOs and devices are never known.
std::string findForeign(const Folder &folder, IsKnown isKnown);

/// Removes the folder `name` of `parent` with all that is known in it. What is
/// not known stays, and so do the folders above it.
void removeKnown(const Folder &parent, llvm::StringRef name, IsKnown isKnown);

/// Removes the folder `path` with all that is in it, for temporary folders. A
/// link is left, and links in the folder are removed, not followed.
void removeTree(llvm::StringRef path);

} // namespace anec

#endif // ANEC_SUPPORT_FOLDER_H
