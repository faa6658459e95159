//===- FinetuneCommand.cpp - ane-run finetune MODEL -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "CacheFlags.h"
#include "CommandTable.h"
#include "LoadedModel.h"
#include "ShownTraining.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Train/DataOrder.h"
#include "anec/Train/Hyperparameters.h"
#include "lib/Generate/Diags.h"
#include "lib/Import/Import.h"
#include "lib/Package/MergeAdapters.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Endings.h"
#include "lib/Support/ShownText.h"
#include "lib/Text/Conversations.h"
#include "lib/Train/Checkpoint.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <csignal>

using namespace anec;
using llvm::StringRef;
namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;

namespace {

class Finetune : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool finetune(Diagnostics &diags) const;
  std::string runFolder() const;
  std::optional<uint64_t> longestOfData(Diagnostics &diags) const;
  std::optional<ReadyModel> compile(Diagnostics &diags) const;
  TrainOptions training(const ReadyModel &ready, Diagnostics &diags) const;
  bool merge(const ReadyModel &ready, Diagnostics &diags) const;
  void printCommands(const ReadyModel &ready) const;
  std::optional<AdapterOptions> adapters(std::string &wrong) const;

  cl::opt<std::string> model{cl::Positional};
  cl::list<std::string> data{
      "data", cl::value_desc("FILE|FOLDER"),
      cl::desc("Conversations, a JSON object with `messages` in each line, of "
               "which the answers are learned, or text; can be repeated")};
  cl::opt<std::string> output{
      "o", cl::value_desc("FOLDER|FILE.gguf"),
      cl::desc("The model that comes out, in the form of the one that goes "
               "in; it must not exist yet")};
  WholeFlag<uint64_t> steps{"steps", cl::value_desc("N"), cl::init(200),
                            cl::desc("Steps to train (default 200)")};
  WholeFlag<uint64_t> batch{
      "batch", cl::value_desc("N"), cl::init(4),
      cl::desc("Conversations, or windows of text, in a step (default 4)")};
  NumberFlag rate{"lr", cl::value_desc("NUMBER"), cl::init(2e-4),
                  cl::desc("Learning rate after the warmup (default 2e-4)")};
  WholeFlag<uint64_t> warmup{
      "warmup", cl::value_desc("N"), cl::init(10),
      cl::desc("Steps of linear learning rate warmup (default 10)")};
  cl::opt<std::string> lora{
      "lora", cl::value_desc("rank=N,alpha=NUMBER,targets=NAME:NAME"),
      cl::desc("The adapters, as of anec --lora (default rank 8, alpha twice "
               "the rank, and all matrices of the layers: wq, wk, wv, wo, w1, "
               "w2, w3)")};
  WholeFlag<int64_t> context{
      "context", cl::value_desc("N"),
      cl::desc("Positions of a conversation, up to 8192 (default: as many as "
               "the longest takes, at most 2048; 512 for text)")};
  NumberFlag validation{
      "validation", cl::value_desc("SHARE"), cl::init(0.05),
      cl::desc("Fraction of the data, at its end, used for validation "
               "(default 0.05)")};
  cl::list<std::string> validationData{
      "validation-data", cl::value_desc("FILE|FOLDER"),
      cl::desc("Data to validate on, instead of a fraction of --data; can be "
               "repeated")};
  cl::opt<std::string> tokenizer{
      "tokenizer", cl::value_desc("FILE|FOLDER"),
      cl::desc("Another tokenizer than that of the model")};
  cl::opt<std::string> checkpoint{
      "checkpoint", cl::value_desc("FOLDER"),
      cl::desc("The folder of the run: checkpoints, train.jsonl, loss.svg "
               "(default: that of -o, with .run)")};
  cl::opt<bool> resume{
      "resume", cl::desc("Continue from the newest checkpoint of the run, if "
                         "there is one")};
  WholeFlag<uint64_t> seed{
      "seed", cl::value_desc("N"),
      cl::desc("Seed of the data order and of the adapters (default 0)")};
  cl::opt<bool> recompute{
      "recompute", cl::desc("Compute the forward of each layer again in the "
                            "backward: less memory, more time")};
  cl::opt<bool> verbose{
      "verbose", cl::desc("Print the commands that do the same, step by step")};
  BackendFlags backend;
};

} // namespace

