//===- Generate.cpp - ane-run generate PACKAGE ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Generate.h"
#include "../ExitCode.h"
#include "BackendFlags.h"
#include "anec/Train/Checkpoint.h"
#include "anec/Train/Diags.h"
#include "anec/Train/Generate.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("ane-run generate options");
cl::SubCommand command("generate", "Continue a text with a trained model");

cl::opt<std::string> package(cl::Positional, cl::desc("MODEL.anepkg"),
                             cl::sub(command), cl::cat(category));
cl::opt<std::string> checkpointFolder(
    "checkpoint", cl::value_desc("DIR"),
    cl::desc("The folder of a training run, or one checkpoint in it: its "
             "weights and its tokenizer"),
    cl::sub(command), cl::cat(category));
cl::opt<std::string> weights(
    "weights", cl::value_desc("FILE|FOLDER"),
    cl::desc("The weights: a .safetensors file or a folder of .npy (default: "
             "those in the package)"),
    cl::sub(command), cl::cat(category));
cl::opt<std::string> tokenizerFile(
    "tokenizer", cl::value_desc("FILE"),
    cl::desc("A SentencePiece .model or llama2.c's tokenizer.bin (default: "
             "bytes are tokens)"),
    cl::sub(command), cl::cat(category));
cl::opt<std::string> prompt("prompt", cl::value_desc("TEXT"),
                            cl::desc("What to continue"), cl::sub(command),
                            cl::cat(category));
cl::opt<unsigned> tokens("tokens", cl::value_desc("N"), cl::init(100),
                         cl::desc("New tokens, at most (default 100)"),
                         cl::sub(command), cl::cat(category));
cl::opt<double> temperature(
    "temperature", cl::value_desc("T"), cl::init(1),
    cl::desc("How freely to draw; 0: always the most likely token (default 1)"),
    cl::sub(command), cl::cat(category));
cl::opt<double>
    topP("top-p", cl::value_desc("P"), cl::init(0.9),
         cl::desc("Draw among the most likely tokens that have this much of "
                  "the probability (default 0.9)"),
         cl::sub(command), cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::value_desc("N"), cl::init(0),
                       cl::desc("What is drawn depends on it (default 0)"),
                       cl::sub(command), cl::cat(category));
cl::opt<bool> markBeginning(
    "bos",
    cl::desc("Put the tokenizer's id for the beginning of a text before "
             "the prompt, as models of others were trained"),
    cl::sub(command), cl::cat(category));

BackendFlags backendFlags(category, command, command);

} // namespace

void anec::hideFlagsInGenerate() {
  cl::HideUnrelatedOptions(category, command);
}

/// Opens the tokenizer that was asked for, or the one that `trained` was
/// trained with.
static std::unique_ptr<Tokenizer> chooseTokenizer(const Checkpoint *trained,
                                                  Diagnostics &diags) {
  if (!trained)
    return openTokenizer(tokenizerFile, diags);
  const UsedTokenizer &used = trained->state.tokenizer;
  std::string path = tokenizerFile.empty() ? used.path : tokenizerFile;
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(path, diags);
  if (!tokenizer || tokenizer->digest() == used.digest)
    return tokenizer;
  diags.reportFile(path.empty() ? checkpointFolder : path, diag::OtherTokenizer,
                   used.path.empty() ? used.kind : used.path,
                   used.digest.empty() ? "none" : used.digest);
  return nullptr;
}

/// Opens the package with the weights that are to be used, which are `trained`
/// if there is such a checkpoint.
static std::unique_ptr<Session> openSession(Backend &backend,
                                            const WeightOptions &given,
                                            const Checkpoint *trained,
                                            Diagnostics &diags) {
  std::optional<ModelPackage> read = readPackage(package, diags);
  if (!read)
    return nullptr;
  if (trained) {
    std::string differences = compareModels(trained->state, *read);
    if (!differences.empty()) {
      diags.reportFile(trained->folder, diag::OtherModel, differences);
      return nullptr;
    }
  }
  if (read->weightMode == WeightMode::Baked && !given.source.empty()) {
    diags.reportFile(package, diag::BakedWeights);
    return nullptr;
  }
  bool hasValues =
      read->weightMode == WeightMode::Baked || !read->values.empty();
  if (given.source.empty() && !hasValues) {
    diags.reportFile(package, diag::NoWeights);
    return nullptr;
  }
  SessionOptions options;
  options.load.numerics = backendFlags.numerics;
  options.load.threads = backendFlags.threads;
  options.weights = given;
  return Session::open(std::move(*read), backend, options, diags);
}

static bool generate(Diagnostics &diags) {
  WeightOptions given;
  given.source = weights;
  std::optional<Checkpoint> trained;
  if (!checkpointFolder.empty()) {
    trained = loadCheckpointWeights(checkpointFolder, diags);
    if (!trained)
      return false;
    given.source = trained->weights();
  }
  const Checkpoint *checkpoint = trained ? &*trained : nullptr;
  std::unique_ptr<Tokenizer> tokenizer = chooseTokenizer(checkpoint, diags);
  if (!tokenizer)
    return false;
  std::unique_ptr<Backend> backend = makeBackend(backendFlags.choice(), diags);
  if (!backend)
    return false;
  std::unique_ptr<Session> session =
      openSession(*backend, given, checkpoint, diags);
  if (!session)
    return false;
  std::optional<Generator> generator =
      Generator::open(*session, *tokenizer, diags);
  if (!generator)
    return false;

  GenerateOptions options;
  options.tokens = tokens;
  options.markBeginning = markBeginning;
  options.sampling = {temperature, topP, seed};
  std::optional<GenerateStats> stats = generator->run(
      prompt, options,
      [](llvm::StringRef text) {
        llvm::outs() << text;
        llvm::outs().flush();
      },
      diags);
  if (!stats)
    return false;
  llvm::outs() << '\n';
  llvm::outs().flush();
  llvm::errs() << stats->tokens << " tokens after " << stats->promptTokens;
  if (stats->seconds > 0)
    llvm::errs() << llvm::format(": %.1f tokens/s (measured, ",
                                 (stats->tokens - 1) / stats->seconds)
                 << backend->name() << " backend)";
  llvm::errs() << '\n';
  return true;
}

std::optional<int> anec::runGenerateCommand() {
  if (!command)
    return std::nullopt;
  if (package.empty())
    return usageError("ane-run", "no package; see ane-run generate --help");
  if (!checkpointFolder.empty() && !weights.empty())
    return usageError("ane-run", "a checkpoint has its weights; --checkpoint "
                                 "takes no --weights");
  if (std::string wrong = backendFlags.check(); !wrong.empty())
    return usageError("ane-run", wrong);
  if (!(temperature >= 0 && temperature <= 1e6))
    return usageError("ane-run", "--temperature takes a number from 0 on");
  if (!(topP > 0 && topP <= 1))
    return usageError("ane-run", "--top-p takes a number above 0, up to 1");
  Diagnostics diags;
  bool ok = generate(diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}
