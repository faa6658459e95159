//===- GenerateCommand.cpp - ane-run generate PACKAGE ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "CommandTable.h"
#include "anec/Train/Generate.h"
#include "anec/Train/TrainedModel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Generate : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool generate(Diagnostics &diags) const;

  BackendFlags backendFlags;
  cl::opt<std::string> package{cl::Positional};
  cl::opt<std::string> function{
      "function", cl::value_desc("NAME"),
      cl::desc("The function of the package, if it has several")};
  cl::opt<std::string> checkpointFolder{
      "checkpoint", cl::value_desc("DIR"),
      cl::desc("The folder of a training run, or one of its checkpoints, to "
               "read the weights and the tokenizer from")};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("FILE|FOLDER"),
      cl::desc("The weights: a .safetensors file, or a folder of them or of "
               ".npy files (default: those in the package)")};
  cl::opt<std::string> tokenizerFile{
      "tokenizer", cl::value_desc("FILE"),
      cl::desc("A tokenizer.json or its folder, a SentencePiece .model, or "
               "llama2.c's tokenizer.bin (default: bytes are tokens)")};
  cl::opt<std::string> prompt{"prompt", cl::value_desc("TEXT"),
                              cl::desc("The text to continue")};
  cl::opt<unsigned> tokens{
      "tokens", cl::value_desc("N"), cl::init(100),
      cl::desc("Maximum number of new tokens (default 100)")};
  cl::opt<double> temperature{"temperature", cl::value_desc("T"), cl::init(1),
                              cl::desc("Sampling temperature; 0 always selects "
                                       "the most likely token (default 1)")};
  cl::opt<double> topP{"top-p", cl::value_desc("P"), cl::init(0.9),
                       cl::desc("Sample from the most likely tokens whose "
                                "probabilities add up to P (default 0.9)")};
  cl::opt<uint64_t> seed{"seed", cl::value_desc("N"), cl::init(0),
                         cl::desc("Seed of the sampling (default 0)")};
  cl::opt<bool> markBeginning{
      "bos", cl::desc("Start the prompt with the tokenizer's beginning-of-text "
                      "id, which many models are trained with")};
};
} // namespace

bool Generate::generate(Diagnostics &diags) const {
  std::optional<TrainedModel> model = TrainedModel::read(
      {package, checkpointFolder, weights, tokenizerFile}, diags);
  if (!model)
    return false;
  std::unique_ptr<Backend> backend = backendFlags.choice().open(diags);
  if (!backend)
    return false;
  std::unique_ptr<Session> session =
      model->open(*backend, backendFlags.load(), diags);
  if (!session)
    return false;
  std::optional<Generator> generator =
      Generator::open(*session, model->tokenizer(), diags, function);
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

/// The error in the flags; empty when they are valid.
std::string Generate::check() const {
  if (package.empty())
    return "no package; see ane-run generate --help";
  if (!checkpointFolder.empty() && !weights.empty())
    return "--checkpoint takes no --weights, because a checkpoint has weights";
  if (std::string wrong = backendFlags.check(); !wrong.empty())
    return wrong;
  if (!(temperature >= 0 && temperature <= 1e6))
    return "--temperature takes a number of at least 0";
  if (!(topP > 0 && topP <= 1))
    return "--top-p takes a number greater than 0 and at most 1";
  return "";
}

ExitCode Generate::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) { return generate(diags); });
}

constinit const CommandDef commands::Generate = {
    .name = "generate",
    .group = commands::models,
    .summary = "Continue a text with a trained model",
    .synopsis = "MODEL.anepkg",
    .examples =
        R"(  ane-run generate model.anepkg --weights=model.safetensors --prompt="Once"
  ane-run generate forward.anepkg --checkpoint run --prompt "The compiler" --tokens 200
)",
    .make = makeCommand<::Generate>,
};
