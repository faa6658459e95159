//===- Train.cpp - ane-run train and ane-run plot -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The flags of both commands. Those of hyperparameters are made from their
/// table.
///
//===----------------------------------------------------------------------===//

#include "Train.h"
#include "../ExitCode.h"
#include "BackendFlags.h"
#include "Restart.h"
#include "StopRequest.h"
#include "anec/Train/LossPlot.h"
#include "anec/Train/Trainer.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory trainCategory("ane-run train options");
cl::SubCommand
    trainCommand("train",
                 "Train a package's model on text\n\n"
                 "EXAMPLES:\n"
                 "  ane-run train llama.anepkg --data book.txt --steps 500 "
                 "--checkpoint run\n"
                 "  ane-run train llama.anepkg --data book.txt --steps 1000 "
                 "--checkpoint run --resume\n"
                 "  ane-run train llama.anepkg --data tokens.bin --steps 500 "
                 "--checkpoint run --batch 8 --lr 3e-4 --decay-steps 500");
cl::SubCommand plotCommand("plot",
                           "Draw the losses of a train.jsonl\n\n"
                           "EXAMPLES:\n"
                           "  ane-run plot run/train.jsonl -o loss.svg");

cl::opt<std::string> package(cl::Positional, cl::desc("MODEL.anepkg"),
                             cl::sub(trainCommand));
