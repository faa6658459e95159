//===- Resume.cpp - how a run begins, or goes on --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Resume.h"
#include "CheckpointState.h"
#include "anec/Train/GradientStep.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Digest.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <map>
#include <sys/file.h>
#include <unistd.h>

using namespace anec;
namespace fs = llvm::sys::fs;

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

RunFolder::~RunFolder() {
  // Removes the folder of a run that could not start; fails if it is not empty.
  if (opened && isNew)
    (void)::rmdir(path.c_str());
}

bool RunFolder::hasCheckpoint() const { return !listCheckpoints(path).empty(); }

std::unique_ptr<RunFolder> RunFolder::look(const TrainOptions &options) {
  return std::unique_ptr<RunFolder>(new RunFolder(options.checkpoint));
}

std::unique_ptr<RunFolder> RunFolder::open(const TrainOptions &options,
                                           Diagnostics &diags) {
  llvm::StringRef path = options.checkpoint;
  // A run that was killed early leaves an empty folder.
  bool mustBeThere = options.resume && !options.beginsIfNew;
  if (mustBeThere && !fs::exists(path)) {
    diags.reportFile(path, diag::NoCheckpoint);
    return nullptr;
  }
  std::unique_ptr<RunFolder> folder(new RunFolder(path.str()));
  folder->isNew = !fs::exists(path);
  std::error_code code = fs::create_directories(path, true, fs::all_all);
  std::optional<Folder> opened = code ? std::nullopt : Folder::open(path, code);
  if (!opened) {
    diags.reportFile(path, diag::CannotWrite, code.message());
    return nullptr;
  }
  folder->opened = std::make_shared<const Folder>(std::move(*opened));
  if (::flock(folder->opened->descriptor(), LOCK_EX | LOCK_NB)) {
    diags.reportFile(path, diag::FolderInUse);
    return nullptr;
  }
  bool hasLog = folder->opened->has("train.jsonl");
  if (folder->hasCheckpoint() && !options.resume) {
    diags.reportFile(path, diag::CheckpointExists);
    return nullptr;
  }
  if (mustBeThere && !folder->hasCheckpoint() && !hasLog) {
    diags.reportFile(path, diag::NoCheckpoint);
    return nullptr;
  }
  return folder;
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

std::string anec::digestOf(const ModelPackage &package) {
  std::string digests;
  for (const PackagedFile &file : package.files)
    digests += file.path + " " + file.digest + "\n";
  return sha256(llvm::arrayRefFromStringRef(digests));
}

TrainState anec::newState(const TrainOptions &options) {
  TrainState state;
  Numerics numerics = options.numerics.value_or(Numerics::FP16);
  state.hyper =
      withHyperparameters(defaultHyperparameters(numerics), options.hyper);
  state.lossScale.factor = state.hyper.lossScale;
  state.seed = options.seed.value_or(0);
  state.validationShare = options.validationShare.value_or(
      options.validationData.empty() ? 0.05 : 0);
  state.numerics = spelling(numerics).str();
  return state;
}

namespace {
/// Describes the differences from the checkpoint.
struct Differences {
  std::string list;
  void add(llvm::StringRef what, llvm::StringRef now, llvm::StringRef before) {
    list += (list.empty() ? "`" : ", `") + what.str() + "` is " +
            (now.empty() ? "not there" : now.str()) + " here and " +
            (before.empty() ? "not there" : before.str()) + " in it";
  }
  void compare(llvm::StringRef what, llvm::StringRef now,
               llvm::StringRef before) {
    if (now != before)
      add(what, now, before);
  }
};
} // namespace

uint64_t anec::positionsOf(const PackagedEntry &entry) {
  std::optional<size_t> tokens = entry.inputOf(ValueRole::Input);
  if (!tokens)
    return 0;
  const TensorType &type = entry.inputs[*tokens].type;
  bool isTokens = type.dtype == DType::Int32 && type.rank() == 1;
  return isTokens ? uint64_t(type.shape[0]) : 0;
}

/// The positions of a text in the states of the programs that decode; 0 without
/// such programs.
static uint64_t contextOf(const ModelPackage &package) {
  int64_t all = 0, texts = 1;
  for (const PackagedEntry &entry : package.entries) {
    if (entry.role != FunctionRole::Decode)
      continue;
    for (const PackagedValue &input : entry.inputs) {
      if (input.role == ValueRole::State && input.type.rank() > 0)
        all = std::max(all, input.type.shape.back());
      if (input.role == ValueRole::Position)
        texts = std::max(texts, input.type.numElements());
    }
  }
  return uint64_t(all / texts);
}

/// The entry of `config` that is the number of positions in both models; empty
/// if there is none, or several that could be it.
static std::string positionsEntry(const TrainState &state,
                                  const ModelPackage &package) {
  std::string there = std::to_string(state.positions), found;
  std::vector<std::string> here{std::to_string(contextOf(package))};
  for (const PackagedEntry &entry : package.entries)
    here.push_back(std::to_string(positionsOf(entry)));
  for (const auto &[name, value] : package.config) {
    bool isPositions = state.positions && llvm::is_contained(here, value) &&
                       llvm::is_contained(state.config, std::pair(name, there));
    if (!isPositions)
      continue;
    if (!found.empty())
      return "";
    found = name;
  }
  return found;
}

std::string anec::compareModels(const TrainState &state,
                                const ModelPackage &package,
                                Positions positions) {
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto &[name, value] : package.config)
    values[name].first = value;
  for (const auto &[name, value] : state.config)
    values[name].second = value;
  Differences differences;
  if (positions == Positions::AnyNumber)
    values.erase(positionsEntry(state, package));
  for (const auto &[name, pair] : values)
    differences.compare(name, pair.first, pair.second);
  return differences.list;
}

