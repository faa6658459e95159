//===- TrainCommand.cpp - ane-run train PACKAGE ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "ProgramFlags.h"
#include "Restart.h"
#include "ShownTraining.h"
#include "anec/Train/DataOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

/// A flag for each row of the table of hyperparameters.
class HyperparameterFlags {
public:
  HyperparameterFlags() {
    for (const HyperparameterDef &def : hyperparameterTable())
      flags.push_back(std::make_unique<NumberFlag>(
          llvm::StringRef(def.name),
          cl::value_desc(def.isCount ? "N" : "NUMBER"), cl::desc(def.help)));
    // A step of several runs is also called gradient accumulation.
    accumulate = std::make_unique<cl::alias>(llvm::StringRef("accumulate"),
                                             cl::desc("The same as --batch"),
                                             cl::aliasopt(*flags.front()));
  }
  GivenHyperparameters given() const {
    GivenHyperparameters values;
    for (auto [def, flag] : llvm::zip_equal(hyperparameterTable(), flags))
      if (flag->getNumOccurrences())
        values.push_back({&def, *flag});
    return values;
  }

private:
  std::vector<std::unique_ptr<NumberFlag>> flags;
  std::unique_ptr<cl::alias> accumulate;
};

class Train : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  TrainOptions options() const;
  bool train(Collective &processes, Restart &restart, TrainOptions &options,
             Diagnostics &diags) const;

  cl::opt<std::string> package{cl::Positional};
  BackendFlags backend;
  WeightFlags weights{
      "Weights to begin with: a .safetensors or .gguf file, a .bin file of "
      "llama2.c, or a folder of .safetensors or .npy files (default: those in "
      "the package, or drawn by --seed)"};
  HyperparameterFlags hyper;
  cl::opt<std::string> function{
      "function", cl::value_desc("NAME"),
      cl::desc("The training step, if there are several")};
  cl::list<std::string> data{
      "data", cl::value_desc("FILE|FOLDER"),
      cl::desc("Text files, .bin files of token ids, or .npy and "
               ".safetensors files of arrays named after the model's inputs; "
               "can be repeated")};
  cl::list<std::string> inputs{
      "input", cl::value_desc("NAME=FILE"),
      cl::desc("A .npy or .safetensors file with an array for an input of the "
               "model, whose first axis counts examples; can be repeated")};
  cl::opt<std::string> tokenizer{
      "tokenizer", cl::value_desc("FILE"),
      cl::desc("A tokenizer.json or its folder, a SentencePiece .model, or "
               "llama2.c's tokenizer.bin (default: bytes are tokens)")};
  cl::opt<std::string> checkpoint{
      "checkpoint", cl::value_desc("FOLDER"),
      cl::desc("The folder of the run: checkpoints, train.jsonl, loss.svg")};
  WholeFlag<uint64_t> steps{
      "steps", cl::value_desc("N"),
      cl::desc("Total steps of the run, including the completed ones")};
  enum class Resume : uint8_t { No, Yes, Auto };
  ChoiceFlag<Resume> resume{
      "resume", cl::ValueOptional, cl::init(Resume::No),
      cl::desc("Continue from the newest checkpoint:"),
      cl::values(clEnumValN(Resume::Yes, "", "there must be a run"),
                 clEnumValN(Resume::Auto, "auto",
                            "or begin a run if the folder has none"))};
  WholeFlag<uint64_t> seed{
      "seed", cl::value_desc("N"),
      cl::desc("Seed of the data order and of new weights (default 0)")};
  NumberFlag validation{"validation", cl::value_desc("SHARE"),
                        cl::desc("Fraction of the data, at its end, used "
                                 "for validation (default 0.05)")};
  cl::list<std::string> validationData{
      "validation-data", cl::value_desc("FILE|FOLDER"),
      cl::desc("Data to validate on, as --data names it, instead of a fraction "
               "of --data; can be repeated")};
  WholeFlag<uint64_t> patience{
      "patience", cl::value_desc("N"), cl::init(0),
      cl::desc("End after N validations in a row without a lower loss, and "
               "save each lower one (default 0: never)")};
  WholeFlag<uint64_t> saveEvery{
      "save-every", cl::value_desc("STEPS"), cl::init(100),
      cl::desc("Steps between checkpoints (default 100; "
               "0: only one at the end)")};
  WholeFlag<uint64_t> validateEvery{
      "validate-every", cl::value_desc("STEPS"), cl::init(100),
      cl::desc("Steps between validations (default 100; 0: only "
               "at the end)")};
  WholeFlag<uint64_t> validationWindows{
      "validation-windows", cl::value_desc("N"), cl::init(16),
      cl::desc("Model runs per validation (default 16; 0: all)")};
  WholeFlag<unsigned> keep{
      "keep", cl::value_desc("N"), cl::init(3),
      cl::desc("Number of newest checkpoints to keep, in "
               "addition to the best (default 3; 0: all)")};
  cl::opt<bool> recompute{
      "recompute",
      cl::desc("Compute the forward of each layer again in the backward "
               "instead of keeping its values: less memory for long texts and "
               "deep models, and a forward more time")};
  cl::opt<std::string> profile{
      "profile", cl::value_desc("FILE.json"),
      cl::desc("Write a trace of the first steps, for about:tracing")};
};

} // namespace

