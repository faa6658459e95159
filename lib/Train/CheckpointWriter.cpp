//===- CheckpointWriter.cpp - checkpoints written -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointState.h"
#include "anec/Support/AtomicFolder.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace anec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// A new file that is synced to disk when it is closed, and its digest.
class SyncedFile : public llvm::raw_ostream {
public:
  explicit SyncedFile(const std::string &path)
      : descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                          0666)) {
    if (descriptor < 0)
      error = errno;
    SetBufferSize(size_t(1) << 20);
  }
  ~SyncedFile() override { close(); }

  /// Writes the rest and syncs. Returns 0, or the first error.
  int close() {
    flush();
    if (descriptor >= 0) {
      if (!error && ::fsync(descriptor))
        error = errno;
      if (::close(descriptor) && !error)
        error = errno;
      descriptor = -1;
    }
    return error;
  }
  CheckpointFile digest(llvm::StringRef name) {
    return {name.str(), written, llvm::toHex(hash.final(), /*LowerCase=*/true)};
  }

private:
  void write_impl(const char *bytes, size_t size) override {
    hash.update(llvm::arrayRefFromStringRef({bytes, size}));
    written += size;
    while (size && !error) {
      ssize_t count = ::write(descriptor, bytes, std::min(size, mostAtOnce));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        error = count < 0 ? errno : EIO;
        return;
      }
      bytes += count;
      size -= size_t(count);
    }
  }
  uint64_t current_pos() const override { return written; }

  static constexpr size_t mostAtOnce = size_t(1) << 30;
  int descriptor;
  int error = 0;
  uint64_t written = 0;
  llvm::SHA256 hash;
};

} // namespace

/// `arrays` without a copy.
static Safetensors viewOf(llvm::ArrayRef<NamedFloats> arrays,
                          const SafetensorsMetadata &metadata) {
  Safetensors contents;
  contents.metadata = metadata;
  for (const NamedFloats &array : arrays) {
    llvm::ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(array.elements.data()),
        array.elements.size() * sizeof(float));
    contents.arrays.push_back(
        {array.name, Constant::view(array.type, DType::FP32, bytes, nullptr)});
  }
  return contents;
}

/// Writes the file `name` in `folder` with `print`. Returns the error, or 0.
static int writeSynced(llvm::StringRef folder, llvm::StringRef name,
                       llvm::function_ref<void(llvm::raw_ostream &)> print,
                       std::vector<CheckpointFile> *files) {
  SyncedFile file(fileIn(folder, name));
  print(file);
  if (int error = file.close())
    return error;
  if (files)
    files->push_back(file.digest(name));
  return 0;
}

bool CheckpointWriter::write(const TrainState &state,
                             llvm::ArrayRef<NamedFloats> weights,
                             llvm::ArrayRef<NamedFloats> moments,
                             Diagnostics &diags) {
  std::string name = llvm::formatv("step-{0,0+8}", state.step);
  std::string target = fileIn(folder, name);
  std::unique_ptr<AtomicFolder> made =
      AtomicFolder::create(target, "state.json", diags);
  if (!made) {
    diags.report({}, diag::CheckpointNotWritten, state.step);
    return false;
  }
  std::vector<CheckpointFile> files;
  auto writeArrays = [&](llvm::StringRef file,
                         llvm::ArrayRef<NamedFloats> arrays) {
    return writeSynced(
        made->path(), file,
        [&](llvm::raw_ostream &out) {
          writeSafetensors(out, viewOf(arrays, metadata));
        },
        &files);
  };
  int error = writeArrays("weights.safetensors", weights);
  if (!error)
    error = writeArrays("optimizer.safetensors", moments);
  if (!error)
    error = writeSynced(
        made->path(), "state.json",
        [&](llvm::raw_ostream &out) {
          out << llvm::formatv("{0:2}\n", stateToJson(state, files));
        },
        nullptr);
  if (error)
    diags.reportFile(target, diag::CannotWrite,
                     std::generic_category().message(error));
  if (error || !made->commit(AtomicFolder::Durability::Synced)) {
    std::vector<std::string> left = listCheckpoints(folder);
    auto report = diags.report({}, diag::CheckpointNotWritten, state.step);
    if (!left.empty())
      report.note({}, diag::CheckpointLeft, left.back());
    return false;
  }
  if (!pointToBest(state, diags))
    return false;
  prune(state);
  return true;
}

/// Updates the link `best`.
bool CheckpointWriter::pointToBest(const TrainState &state,
                                   Diagnostics &diags) {
  if (!state.bestLoss || state.bestStep != state.step)
    return true;
  std::string link = fileIn(folder, "best"), aside = link + ".tmp";
  std::string target = llvm::formatv("step-{0,0+8}", state.step);
  (void)::unlink(aside.c_str());
  if (!::symlink(target.c_str(), aside.c_str()) &&
      !::rename(aside.c_str(), link.c_str()))
    return true;
  diags.reportFile(link, diag::CannotWrite,
                   std::generic_category().message(errno));
  return false;
}

/// Renames the folder before removing it, so that a partly removed folder is
/// never taken for a checkpoint.
static void removeFolder(const std::string &folder) {
  std::string aside = folder + ".tmp";
  if (!fs::rename(folder, aside))
    (void)fs::remove_directories(aside);
}

void CheckpointWriter::prune(const TrainState &state) {
  if (!keep)
    return;
  std::vector<std::string> folders = listCheckpoints(folder);
  std::string best = llvm::formatv("step-{0,0+8}", state.bestStep);
  for (size_t i = 0; i + keep < folders.size(); ++i)
    if (!state.bestLoss || path::filename(folders[i]) != best)
      removeFolder(folders[i]);
}

void CheckpointWriter::clean() {
  std::error_code code;
  std::vector<std::string> left;
  for (fs::directory_iterator entry(folder, code), end; entry != end && !code;
       entry.increment(code)) {
    llvm::StringRef name = path::filename(entry->path());
    if (name.starts_with("step-") && name.ends_with(".tmp"))
      left.push_back(entry->path());
  }
  for (const std::string &name : left)
    (void)fs::remove_directories(name);
}
