//===- EvaluateCommand.cpp - ane-run evaluate MODEL -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../DefineFlag.h"
#include "../NumberFlag.h"
#include "../Signals.h"
#include "../Terminal.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "GenerateFlags.h"
#include "anec/API/Compile.h"
#include "anec/Generate/Evaluate.h"
#include "anec/Generate/OpenTextModel.h"
#include "lib/Arrays/Npy.h"
#include "lib/Generate/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <chrono>

using namespace anec;
namespace cl = llvm::cl;

namespace {

/// A model that is loaded.
struct EvaluatedModel {
  std::optional<TrainedModel> trained;
  std::unique_ptr<Session> session;
  std::unique_ptr<TextModel> text;
};

/// One line on standard error: redrawn on a terminal, every few seconds
/// otherwise.
class ProgressLine {
public:
  void show(const Evaluation &evaluation, uint64_t tokens);
  void end();

private:
  using Clock = std::chrono::steady_clock;
  bool isTerminal = llvm::sys::Process::StandardErrIsDisplayed();
  Clock::time_point shown = Clock::now();
  size_t length = 0;
};

class Evaluate : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool evaluate(Diagnostics &diags) const;
  bool load(EvaluatedModel &model, TrainedModelSource source,
            llvm::StringRef function, Backend &backend,
            Diagnostics &diags) const;
  std::optional<TokenData> open(const Tokenizer *known, const TextModel &model,
                                Diagnostics &diags) const;
  bool writeLosses(llvm::ArrayRef<float> losses, Diagnostics &diags) const;

  ModelFlags model;
  DefineFlag defines;
  BackendFlags backendFlags;
  cl::list<std::string> data{
      "data", cl::value_desc("FILE|FOLDER"),
      cl::desc("Text files, or .bin files of token ids; can be repeated")};
  WholeFlag<size_t> window{
      "window", cl::value_desc("N"), cl::init(0),
      cl::desc("Tokens that the model is given at once (default: its "
               "positions)")};
  WholeFlag<size_t> stride{
      "stride", cl::value_desc("N"), cl::init(0),
      cl::desc("Tokens between the begins of windows; with fewer than in a "
               "window, each token has more before it (default: --window)")};
  WholeFlag<uint64_t> tokens{
      "tokens", cl::value_desc("N"), cl::init(0),
      cl::desc("End after N predicted tokens (default 0: "
               "all of --data)")};
  cl::opt<bool> markBeginning{
      "bos", cl::desc("Start each window with the tokenizer's "
                      "beginning-of-text id, which many models are trained "
                      "with")};
  cl::opt<std::string> baseline{
      "baseline", cl::value_desc("MODEL"),
      cl::desc("Also compare with another model of the same vocabulary, such "
               "as the one before quantization")};
  cl::opt<std::string> baselineCheckpoint{
      "baseline-checkpoint", cl::value_desc("DIR"),
      cl::desc("As --checkpoint, for the baseline")};
  cl::opt<std::string> baselineWeights{
      "baseline-weights", cl::value_desc("FILE|FOLDER"),
      cl::desc("As --weights, for the baseline")};
  cl::opt<std::string> losses{
      "losses", cl::value_desc("FILE.npy"),
      cl::desc("Write the loss of each predicted token as an fp32 array")};
  cl::opt<bool> json{"json", cl::desc("Print a JSON object in one line")};
  cl::opt<bool> quiet{"quiet", cl::desc("Print no progress on standard error")};
};

} // namespace

void ProgressLine::show(const Evaluation &evaluation, uint64_t tokens) {
  uint64_t done = evaluation.loss.count();
  std::chrono::duration<double> since = Clock::now() - shown;
  if (since.count() < (isTerminal ? 0.1 : 5.0))
    return;
  shown = Clock::now();
  double speed = double(done) / std::max(evaluation.seconds, 1e-9);
  std::string line;
  llvm::raw_string_ostream(line)
      << done << " of " << tokens << " tokens"
      << llvm::format("  perplexity %.4f  %.0f tokens/s  %.0f s left",
                      evaluation.perplexity(), speed,
                      double(tokens - done) / speed);
  if (!isTerminal) {
    llvm::errs() << line << '\n';
    return;
  }
  unsigned columns = terminalColumns() ? terminalColumns() : 80;
  line.resize(std::min<size_t>(line.size(), columns - 1));
  size_t now = line.size();
  if (now < length)
    line.append(length - now, ' ');
  llvm::errs() << '\r' << line;
  length = now;
}

