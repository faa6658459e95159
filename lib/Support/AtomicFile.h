//===- AtomicFile.h - output files committed together -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Output files are written under temporary names in their destination folder,
/// and renamed only when all of them are complete. An error, a full disk or an
/// interrupt before that leaves no files behind and existing files unchanged.
/// Files that only this process reads can be in memory instead.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_ATOMICFILE_H
#define ANEC_LIB_SUPPORT_ATOMICFILE_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Folder.h"
#include "anec/Support/NamedFiles.h"
#include "lib/Support/FileNames.h"
#include "lib/Support/MemoryFile.h"
#include "lib/Support/Unfinished.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace anec {

/// Writes all `bytes`, also where the system takes a part of them or is
/// interrupted. Returns the error as `errno`, or 0.
[[nodiscard]] int writeAll(int descriptor, llvm::StringRef bytes);

/// A file that AtomicFiles is writing: a buffered stream, which also accepts
/// blocks at given offsets from several threads. The first error is kept, and
/// `AtomicFiles::commit` reports it.
class OutputFile : public llvm::raw_pwrite_stream {
public:
  ~OutputFile() override;

  /// The path of the file after commit.
  llvm::StringRef path() const { return finalPath; }
  /// Writes `size` bytes at `offset`, unbuffered and independent of the
  /// stream's own position; can be called from several threads at once. Bytes
  /// that are not written, below the highest written one, read as zeros.
  void writeAt(uint64_t offset, const void *bytes, size_t size);
  /// Says that `size` bytes more will be written: memory is requested once.
  void reserveExtraSpace(uint64_t size) override;
  /// The first error, as `errno`; 0 without an error.
  int error() const { return firstError.load(std::memory_order_relaxed); }

private:
  friend class AtomicFiles;
  OutputFile(std::string finalPath) : finalPath(std::move(finalPath)) {}
  bool isDevice() const { return !memory && temporaryName.empty(); }
  void write_impl(const char *bytes, size_t size) override;
  void pwrite_impl(const char *bytes, size_t size, uint64_t offset) override;
  uint64_t current_pos() const override { return position; }
  void fail(int code);

  std::string finalPath;
  std::unique_ptr<MemoryFile> memory; ///< null for a file on the disk
  /// Where the file and its temporary name are; null for a device or a FIFO,
  /// which is written directly.
  std::shared_ptr<const Folder> folder;
  std::string finalName, temporaryName;
  Unfinished unfinished; ///< the temporary file
  int descriptor = -1;
  int lock = -1; ///< a duplicate that keeps the writer's lock until the rename
  uint64_t position = 0;
  std::atomic<int> firstError{0};
};

/// A set of files that are committed together.
class AtomicFiles {
public:
  explicit AtomicFiles(Diagnostics &diags) : diags(diags) {}
  /// Files in `root`, which `add(name)` names as the other `add` does.
  AtomicFiles(std::shared_ptr<const Folder> root, Diagnostics &diags)
      : diags(diags), root(std::move(root)) {}
  /// Files that commit adds to `memory`, where nothing else is made.
  /// `add(name)` takes the names that it takes for a folder; `place` is the
  /// folder in messages.
  AtomicFiles(NamedFiles &memory, llvm::StringRef place, Diagnostics &diags)
      : diags(diags), memory(&memory), place(place) {}
  /// Removes all files that were not committed.
  ~AtomicFiles();
  AtomicFiles(const AtomicFiles &) = delete;
  AtomicFiles &operator=(const AtomicFiles &) = delete;

  /// Starts the file that commit renames to `path`, which the user named, and
  /// creates the folders that lead to it; returns null when that fails, with
  /// the reason reported. A file that is replaced keeps its permissions. When
  /// it is a link, its target is written. A device
  /// (`/dev/null`), or a FIFO that is read, is written directly.
  OutputFile *add(llvm::StringRef path);
  /// The same for the file `name` in `folder`, which the user named. `name`,
  /// which can have folders, was chosen by anec or came from a file:
  /// isFilePath must accept it, and nothing but regular files and folders may
  /// be there, links neither. No other file of the set may be the same one on a
  /// volume that ignores case.
  OutputFile *add(llvm::StringRef folder, llvm::StringRef name);

  /// Whether commit waits until the bytes are on the disk: needed for files
  /// that must survive a power failure, such as checkpoints.
  enum class Durability { Cached, Synced };
  /// Renames all files into place, in the order they were added; returns false
  /// when something could not be written, with the reason reported and no files
  /// left behind.
  bool commit(Durability durability = Durability::Cached);

private:
  /// A folder that was created.
  struct Created {
    std::shared_ptr<const Folder> parent; ///< null for the working folder
    std::string name;
  };

  bool createFolders(llvm::StringRef folder, llvm::StringRef path);
  std::shared_ptr<const Folder> openFolder(llvm::StringRef path,
                                           llvm::StringRef file);
  std::shared_ptr<const Folder>
  openInner(const std::shared_ptr<const Folder> &folder, llvm::StringRef name,
            llvm::StringRef file);
  bool addName(llvm::StringRef folder, llvm::StringRef file,
               llvm::StringRef name);
  OutputFile *addIn(std::shared_ptr<const Folder> folder, llvm::StringRef name);
  OutputFile *addInMemory(llvm::StringRef name);
  void removeLeftBehind(const Folder &folder, llvm::StringRef target);
  OutputFile *start(std::shared_ptr<const Folder> folder, std::string name,
                    std::string path);
  OutputFile *startDevice(llvm::StringRef path, mode_t mode);
  bool close(OutputFile &file, Durability durability);
  void report(llvm::StringRef path, int code);
  void discard();

  Diagnostics &diags;
  std::shared_ptr<const Folder> root;
  NamedFiles *memory = nullptr; ///< null for files on the disk
  std::string place;            ///< of files in memory
  std::vector<std::unique_ptr<OutputFile>> files;
  std::vector<Created> createdFolders; ///< outermost first
  /// Those that files are in, by path: named by the user, and inside of these.
  llvm::StringMap<std::shared_ptr<const Folder>> folders, innerFolders;
  llvm::StringMap<FileNames> names; ///< that anec chose, by folder
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_ATOMICFILE_H