/// Adds the end of a decay that would be above a new learning rate.
static void followRate(const Hyperparameters &known,
                       GivenHyperparameters &given) {
  Hyperparameters changed = known;
  bool hasMin = false;
  for (const auto &[def, value] : given) {
    changed.*def->member = value;
    hasMin |= def->member == &Hyperparameters::minLearningRate;
  }
  if (!hasMin && changed.minLearningRate > changed.learningRate)
    given.emplace_back(findHyperparameter("min-lr"),
                       defaultMinLearningRate(changed.learningRate));
}

/// Settings that can change when a run is resumed; changes are reported.
static void changeSettings(TrainState &state, const TrainOptions &options,
                           const ModelPackage &package, Diagnostics &diags) {
  std::string digest = digestOf(package);
  if (digest != state.packageDigest) {
    diags.reportFile(options.package, diag::OtherPrograms);
    state.packageDigest = digest;
  }
  if (options.numerics && spelling(*options.numerics) != state.numerics) {
    std::string before = state.numerics;
    state.numerics = spelling(*options.numerics).str();
    diags.report({}, diag::SettingChanged, "numerics", state.numerics,
                 state.step + 1, before);
  }
  GivenHyperparameters given = options.hyper;
  followRate(state.hyper, given);
  for (const auto &[def, value] : given) {
    double &known = state.hyper.*def->member;
    if (known == value)
      continue;
    diags.report({}, diag::SettingChanged, def->name, formatNumber(value),
                 state.step + 1, formatNumber(known));
    known = value;
    if (def->member == &Hyperparameters::lossScale)
      state.lossScale = {value, 0};
  }
}

bool anec::adoptState(TrainState &state, const TrainOptions &options,
                      const ModelPackage &package, llvm::StringRef folder,
                      Diagnostics &diags) {
  std::string otherModel = compareModels(state, package);
  if (!otherModel.empty()) {
    diags.reportFile(folder, diag::OtherModel, otherModel);
    return false;
  }
  Differences differences;
  if (!options.entry.empty())
    differences.compare("--function", options.entry, state.entry);
  if (options.seed)
    differences.compare("--seed", std::to_string(*options.seed),
                        std::to_string(state.seed));
  if (options.validationShare)
    differences.compare("--validation", formatNumber(*options.validationShare),
                        formatNumber(state.validationShare));
  if (!differences.list.empty()) {
    diags.reportFile(folder, diag::OtherRun, differences.list);
    return false;
  }
  // What is frozen is not in the checkpoint.
  if (!options.beginsIfNew && state.base.empty() &&
      (!options.weights.source.empty() || options.weights.seed)) {
    diags.reportFile(folder, diag::WeightsOfCheckpoint);
    return false;
  }
  if (state.step > options.steps) {
    diags.reportFile(folder, diag::StepsDone, state.step, options.steps);
    return false;
  }
  changeSettings(state, options, package, diags);
  return true;
}

bool anec::checkData(const TrainState &state, const TrainingData &data,
                     const TrainingData *validation, llvm::StringRef folder,
                     Diagnostics &diags) {
  UsedTokenizer tokenizer = data.tokenizer();
  Differences differences;
  differences.compare("tokenizer", tokenizer.kind, state.tokenizer.kind);
  if (differences.list.empty())
    differences.compare("digest of the tokenizer", tokenizer.digest,
                        state.tokenizer.digest);
  differences.compare("number of " + spelling(data.unit()).str(),
                      std::to_string(data.size()),
                      std::to_string(state.tokens));
  if (differences.list.empty())
    differences.compare("digest of the data", data.fingerprint(),
                        state.dataFingerprint);
  if (differences.list.empty())
    differences.compare("digest of --validation-data",
                        validation ? validation->fingerprint() : "",
                        state.validationFingerprint);
  if (differences.list.empty())
    return true;
  diags.reportFile(folder, diag::OtherRun, differences.list);
  return false;
}
