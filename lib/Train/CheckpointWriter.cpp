//===- CheckpointWriter.cpp - checkpoints written -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointJob.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Support/Diags.h"
#include "lib/Support/TemporaryName.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

static std::string nameOf(uint64_t step) {
  return llvm::formatv("step-{0,0+8}", step);
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

CheckpointWriter::CheckpointWriter(std::shared_ptr<const Folder> folder,
                                   unsigned keep)
    : folder(std::move(folder)), keep(keep) {}
CheckpointWriter::~CheckpointWriter() = default;

bool CheckpointWriter::begin(const TrainState &state,
                             llvm::ArrayRef<NamedFloats> weights,
                             llvm::ArrayRef<NamedFloats> moments,
                             Executor &executor, Diagnostics &diags) {
  assert(!job && "one at a time");
  std::unique_ptr<AtomicFolder> made = AtomicFolder::create(
      folder, nameOf(state.step), checkpointFolder(), diags);
  if (!made) {
    diags.report({}, diag::CheckpointNotWritten, state.step);
    return false;
  }
  job = std::make_unique<CheckpointJob>(std::move(made), state, weights,
                                        moments, metadata, executor);
  return true;
}

bool CheckpointWriter::isReady() const { return job && job->isReady(); }

void CheckpointWriter::aboutToChange() {
  if (job)
    job->aboutToChange();
}

std::optional<double> CheckpointWriter::finish(Diagnostics &diags) {
  assert(job && "none was begun");
  std::unique_ptr<CheckpointJob> done = std::move(job);
  const TrainState &state = done->state();
  int error = done->wait();
  if (error)
    diags.reportFile(folder->pathOf(nameOf(state.step)), diag::CannotWrite,
                     std::generic_category().message(error));
  if (error || !done->folder().commit(AtomicFolder::Durability::Synced)) {
    std::vector<std::string> left = listCheckpoints(folder->path());
    auto report = diags.report({}, diag::CheckpointNotWritten, state.step);
    if (!left.empty())
      report.note({}, diag::CheckpointLeft, left.back());
    return std::nullopt;
  }
  if (!pointToBest(state, diags))
    return std::nullopt;
  prune(state, diags);
  return done->seconds();
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
  else if ((code = folder->rename(aside, link)))
    (void)folder->remove(aside);
  if (code)
    diags.reportFile(folder->pathOf(link), diag::CannotWrite, code.message());
  return !code;
}

/// The names of checkpoints in `folder`, oldest first. Links to others are not
/// of this run.
static std::vector<std::string> namesInFolder(const Folder &folder) {
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
  std::vector<std::string> names = namesInFolder(*folder);
  for (size_t i = 0; i + keep < names.size(); ++i) {
    std::string wrong;
    if (state.bestLoss && checkpointStep(names[i]) == state.bestStep)
      continue;
    if (!removeOwnFolder(*folder, names[i], checkpointFolder(), wrong) &&
        notRemoved.insert(names[i]).second)
      diags.reportFile(folder->pathOf(names[i]), diag::CheckpointKept, wrong);
  }
}

void CheckpointWriter::clean(Diagnostics &diags) {
  for (const std::string &name : folder->names())
    if (checkpointStep(temporaryTarget(name)))
      removeLeftBehind(*folder, name, checkpointFolder(), diags);
}
