//===- Convert.cpp - anec convert WEIGHTS ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Convert.h"
#include "../ExitCode.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Package/ScheduleWalk.h"
#include "anec/Train/LlamaWeights.h"
#include "anec/anec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("anec convert options");
cl::SubCommand command("convert", "Write weights under the names of others");

cl::opt<std::string> input(cl::Positional,
                           cl::desc("WEIGHTS.safetensors|.bin|FOLDER"),
                           cl::sub(command), cl::cat(category));
cl::opt<std::string> output("o", cl::value_desc("FILE|FOLDER"),
                            cl::desc("What to write: .bin is llama2.c's, a "
                                     "folder Hugging Face's with config.json"),
                            cl::sub(command), cl::cat(category));

#define FORMATS                                                                \
  cl::values(clEnumValN(WeightFormat::Anec, "anec", "attention.3.wq, ..."),    \
             clEnumValN(WeightFormat::HuggingFace, "hf",                       \
                        "model.layers.3.self_attn.q_proj.weight, ..."),        \
             clEnumValN(WeightFormat::Llama2c, "llama2c", "llama2.c's file"))
cl::opt<WeightFormat> from("from",
                           cl::desc("What there is (default: what it "
                                    "looks like):"),
                           FORMATS, cl::sub(command), cl::cat(category));
cl::opt<WeightFormat> to("to",
                         cl::desc("What to write (default: anec, but for .bin "
                                  "and folders):"),
                         FORMATS, cl::sub(command), cl::cat(category));
#undef FORMATS

cl::opt<std::string> config(
    "config", cl::value_desc("MODEL.tdsl|.anepkg"),
    cl::desc("The model: its sizes have to be those of the weights, which do "
             "not tell the number of heads"),
    cl::sub(command), cl::cat(category));
cl::list<std::string> defines("define", cl::value_desc("NAME=VALUE"),
                              cl::desc("Override a `config` entry of it"),
                              cl::sub(command), cl::cat(category));

} // namespace

void anec::hideFlagsInConvert() { cl::HideUnrelatedOptions(category, command); }

static void
readSizes(llvm::ArrayRef<std::pair<std::string, std::string>> values,
          LlamaHints &hints) {
  for (const auto &[name, value] : values)
    if (int64_t number; !llvm::StringRef(value).getAsInteger(10, number))
      hints.sizes[name] = number;
}

/// What the program says of its weights: their classifier, and the style of
/// rotary embedding.
static void readProgram(const Module &module, LlamaHints &hints) {
  hints.hasClassifier = false;
  for (const auto &function : module.functions)
    for (const Op &op : function->body()) {
      if (op.is(ops::Rope) && op.get(param::style) == "half_split")
        hints.rope = RopeStyle::HalfSplit;
      if (op.is(ops::Weight) && op.get(param::name).ends_with(".classifier"))
        hints.hasClassifier = true;
    }
  for (const Function *entry : entryPoints(module))
    if (entry->kind == FunctionKind::Host) {
      hints.model = llvm::StringRef(entry->name).split('.').first.str();
      break;
    }
}

static bool readPackageHints(LlamaHints &hints, Diagnostics &diags) {
  std::optional<ModelPackage> package =
      readPackage(config, diags, PackageCheck::Presence);
  if (!package)
    return false;
  readSizes(package->config, hints);
  hints.hasClassifier =
      llvm::any_of(package->weights, [](const PackagedWeight &weight) {
        return llvm::StringRef(weight.name).ends_with(".classifier");
      });
  hints.model =
      llvm::StringRef(package->entries.front()).split('.').first.str();
  return true;
}

static bool readHints(LlamaHints &hints, Diagnostics &diags) {
  hints.source = config;
  if (config.empty())
    return true;
  if (isPackagePath(config))
    return readPackageHints(hints, diags);
  CompileOptions options;
  for (const std::string &define : defines) {
    auto [name, value] = llvm::StringRef(define).split('=');
    options.defines.emplace_back(name.str(), value.str());
  }
  std::unique_ptr<Module> module = readSourceFile(config, options, diags);
  if (!module)
    return false;
  readSizes(module->config, hints);
  readProgram(*module, hints);
  return true;
}

/// By --to, or by the name of what is written.
static WeightFormat outputFormat() {
  if (to.getNumOccurrences())
    return to;
  llvm::StringRef path = output;
  if (path.ends_with(".bin"))
    return WeightFormat::Llama2c;
  return path.ends_with(".safetensors") ? WeightFormat::Anec
                                        : WeightFormat::HuggingFace;
}

static bool convert(Diagnostics &diags) {
  LlamaHints hints;
  if (!readHints(hints, diags))
    return false;
  WeightFormat format =
      from.getNumOccurrences() ? WeightFormat(from) : guessWeightFormat(input);
  std::optional<LlamaWeights> weights =
      readLlamaWeights(input, format, hints, diags);
  return weights &&
         writeLlamaWeights(*weights, output, outputFormat(), hints, diags);
}

std::optional<int> anec::runConvertCommand() {
  if (!command)
    return std::nullopt;
  if (input.empty() || output.empty())
    return usageError("anec", "convert takes weights and -o; see anec convert "
                              "--help");
  for (const std::string &define : defines)
    if (!llvm::StringRef(define).contains('='))
      return usageError("anec",
                        "--define takes NAME=VALUE, not `" + define + "`");
  Diagnostics diags;
  bool ok = convert(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}