/// The positions that examples of `longest` tokens take; 0 for text.
static int64_t positionsFor(uint64_t longest) {
  constexpr int64_t ofText = 512, most = 2048, step = 16;
  if (longest == 0)
    return ofText;
  // The last token is a target alone.
  auto wanted = int64_t(longest - 1 + step - 1) / step * step;
  return std::clamp(wanted, step, most);
}

std::string Finetune::runFolder() const {
  if (!checkpoint.empty())
    return checkpoint;
  StringRef stem = StringRef(output).rtrim('/');
  stem.consume_back(".gguf");
  return (stem + ".run").str();
}

std::optional<AdapterOptions> Finetune::adapters(std::string &wrong) const {
  std::string text = lora;
  if (!StringRef(text).contains("targets="))
    text += (text.empty() ? "" : ",") + std::string("targets=w*");
  return AdapterOptions::parse(text, wrong);
}

/// The tokens of the longest conversation, by the tokenizer that the model will
/// be trained with; 0 for text.
std::optional<uint64_t> Finetune::longestOfData(Diagnostics &diags) const {
  std::string words = tokenizer.empty() ? model : tokenizer;
  std::shared_ptr<TemporaryFolder> unpacked;
  if (tokenizer.empty() && StringRef(model).ends_with(".gguf")) {
    unpacked = TemporaryFolder::create(diags);
    if (!unpacked)
      return std::nullopt;
    ImportOptions import;
    import.tokenizer = unpacked->file("words");
    if (!importModel(model, unpacked->file("model.tdsl"), import, diags))
      return std::nullopt;
    words = import.tokenizer;
  }
  return longestConversation({data.begin(), data.end()}, words, diags);
}

std::optional<ReadyModel> Finetune::compile(Diagnostics &diags) const {
  ModelCacheOptions options;
  std::string ignored; // `check` has parsed the same.
  options.adapters = adapters(ignored);
  options.context = context;
  if (!context) {
    std::optional<uint64_t> longest = longestOfData(diags);
    if (!longest)
      return std::nullopt;
    options.mostContext = positionsFor(*longest);
  }
  return CachedModels().ready(model, options, false, verbose, diags);
}

/// The flags as options of a run. Reports what is out of its range.
TrainOptions Finetune::training(const ReadyModel &ready,
                                Diagnostics &diags) const {
  TrainOptions options;
  options.package = ready.package;
  options.data = {data.begin(), data.end()};
  options.validationData = {validationData.begin(), validationData.end()};
  if (validationData.empty())
    options.validationShare = validation;
  options.tokenizer = tokenizer.empty() ? ready.tokenizer : tokenizer;
  options.checkpoint = runFolder();
  options.steps = steps;
  options.resume = resume;
  options.beginsIfNew = resume;
  if (backend.numerics.getNumOccurrences())
    options.numerics = backend.numerics;
  options.load.workspace = backend.load().workspace;
  options.weights.source = model;
  options.weights.mapping = ready.mapping;
  options.weights.seed = seed;
  options.weights.executor = backend.executor();
  options.seed = seed;
  options.recompute = recompute;
  options.stop = &stopRequested();
  for (auto [name, value] : std::initializer_list<std::pair<StringRef, double>>{
           {"batch", double(batch)},
           {"lr", rate},
           {"warmup", double(warmup)},
           {"weight-decay", 0}}) {
    const HyperparameterDef *def = findHyperparameter(name);
    (void)checkHyperparameter(*def, value, diags);
    options.hyper.push_back({def, value});
  }
  return options;
}

/// The checkpoint with the lowest validation loss, or the newest.
static std::string bestOf(const std::string &run) {
  std::string best = run + "/best";
  std::vector<std::string> all = listCheckpoints(run);
  return fs::exists(best) || all.empty() ? best : all.back();
}

bool Finetune::merge(const ReadyModel &ready, Diagnostics &diags) const {
  std::optional<ModelPackage> package =
      readPackage(ready.package, diags, PackageCheck::Presence);
  WeightOptions weights;
  weights.source = model;
  weights.mapping = ready.mapping;
  weights.adapter = bestOf(runFolder());
  if (!package || !mergeAdapters(*package, weights, output, {}, diags))
    return false;
  llvm::outs() << showText(output) << ": the model with the adapters of "
               << weights.adapter << '\n';
  return true;
}

