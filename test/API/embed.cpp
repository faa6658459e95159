//===- embed.cpp - compile, check, train and generate by anec.h -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// embed MODEL.tdsl TEXT FOLDER: prints what a chip finds, the losses of ten
/// steps and a text. embed.c and embed.py do the same; tools.py by the tools.
///
//===----------------------------------------------------------------------===//

#include "anec/anec.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

static CompileOptions smallModel(bool train) {
  CompileOptions options;
  options.defines = {{"layers", "2"}, {"dim", "32"},     {"hidden", "64"},
                     {"heads", "2"},  {"kv_heads", "1"}, {"seq", "16"},
                     {"vocab", "256"}};
  options.setTarget(*findTarget("m1"));
  options.train = train;
  return options;
}

static bool trainSteps(ProgramSession &session, llvm::StringRef text,
                       Diagnostics &diags) {
  std::unique_ptr<Tokenizer> bytes = openTokenizer("", diags);
  auto data = TokenData::open({text.str()}, "", *bytes, 256, diags);
  auto windows =
      data ? Windows::divide(*data, 16, 0.05, 0, diags) : std::nullopt;
  auto trainer = windows ? Trainer::open(session, {}, diags) : nullptr;
  if (!trainer)
    return false;
  DataPosition position;
  std::vector<int32_t> tokens(16), targets(16);
  for (int i = 0; i < 10; ++i) {
    windows->read(*data, windows->next(position), tokens, targets);
    auto step =
        trainer->step({{"tokens", tokens}, {"targets", targets}}, diags);
    if (!step)
      return false;
    llvm::outs() << llvm::format("step %d loss %.17g\n", int(step->step),
                                 step->loss);
  }
  return true;
}

static bool run(llvm::StringRef source, llvm::StringRef text,
                const std::string &folder, Diagnostics &diags) {
  auto package = compileModelFile(source, smallModel(true),
                                  folder + "/train.anepkg", diags);
  if (!package)
    return false;
  CompileOptions onM4;
  onM4.setTarget(*findTarget("m4"));
  for (const Finding &finding : check(*package, onM4, diags))
    llvm::outs() << finding.rule->id << ": " << finding.what << '\n';
  ProgramSessionOptions drawn;
  drawn.weights.seed = 0;
  auto session = ProgramSession::open(std::move(*package), drawn, diags);
  if (!session || !trainSteps(*session, text, diags) ||
      !session->saveWeights(folder + "/trained.safetensors", diags))
    return false;

  auto forward = compileModelFile(source, smallModel(false),
                                  folder + "/forward.anepkg", diags);
  ProgramSessionOptions trained;
  trained.weights.source = folder + "/trained.safetensors";
  auto writer = forward
                    ? ProgramSession::open(std::move(*forward), trained, diags)
                    : nullptr;
  std::unique_ptr<Tokenizer> bytes = openTokenizer("", diags);
  GenerateOptions options;
  options.tokens = 40;
  options.sampling.seed = 3;
  return writer &&
         writer->generate(
             "anec ", *bytes, options,
             [](llvm::StringRef piece) { llvm::outs() << piece; }, diags);
}

int main(int, char **argv) {
  Diagnostics diags;
  bool ok = run(argv[1], argv[2], argv[3], diags);
  llvm::outs() << '\n';
  diags.print(llvm::errs());
  return ok ? 0 : 1;
}
