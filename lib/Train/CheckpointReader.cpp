//===- CheckpointReader.cpp - checkpoints read back -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointState.h"
#include "lib/Support/Digest.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string Checkpoint::weights() const {
  return fileIn(folder, "weights.safetensors");
}
std::string Checkpoint::optimizer() const {
  return fileIn(folder, "optimizer.safetensors");
}

std::optional<uint64_t> anec::checkpointStep(llvm::StringRef name) {
  uint64_t step = 0;
  return name.consume_front("step-") && !name.getAsInteger(10, step)
             ? std::optional(step)
             : std::nullopt;
}

std::vector<std::string> anec::listCheckpoints(llvm::StringRef folder) {
  std::vector<std::pair<uint64_t, std::string>> found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; entry != end && !code;
       entry.increment(code)) {
    std::optional<uint64_t> step =
        checkpointStep(path::filename(entry->path()));
    if (step && fs::is_directory(entry->path()))
      found.push_back({*step, entry->path()});
  }
  llvm::sort(found);
  std::vector<std::string> folders;
  for (auto &[step, name] : found)
    folders.push_back(std::move(name));
  return folders;
}

bool anec::hasCheckpoint(llvm::StringRef folder) {
  return fs::exists(fileIn(folder, "state.json")) ||
         !listCheckpoints(folder).empty();
}

namespace {

class Reader {
public:
  explicit Reader(Diagnostics &diags) : diags(diags) {}
  std::optional<Checkpoint> read(llvm::StringRef folder,
                                 llvm::ArrayRef<llvm::StringRef> wanted);

private:
  /// The folder itself, or its newest.
  std::optional<std::string> choose(llvm::StringRef folder);
  bool checkFile(llvm::StringRef name, llvm::ArrayRef<CheckpointFile> files);
  bool damaged(llvm::StringRef file, const llvm::Twine &reason);

  Diagnostics &diags;
  std::string chosen;
  std::string before; ///< the checkpoint before the chosen one
};

} // namespace

/// Reports the reason, and the checkpoint before as the one to resume from.
bool Reader::damaged(llvm::StringRef file, const llvm::Twine &reason) {
  auto report = diags.reportFile(file, diag::DamagedCheckpoint, reason.str());
  if (!before.empty())
    report.note({}, diag::CheckpointBefore, before, chosen);
  return false;
}

std::optional<std::string> Reader::choose(llvm::StringRef folder) {
  if (fs::exists(fileIn(folder, "state.json")))
    return folder.str();
  std::vector<std::string> folders = listCheckpoints(folder);
  if (folders.empty()) {
    diags.reportFile(folder, diag::NoCheckpoint);
    return std::nullopt;
  }
  if (folders.size() > 1)
    before = folders[folders.size() - 2];
  return folders.back();
}

bool Reader::checkFile(llvm::StringRef name,
                       llvm::ArrayRef<CheckpointFile> files) {
  std::string file = fileIn(chosen, name);
  const CheckpointFile *listed = llvm::find_if(
      files, [&](const CheckpointFile &row) { return row.name == name; });
  if (listed == files.end())
    return damaged(fileIn(chosen, "state.json"),
                   "it does not list `" + name + "`");
  std::string error;
  MappedFile mapped = mapFile(file, error);
  if (!mapped)
    return damaged(file, error);
  llvm::ArrayRef<uint8_t> bytes = bytesOf(*mapped);
  if (bytes.size() != listed->bytes)
    return damaged(file, "it has " + llvm::Twine(bytes.size()) +
                             " bytes, and " + llvm::Twine(listed->bytes) +
                             " were written");
  if (sha256(bytes) != listed->digest)
    return damaged(file, "its content does not have the digest that it was "
                         "written with");
  return true;
}

std::optional<Checkpoint> Reader::read(llvm::StringRef folder,
                                       llvm::ArrayRef<llvm::StringRef> wanted) {
  std::optional<std::string> found = choose(folder);
  if (!found)
    return std::nullopt;
  chosen = *found;
  Checkpoint checkpoint{chosen};
  std::string stateFile = fileIn(chosen, "state.json"), wrong;
  MappedFile text = mapFile(stateFile, wrong);
  std::vector<CheckpointFile> files;
  if (!text || !stateFromJson(llvm::toStringRef(bytesOf(*text)),
                              checkpoint.state, files, wrong)) {
    damaged(stateFile, wrong);
    return std::nullopt;
  }
  for (llvm::StringRef name : wanted)
    if (!checkFile(name, files))
      return std::nullopt;
  return checkpoint;
}

std::optional<Checkpoint> anec::readCheckpoint(llvm::StringRef folder,
                                               Diagnostics &diags) {
  return Reader(diags).read(folder,
                            {"weights.safetensors", "optimizer.safetensors"});
}

std::optional<Checkpoint> anec::loadCheckpointWeights(llvm::StringRef folder,
                                                      Diagnostics &diags) {
  return Reader(diags).read(folder, {"weights.safetensors"});
}

bool anec::loadMoments(const Checkpoint &checkpoint,
                       llvm::ArrayRef<NamedFloats> moments,
                       Diagnostics &diags) {
  std::optional<ArraySource> source =
      ArraySource::open(checkpoint.optimizer(), diags);
  if (!source)
    return false;
  for (const NamedFloats &moment : moments) {
    ConstantRef array = source->lookup(moment.name, moment.type, {}, diags);
    if (!array)
      return false;
    array->copyToFloats(moment.elements.data());
  }
  return true;
}