TrainOptions Train::options() const {
  TrainOptions options;
  options.package = package;
  options.entry = function;
  options.data = {data.begin(), data.end()};
  options.inputs = {inputs.begin(), inputs.end()};
  options.tokenizer = tokenizer;
  options.checkpoint = checkpoint;
  options.steps = steps;
  options.resume = resume != Resume::No;
  options.beginsIfNew = resume == Resume::Auto;
  if (backend.numerics.getNumOccurrences())
    options.numerics = backend.numerics;
  options.load.workspace = backend.load().workspace;
  options.weights = weights.options(backend.executor());
  if (seed.getNumOccurrences())
    options.seed = seed;
  if (validation.getNumOccurrences())
    options.validationShare = validation;
  options.validationData = {validationData.begin(), validationData.end()};
  options.patience = patience;
  options.hyper = hyper.given();
  options.saveEvery = saveEvery;
  options.validateEvery = validateEvery;
  options.validationWindows = validationWindows;
  options.keep = keep;
  options.profile = profile;
  options.recompute = recompute;
  options.stop = &stopRequested();
  return options;
}

/// The error in the flags; empty when they are valid.
std::string Train::check() const {
  if (package.empty())
    return "no package; see ane-run train --help";
  if (data.empty() && inputs.empty())
    return "no --data and no --input";
  for (const std::string &input : inputs)
    if (!llvm::StringRef(input).contains('='))
      return "--input takes NAME=FILE, not `" + input + "`";
  if (checkpoint.empty())
    return "no --checkpoint folder for the run";
  if (!steps.getNumOccurrences() || steps == 0)
    return "--steps must be at least 1";
  if (!DataOrder::isShare(validation))
    return "--validation must be at least 0 and less than 1";
  if (!validationData.empty() && validation.getNumOccurrences())
    return "--validation is a fraction of --data, and --validation-data is "
           "other data; give one of them";
  return backend.check();
}

bool Train::train(Collective &processes, Restart &restart,
                  TrainOptions &options, Diagnostics &diags) const {
  options.collective = &processes;
  std::unique_ptr<Backend> engine = backend.choice().open(diags);
  if (!engine)
    return false;
  bool ok = trainShown(options, *engine, processes.isFirst(), diags);
  return ok && (!options.restart->isNeeded || restart.run(diags));
}

ExitCode Train::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  std::unique_ptr<Collective> processes;
  ExitCode code = runReporting([&](Diagnostics &diags) {
    TrainOptions wanted = options();
    bool inRange = true;
    for (const auto &[def, value] : wanted.hyper)
      inRange &= checkHyperparameter(*def, value, diags);
    Restart restart(call.arguments);
    wanted.restart = &restart.wanted();
    wanted.validateFirst = restart.validatesFirst();
    // The same arguments, but the run is the one that goes on.
    if (restart.isRestarted()) {
      wanted.resume = true;
      wanted.beginsIfNew = true;
    }
    if (inRange)
      processes = joinCollective(diags);
    return processes && train(*processes, restart, wanted, diags);
  });
  if (code != Done && processes)
    processes->endAll(code);
  return code;
}

constinit const CommandDef commands::Train = {
    .name = "train",
    .group = commands::models,
    .summary = "Train a package's model on text or arrays",
    .synopsis = "MODEL.anepkg",
    .usual = "weights init tokenizer data steps lr batch warmup checkpoint "
             "resume validation validation-data backend threads",
    .examples =
        R"(  ane-run train llama.anepkg --data book.txt --steps 500 --checkpoint run
  ane-run train llama.anepkg --data book.txt --steps 1000 --checkpoint run --resume
  ane-run train llama.anepkg --data book.txt --validation-data other.txt --patience 5 --steps 9000 --checkpoint run --resume=auto
  ane-run train llama.anepkg --data tokens.bin --steps 500 --checkpoint run --batch 8 --lr 3e-4 --decay-steps 500
  ane-run train digits.anepkg --input images=x.npy --input labels=y.npy --steps 500 --checkpoint run
)",
    .make = makeCommand<::Train>,
};
