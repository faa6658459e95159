//===- CheckpointWriter.cpp - checkpoints written -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointState.h"
#include "anec/Package/AdapterBase.h"
#include "anec/Support/AtomicFolder.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

namespace {

/// A new file that is synced to disk when it is closed, and its digest.
class SyncedFile : public llvm::raw_ostream {
public:
  SyncedFile(const Folder &folder, llvm::StringRef name)
      : descriptor(folder.create(name)) {
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

static std::string nameOf(uint64_t step) {
  return llvm::formatv("step-{0,0+8}", step);
}

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
static int writeSynced(const Folder &folder, llvm::StringRef name,
                       llvm::function_ref<void(llvm::raw_ostream &)> print,
                       std::vector<CheckpointFile> *files) {
  SyncedFile file(folder, name);
  print(file);
  if (int error = file.close())
    return error;
  if (files)
    files->push_back(file.digest(name));
  return 0;
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

static bool mayHold(llvm::StringRef path, bool isFolder) {
  return !isFolder && (path == "weights.safetensors" ||
                       path == "optimizer.safetensors" || path == "state.json");
}

static bool list(llvm::StringRef text, std::vector<std::string> &files,
                 std::string &wrong) {
  TrainState state;
  std::vector<CheckpointFile> listed;
  if (!stateFromJson(text, state, listed, wrong))
    return false;
  for (CheckpointFile &file : listed)
    files.push_back(std::move(file.name));
  return true;
}

const FolderKind &anec::checkpointFolder() {
  static constexpr FolderKind kind = {"state.json", mayHold, list};
  return kind;
}

void CheckpointWriter::describe(const ModelFacts &facts, llvm::StringRef base) {
  metadata = facts.entries();
  if (!base.empty())
    metadata.emplace_back(adapterBaseKey, base);
  llvm::sort(metadata);
}

bool CheckpointWriter::write(const TrainState &state,
                             llvm::ArrayRef<NamedFloats> weights,
                             llvm::ArrayRef<NamedFloats> moments,
                             Diagnostics &diags) {
  std::string name = nameOf(state.step);
  std::unique_ptr<AtomicFolder> made =
      AtomicFolder::create(folder, name, checkpointFolder(), diags);
  if (!made) {
    diags.report({}, diag::CheckpointNotWritten, state.step);
    return false;
  }
  std::vector<CheckpointFile> files;
  auto writeArrays = [&](llvm::StringRef file,
                         llvm::ArrayRef<NamedFloats> arrays) {
    return writeSynced(
        *made->folder(), file,
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
        *made->folder(), "state.json",
        [&](llvm::raw_ostream &out) {
          out << llvm::formatv("{0:2}\n", stateToJson(state, files));
        },
        nullptr);
  if (error)
    diags.reportFile(folder->pathOf(name), diag::CannotWrite,
                     std::generic_category().message(error));
  if (error || !made->commit(AtomicFolder::Durability::Synced)) {
    std::vector<std::string> left = listCheckpoints(folder->path());
    auto report = diags.report({}, diag::CheckpointNotWritten, state.step);
    if (!left.empty())
      report.note({}, diag::CheckpointLeft, left.back());
    return false;
  }
  if (!pointToBest(state, diags))
    return false;
  prune(state, diags);
  return true;
}

/// Whether `name` is free or a link, which is replaced and not followed.
static bool mayBeLink(const Folder &folder, llvm::StringRef name,
                      Diagnostics &diags) {
  mode_t mode = folder.modeOf(name);
  if (!mode || S_ISLNK(mode))
    return true;
  diags.reportFile(folder.pathOf(name), diag::NoPlainFile,
                   describeFileKind(mode));
  return false;
}

/// Updates the link `best`.
bool CheckpointWriter::pointToBest(const TrainState &state,
                                   Diagnostics &diags) {
  if (!state.bestLoss || state.bestStep != state.step)
    return true;
  constexpr llvm::StringLiteral link = "best", aside = "best.tmp";
  if (!mayBeLink(*folder, link, diags) || !mayBeLink(*folder, aside, diags))
    return false;
  std::string target = nameOf(state.step);
  (void)folder->remove(aside);
  std::error_code code;
  if (::symlinkat(target.c_str(), folder->descriptor(), aside.data()))
    code = std::error_code(errno, std::generic_category());
  if (!code)
    code = folder->rename(aside, link);
  if (code)
    diags.reportFile(folder->pathOf(link), diag::CannotWrite, code.message());
  return !code;
}

/// The names of checkpoints in `folder`, oldest first. Links to others are not
/// of this run.
static std::vector<std::string> listNames(const Folder &folder) {
  std::vector<std::pair<uint64_t, std::string>> found;
  for (std::string &name : folder.names())
    if (std::optional<uint64_t> step = checkpointStep(name);
        step && S_ISDIR(folder.modeOf(name)))
      found.push_back({*step, std::move(name)});
  llvm::sort(found);
  std::vector<std::string> names;
  for (auto &[step, name] : found)
    names.push_back(std::move(name));
  return names;
}

void CheckpointWriter::prune(const TrainState &state, Diagnostics &diags) {
  if (!keep)
    return;
  std::vector<std::string> names = listNames(*folder);
  for (size_t i = 0; i + keep < names.size(); ++i) {
    std::string wrong;
    if (state.bestLoss && checkpointStep(names[i]) == state.bestStep)
      continue;
    if (!removeOwnFolder(*folder, names[i], checkpointFolder(), wrong) &&
        notRemoved.insert(names[i]).second)
      diags.reportFile(folder->pathOf(names[i]), diag::CheckpointKept, wrong);
  }
}

void CheckpointWriter::clean() {
  for (const std::string &name : folder->names())
    if (llvm::StringRef file = name;
        file.starts_with("step-") && file.ends_with(".tmp"))
      removeLeftBehind(*folder, file, checkpointFolder());
}