void Finetune::printCommands(const ReadyModel &ready) const {
  std::string package = quoted(ready.package), weights = quoted(model),
              names = quoted(ready.mapping), run = runFolder();
  llvm::raw_ostream &out = llvm::errs();
  out << "ane-run train " << package;
  for (const std::string &file : data)
    out << " --data " << quoted(file);
  for (const std::string &file : validationData)
    out << " --validation-data " << quoted(file);
  if (validation.getNumOccurrences())
    out << " --validation=" << formatNumber(validation);
  if (seed.getNumOccurrences())
    out << " --seed=" << seed;
  if (recompute)
    out << " --recompute";
  out << " --weights=" << weights << " --weight-map=" << names
      << " --init=" << seed << " --tokenizer="
      << quoted(tokenizer.empty() ? ready.tokenizer : tokenizer)
      << " --steps=" << steps << " --batch=" << batch
      << " --lr=" << formatNumber(rate) << " --warmup=" << warmup
      << " --weight-decay=0 --checkpoint " << quoted(run) << "\nanec merge "
      << package << " --weights=" << weights << " --weight-map=" << names
      << " --adapter=" << quoted(run + "/best") << " -o " << quoted(output)
      << '\n';
}

bool Finetune::finetune(Diagnostics &diags) const {
  std::unique_ptr<Backend> engine = backend.choice().open(diags);
  if (!engine)
    return false;
  if (!canImport(model)) {
    reportNoModel(model, diags);
    return false;
  }
  for (const std::string &path :
       llvm::concat<const std::string>(data, validationData))
    if (!fs::exists(path))
      diags.reportFile(path, diag::CannotOpen, "No such file or directory");
  std::optional<ReadyModel> ready;
  if (!diags.hasErrors())
    ready = compile(diags);
  if (!ready)
    return false;
  if (verbose)
    printCommands(*ready);
  TrainOptions options = training(*ready, diags);
  if (diags.hasErrors() || !trainShown(options, *engine, true, diags))
    return false;
  if (stopRequested()) {
    llvm::outs() << "interrupted; --resume goes on\n";
    return true;
  }
  return merge(*ready, diags);
}

/// The error in the flags; empty when they are valid.
std::string Finetune::check() const {
  constexpr StringRef see = "; see ane-run finetune --help";
  if (model.empty())
    return ("finetune takes a model, a folder or a GGUF file" + see).str();
  if (data.empty())
    return ("--data names the conversations or the text to learn" + see).str();
  if (output.empty())
    return ("-o names the model that comes out" + see).str();
  bool isGguf = StringRef(model).ends_with(".gguf");
  constexpr StringRef files[] = {".gguf"};
  if (!closestEnding(output, files).empty())
    return "-o: " + wrongEnding(output, files);
  if (isGguf != StringRef(output).ends_with(".gguf"))
    return isGguf ? "-o takes a FILE.gguf, as the model is one"
                  : "-o takes a folder, as the model is one";
  if (fs::exists(output))
    return "-o: " + output + " exists already";
  std::string wrong;
  if (!adapters(wrong))
    return "--lora: " + wrong;
  if (steps == 0)
    return "--steps must be at least 1";
  if (!DataOrder::isShare(validation))
    return "--validation must be at least 0 and less than 1";
  if (!validationData.empty() && validation.getNumOccurrences())
    return "--validation is a fraction of --data, and --validation-data is "
           "other data; give one of them";
  if (context.getNumOccurrences() && (context < 2 || context > 8192))
    return "--context takes a number of positions, from 2 to 8192";
  return backend.check();
}

ExitCode Finetune::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  ExitCode code =
      runReporting([&](Diagnostics &diags) { return finetune(diags); });
  // There is no model: what comes next in a script must not run.
  if (int signal = stopSignal(); signal && code == Done) {
    endOnRequestsToStop();
    std::raise(signal);
  }
  return code;
}

constinit const CommandDef commands::Finetune = {
    .name = "finetune",
    .group = commands::models,
    .summary = "Adapt a language model to conversations or text",
    .synopsis = "FOLDER|MODEL.gguf",
    .details =
        "  Compiles the model with adapters of low rank, trains these, and "
        "writes the model\n  with them added to its weights, a folder that "
        "transformers loads, or a GGUF file.\n  See docs/use/finetuning.md.\n",
    .usual = "o data steps lr batch lora context checkpoint resume "
             "validation-data verbose backend threads",
    .examples =
        R"(  ane-run finetune Qwen3-0.6B --data chats.jsonl -o mine
  ane-run finetune Qwen3-0.6B --data chats.jsonl --steps 1000 --lora=rank=16 --lr 1e-4 -o mine
  ane-run finetune Qwen3-Q8_0.gguf --data book.txt --context=256 -o mine.gguf
)",
    .make = makeCommand<::Finetune>,
};