void ProgressLine::end() {
  if (length)
    llvm::errs() << '\r' << std::string(length, ' ') << '\r';
  length = 0;
}

bool Evaluate::load(EvaluatedModel &loaded, TrainedModelSource source,
                    llvm::StringRef function, Backend &backend,
                    Diagnostics &diags) const {
  if (sourceFormat(source.package).stage == SourceStage::Program) {
    CompileOptions options;
    options.train = false;
    options.defines = defines.pairs();
    options.weights.source = source.weights;
    options.weights.mapping = source.mapping;
    options.weights.program = source.package;
    options.weights.executor = backendFlags.executor();
    std::optional<ModelPackage> compiled =
        compileModelFile(source.package, options, "", diags);
    if (!compiled)
      return false;
    source.compiled = std::make_shared<ModelPackage>(std::move(*compiled));
    source.weights.clear();
    source.mapping.clear();
  }
  loaded.trained = TrainedModel::read(std::move(source), diags);
  if (!loaded.trained)
    return false;
  loaded.session = loaded.trained->open(backend, backendFlags.load(), diags);
  if (!loaded.session)
    return false;
  loaded.text = openTextModel(*loaded.session, function, diags);
  return loaded.text != nullptr;
}

std::optional<TokenData> Evaluate::open(const Tokenizer *known,
                                        const TextModel &text,
                                        Diagnostics &diags) const {
  std::unique_ptr<Tokenizer> bytes;
  if (!known) {
    bytes = openTokenizer("", diags);
    known = bytes.get();
  }
  int64_t vocabulary = int64_t(text.vocabulary());
  std::vector<std::string> paths(data.begin(), data.end());
  std::optional<TokenData> opened =
      TokenData::open(paths, "", *known, vocabulary, diags);
  if (opened && known->kind() == TokenizerKind::Bytes &&
      !opened->hasIdsAlone() && vocabulary > int64_t(known->vocabulary()) &&
      model.checkpoint.empty() && model.tokenizer.empty())
    diags.report({}, diag::BytesAsTokens, vocabulary);
  return opened;
}

bool Evaluate::writeLosses(llvm::ArrayRef<float> values,
                           Diagnostics &diags) const {
  AtomicFiles files(diags);
  OutputFile *file = files.add(losses);
  if (!file)
    return false;
  TensorType type(DType::FP32, {int64_t(values.size())});
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(values.data()),
      values.size() * sizeof(float));
  writeNpy(*file, *Constant::view(type, type.dtype, bytes, nullptr));
  return files.commit();
}

