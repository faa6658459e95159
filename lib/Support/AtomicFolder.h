//===- AtomicFolder.h - a folder committed atomically -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder of files is written under a temporary name next to its destination,
/// and renamed when it is complete. An existing folder is kept until then, and
/// is replaced only when everything in it is known.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_ATOMICFOLDER_H
#define ANEC_LIB_SUPPORT_ATOMICFOLDER_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Folder.h"
#include "lib/Support/Unfinished.h"
#include "llvm/ADT/StringSet.h"

namespace anec {

/// A kind of folder that anec writes, and may therefore replace and remove.
struct FolderKind {
  /// The file that lists the others, and is written last.
  llvm::StringLiteral mark;
  /// Whether anec writes a file with this path, or such a folder.
  bool (*mayHold)(llvm::StringRef path, bool isFolder);
  /// Adds the files that `text`, the contents of `mark`, lists. Returns false,
  /// with the reason in `wrong`, when it is not a text that anec wrote.
  bool (*list)(llvm::StringRef text, std::vector<std::string> &files,
               std::string &wrong);
};

/// The files of a folder, as its mark lists them.
struct ListedFiles {
  std::string mark; ///< the text of the mark
  llvm::StringSet<> paths;
};

/// Whether the folder `name` of `parent` is of this kind and holds nothing but
/// what its `mark` lists and `.DS_Store`, or is empty. Otherwise returns false,
/// with the reason in `wrong`. Sets `listed`, whose paths are kept if the mark
/// has not changed.
bool isOwnFolder(const Folder &parent, llvm::StringRef name,
                 const FolderKind &kind, ListedFiles &listed,
                 std::string &wrong);

/// Removes the folder `name` of `parent` if isOwnFolder says so. It is renamed
/// first, so that a partly removed folder is never taken for a complete one.
bool removeOwnFolder(const Folder &parent, llvm::StringRef name,
                     const FolderKind &kind, std::string &wrong);

/// Removes the folder `name` of `parent`, which has a temporary name, if the
/// process that wrote it has ended, and it holds nothing but what such a
/// process leaves of a folder of this kind.
void removeLeftBehind(const Folder &parent, llvm::StringRef name,
                      const FolderKind &kind, Diagnostics &diags);

class AtomicFolder {
public:
  /// Starts the folder that commit renames to `path`, which the user named; its
  /// link is followed. An existing folder must be one that isOwnFolder accepts;
  /// anything else is an error. Returns null on an error, with the reason
  /// reported. Leftovers of killed processes are removed.
  [[nodiscard]] static std::unique_ptr<AtomicFolder>
  create(llvm::StringRef path, const FolderKind &kind, Diagnostics &diags);
  /// The same for the folder `name` of `parent`. A link is an error.
  [[nodiscard]] static std::unique_ptr<AtomicFolder>
  create(std::shared_ptr<const Folder> parent, llvm::StringRef name,
         const FolderKind &kind, Diagnostics &diags);
  /// Removes the folder when it was not committed.
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder &) = delete;
  AtomicFolder &operator=(const AtomicFolder &) = delete;

  /// The folder to write the files to until commit.
  const std::shared_ptr<const Folder> &folder() const { return written; }
  /// Whether commit waits until the folder and its name are on the disk. Its
  /// files are the responsibility of their writers.
  enum class Durability { Cached, Synced };
  /// Renames the folder to its final path; returns false, with the reason
  /// reported and nothing changed, when that fails.
  bool commit(Durability durability = Durability::Cached);

private:
  AtomicFolder(std::shared_ptr<const Folder> parent, std::string target,
               const FolderKind &kind, Diagnostics &diags)
      : parent(std::move(parent)), target(std::move(target)), kind(kind),
        diags(diags) {}
  bool start();
  void removeReplaced(llvm::StringRef name);
  int replaceInTwoSteps(llvm::StringRef old);
  int replace(llvm::StringRef old);
  void report(std::error_code code);

  std::shared_ptr<const Folder> parent;
  std::string target, temporary; ///< names in `parent`
  Unfinished unfinished;         ///< the temporary folder
  ListedFiles replaced;          ///< the files of the folder at `target`
  std::shared_ptr<const Folder> written;
  const FolderKind &kind;
  Diagnostics &diags;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_ATOMICFOLDER_H