cl::list<std::string>
    data("data", cl::value_desc("FILE|FOLDER"),
         cl::desc("Text, or .bin with token ids of 16 bits; may be repeated"),
         cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<std::string>
    tokenizer("tokenizer", cl::value_desc("FILE"),
              cl::desc("A SentencePiece .model, or llama2.c's tokenizer.bin "
                       "(default: bytes are tokens)"),
              cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<std::string> checkpoint("checkpoint", cl::value_desc("FOLDER"),
                                cl::desc("Where the run is kept: checkpoints, "
                                         "train.jsonl, loss.svg"),
                                cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t> steps("steps", cl::value_desc("N"),
                        cl::desc("Steps of the whole run, done ones included"),
                        cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<bool> resume("resume", cl::desc("Go on from the newest checkpoint"),
                     cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t>
    seed("seed", cl::value_desc("N"),
         cl::desc("For the order of the data and new weights (default 0)"),
         cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<double> validation(
    "validation", cl::value_desc("SHARE"),
    cl::desc("Share of the data, its end, to validate on (default 0.05)"),
    cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t> saveEvery("save-every", cl::value_desc("STEPS"),
                            cl::init(100),
                            cl::desc("Steps between checkpoints (default 100; "
                                     "0: only one at the end)"),
                            cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t>
    validateEvery("validate-every", cl::value_desc("STEPS"), cl::init(100),
                  cl::desc("Steps between validations (default 100; 0: only "
                           "at the end)"),
                  cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t> validationWindows(
    "validation-windows", cl::value_desc("N"), cl::init(16),
    cl::desc("Windows to validate on each time (default 16; 0: all)"),
    cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<unsigned>
    keep("keep", cl::value_desc("N"), cl::init(3),
         cl::desc("Newest checkpoints to keep, besides the best (default 3; "
                  "0: all)"),
         cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<std::string>
    profile("profile", cl::value_desc("FILE.json"),
            cl::desc("Write a trace of the first steps, for about:tracing"),
            cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<std::string>
    weights("weights", cl::value_desc("FILE|FOLDER"),
            cl::desc("Weights to begin with: .safetensors, or a folder of .npy "
                     "(default: those in the package, or drawn by --seed)"),
            cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<std::string>
    weightMap("weight-map", cl::value_desc("FILE.json"),
              cl::desc("Names of weights -> names in --weights"),
              cl::sub(trainCommand), cl::cat(trainCategory));
cl::opt<uint64_t> initSeed("init", cl::value_desc("SEED"),
                           cl::desc("Draw the weights that --weights lacks"),
                           cl::sub(trainCommand), cl::cat(trainCategory));

BackendFlags backendFlags(trainCategory, trainCommand, trainCommand);

/// A flag for each row of the table.
class HyperparameterFlags {
public:
  HyperparameterFlags() {
    for (const HyperparameterDef &def : hyperparameterTable())
      flags.push_back(std::make_unique<cl::opt<double>>(
          llvm::StringRef(def.name),
          cl::value_desc(def.isCount ? "N" : "NUMBER"), cl::desc(def.help),
          cl::sub(trainCommand), cl::cat(trainCategory)));
    // A step of several windows is what others call accumulation.
    accumulate = std::make_unique<cl::alias>(llvm::StringRef("accumulate"),
                                             cl::desc("The same as --batch"),
                                             cl::aliasopt(*flags.front()));
  }
  std::vector<std::pair<const HyperparameterDef *, double>> given() const {
    std::vector<std::pair<const HyperparameterDef *, double>> values;
    for (auto [def, flag] : llvm::zip_equal(hyperparameterTable(), flags))
      if (flag->getNumOccurrences())
        values.push_back({&def, *flag});
    return values;
  }

private:
  std::vector<std::unique_ptr<cl::opt<double>>> flags;
  std::unique_ptr<cl::alias> accumulate;
};
HyperparameterFlags hyperFlags;
cl::opt<std::string> logFile(cl::Positional, cl::desc("train.jsonl"),
                             cl::sub(plotCommand));
cl::opt<std::string> drawing("o", cl::value_desc("FILE.svg"),
                             cl::desc("Where to write the drawing"),
                             cl::sub(plotCommand), cl::cat(trainCategory));

} // namespace

static TrainOptions trainOptions() {
  TrainOptions options;
  options.package = package;
  options.data = {data.begin(), data.end()};
  options.tokenizer = tokenizer;
  options.checkpoint = checkpoint;
  options.steps = steps;
  options.resume = resume;
  if (backendFlags.numerics.getNumOccurrences())
    options.numerics = backendFlags.numerics;
  options.load.threads = backendFlags.threads;
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  if (initSeed.getNumOccurrences())
    options.weights.seed = initSeed;
  if (seed.getNumOccurrences())
    options.seed = seed;
  if (validation.getNumOccurrences())
    options.validationShare = validation;
  options.hyper = hyperFlags.given();
  options.saveEvery = saveEvery;
  options.validateEvery = validateEvery;
  options.validationWindows = validationWindows;
  options.keep = keep;
  options.profile = profile;
  options.stop = &stopRequested();
  return options;
}

/// What is wrong with the flags; empty when nothing is.
static std::string checkTrainFlags() {
  if (package.empty())
    return "no package; see ane-run train --help";
  if (data.empty())
    return "no --data";
  if (checkpoint.empty())
    return "no --checkpoint to keep the run in";
  if (!steps.getNumOccurrences() || steps == 0)
    return "--steps is at least 1";
  if (!(validation >= 0 && validation < 1))
    return "--validation is a share: at least 0, and less than 1";
  return backendFlags.check();
}

static ExitCode runTrain() {
  if (std::string wrong = checkTrainFlags(); !wrong.empty())
    return usageError("ane-run", wrong);
  Diagnostics diags;
  TrainOptions options = trainOptions();
  for (const auto &[def, value] : options.hyper)
    checkHyperparameter(*def, value, diags);
  Restart restart;
  options.restart = &restart.wanted();
  options.validateFirst = restart.validatesFirst();
  options.resume |= restart.isRestarted();
  bool ok = false;
  std::unique_ptr<Collective> together;
  if (!diags.hasErrors())
    together = joinCollective(diags);
  options.collective = together.get();
  if (std::unique_ptr<Backend> backend;
      together && (backend = makeBackend(backendFlags.choice(), diags))) {
    catchRequestsToStop();
    unsigned columns =
        llvm::sys::Process::StandardOutIsDisplayed()
            ? std::max(llvm::sys::Process::StandardOutColumns(), 40u)
            : 0;
    Progress progress(together->isFirst() ? llvm::outs() : llvm::nulls(),
                      columns);
    ok = train(options, *backend, progress, diags);
    progress.end();
  }
  if (ok && options.restart->isNeeded)
    ok = restart.run(diags);
  finishOutput(diags);
  // At once: other processes print there, too.
  std::string text;
  llvm::raw_string_ostream stream(text);
  diags.print(stream, llvm::errs().has_colors());
  llvm::errs() << stream.str();
  ExitCode code = exitCode(ok, diags);
  if (code != Done && together)
    together->endAll(code);
  return code;
}

static ExitCode runPlot() {
  if (logFile.empty())
    return usageError("ane-run", "no log; see ane-run plot --help");
  if (drawing.empty())
    return usageError("ane-run", "no -o FILE.svg to draw to");
  Diagnostics diags;
  std::optional<LossHistory> history = readTrainLog(logFile, diags);
  bool ok = history && writeLossPlot(*history, drawing, diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}

void anec::hideFlagsOfOthers() {
  cl::HideUnrelatedOptions(trainCategory, trainCommand);
  cl::HideUnrelatedOptions(trainCategory, plotCommand);
}

std::optional<int> anec::runTrainCommands() {
  if (trainCommand)
    return runTrain();
  if (plotCommand)
    return runPlot();
  return std::nullopt;
}