bool Evaluate::evaluate(Diagnostics &diags) const {
  std::unique_ptr<Backend> backend = backendFlags.choice().open(diags);
  if (!backend)
    return false;
  // Ids alone need no tokenizer.
  bool hasText = llvm::any_of(data, [](const std::string &path) {
    return llvm::sys::path::extension(path) != ".bin";
  });
  TrainedModelSource source = model.source();
  source.needsTokenizer = hasText;
  EvaluatedModel main, other;
  if (!load(main, source, model.function, *backend, diags))
    return false;
  if (baseline.getNumOccurrences()) {
    TrainedModelSource before;
    before.package = baseline;
    before.checkpoint = baselineCheckpoint;
    before.weights = baselineWeights;
    before.needsTokenizer = false;
    if (!load(other, before, "", *backend, diags))
      return false;
  }
  const Tokenizer *tokenizer = main.trained->tokenizer();
  std::optional<TokenData> text = open(tokenizer, *main.text, diags);
  if (!text)
    return false;
  EvaluateOptions options;
  options.window = window;
  options.stride = stride;
  options.tokens = tokens;
  options.baseline = other.text.get();
  options.stop = &stopRequested();
  if (markBeginning) {
    options.beginning = tokenizer ? tokenizer->beginning() : std::nullopt;
    if (!options.beginning) {
      diags.reportFile(model.tokenizer, diag::NoBeginning);
      return false;
    }
    if (*options.beginning >= int64_t(main.text->vocabulary())) {
      diags.report({}, diag::PromptToken, *options.beginning,
                   main.text->vocabulary());
      return false;
    }
  }
  std::vector<float> each;
  if (losses.getNumOccurrences())
    options.losses = &each;
  ProgressLine line;
  if (!quiet)
    options.progress = [&](const Evaluation &evaluation, uint64_t all) {
      line.show(evaluation, all);
    };
  catchRequestsToStop();
  std::optional<Evaluation> result =
      anec::evaluate(*main.text, *text, options, diags);
  line.end();
  if (!result || (options.losses && !writeLosses(each, diags)))
    return false;
  if (json)
    printJson(*result, llvm::outs());
  else
    printText(*result, llvm::outs());
  return true;
}

/// The error in the flags; empty when they are valid.
std::string Evaluate::check() const {
  for (const std::string &wrong :
       {model.check(), defines.check(), backendFlags.check()})
    if (!wrong.empty())
      return wrong;
  if (data.empty())
    return "no --data";
  if (window.getNumOccurrences() && window == 0)
    return "--window must be at least 1";
  if (stride.getNumOccurrences() && stride == 0)
    return "--stride must be at least 1";
  if (window && stride > window)
    return "--stride is larger than --window, which leaves tokens out";
  bool isProgram = sourceFormat(model.package).stage == SourceStage::Program;
  if (isProgram && !model.adapter.empty())
    return "--adapter is for a package that was compiled with --lora";
  if (isProgram && model.weights.empty() && model.checkpoint.empty())
    return "a program has no weights; give --weights or --checkpoint";
  bool comparesProgram =
      !baseline.empty() && sourceFormat(baseline).stage == SourceStage::Program;
  if (!defines.defines.empty() && !isProgram && !comparesProgram)
    return "--define is for programs; a package is compiled already";
  bool hasBaselineWeights =
      !baselineCheckpoint.empty() || !baselineWeights.empty();
  if (baseline.empty() && hasBaselineWeights)
    return "--baseline-checkpoint and --baseline-weights are for --baseline";
  if (!baselineCheckpoint.empty() && !baselineWeights.empty())
    return "--baseline-checkpoint takes no --baseline-weights, because a "
           "checkpoint has weights";
  if (comparesProgram && !hasBaselineWeights)
    return "the program of --baseline has no weights; give --baseline-weights "
           "or --baseline-checkpoint";
  return "";
}

ExitCode Evaluate::run(const Invocation &call) {
  if (model.package.empty())
    return call.usageError("no model; see ane-run evaluate --help");
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) { return evaluate(diags); });
}

constinit const CommandDef commands::Evaluate = {
    .name = "evaluate",
    .group = commands::models,
    .summary = "Measure the loss and the perplexity of a text",
    .synopsis = "MODEL.anepkg|.tdsl",
    .usual = "weights checkpoint data tokenizer baseline window stride "
             "json backend threads",
    .examples =
        R"(  ane-run evaluate forward.anepkg --checkpoint run --data=book.txt
  ane-run evaluate qwen3.tdsl --weights=qwen3 --tokenizer=qwen3 --data=wiki.txt --stride=512
  ane-run evaluate int4.anepkg --baseline=fp16.anepkg --tokenizer=qwen3 --data=wiki.txt
  ane-run evaluate tuned.anepkg --weights=base.safetensors --adapter=run/best/weights.safetensors --data=test.bin --json
)",
    .make = makeCommand<::Evaluate>,
};
