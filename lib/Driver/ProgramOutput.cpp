//===- ProgramOutput.cpp - a program of .tdsl -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/SourceWeights.h"
#include "lib/API/Diags.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Driver/Build.h"
#include "lib/Frontend/ProgramWriter.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace anec;

/// `net.names.json` beside `net.tdsl`.
static std::string beside(llvm::StringRef path, llvm::StringRef ending) {
  llvm::SmallString<128> other(path);
  llvm::sys::path::replace_extension(other, ending);
  return other.str().str();
}

static std::string headingOf(const BuildRequest &request,
                             const OutputPlace &place, bool isModel) {
  std::string source = llvm::sys::path::filename(request.input).str();
  std::string own =
      place.isStream() ? "NAME" : llvm::sys::path::stem(place.path).str();
  std::string heading = "Made of " + source + ".";
  if (place.isStream())
    return heading;
  heading += " " + own + ".safetensors has its weights, and " + own +
             ".names.json\nthe names that they have there.\n\n  anec " + own +
             ".tdsl" + (isModel ? "" : " --weights=" + own + ".safetensors") +
             " -o " + own + (isModel ? ".anepkg" : ".mil");
  if (isModel)
    heading += "\n  ane-run train " + own + ".anepkg --weights=" + own +
               ".safetensors";
  return heading;
}

/// The arrays of the program, each once: weights that are tied have one.
static Safetensors arraysOf(const WrittenProgram &program,
                            const WeightValues &values) {
  Safetensors arrays;
  llvm::StringMap<ConstantRef> all;
  for (const auto &[name, value] : program.constants)
    all[name] = value;
  llvm::StringSet<> written;
  for (const auto &[own, name] : program.weights) {
    ConstantRef value = all.lookup(name);
    if (!value)
      value = values.lookup(name);
    // Weights of the language have extents.
    if (value && value->type().isScalar())
      value = value->reshaped({1});
    if (value && written.insert(name).second)
      arrays.arrays.push_back({name, value});
  }
  return arrays;
}

static bool writeFiles(const WrittenProgram &program, const Safetensors &arrays,
                       llvm::StringRef path, Diagnostics &diags) {
  llvm::json::Object names;
  for (const auto &[own, name] : program.weights)
    names[own] = name;
  llvm::StringSet<> ofConstants;
  for (const auto &[name, value] : program.constants)
    ofConstants.insert(name);
  llvm::json::Array constants;
  for (const auto &[own, name] : program.weights)
    if (ofConstants.contains(name))
      constants.push_back(own);
  if (!constants.empty())
    names[mappedConstants] = std::move(constants);
  AtomicFiles files(diags);
  OutputFile *text = files.add(path);
  OutputFile *map = text ? files.add(beside(path, "names.json")) : nullptr;
  OutputFile *weights = map ? files.add(beside(path, "safetensors")) : nullptr;
  if (!weights)
    return false;
  *text << program.text;
  *map << llvm::formatv("{0:2}", llvm::json::Value(std::move(names))) << "\n";
  return writeSafetensors(*weights, arrays) && files.commit();
}

/// Whether no file of others is where the files beside the program go: they
/// replace those of a program of the same name, and nothing that was read.
static bool canReplace(const BuildRequest &request, const OutputPlace &place,
                       Diagnostics &diags) {
  namespace fs = llvm::sys::fs;
  if (place.isStream())
    return true;
  const WeightOptions &weights = request.options.weights;
  for (llvm::StringRef ending : {"safetensors", "names.json"}) {
    std::string path = beside(place.path, ending);
    if (!fs::exists(path))
      continue;
    llvm::StringRef why;
    if (fs::equivalent(path, request.input) ||
        fs::equivalent(path, weights.source) ||
        fs::equivalent(path, weights.mapping))
      why = ", which is read";
    else if (!fs::exists(place.path))
      why = ", which is not of a program of that name";
    if (why.empty())
      continue;
    diags.reportFile(path, diag::ProgramReplaces, why);
    return false;
  }
  return true;
}

static bool compileToProgram(std::unique_ptr<Module> module,
                             const BuildRequest &request,
                             const OutputPlace &place, BuildResult &result,
                             Diagnostics &diags) {
  const CompileOptions &options = request.options;
  const SourceFormat &format = sourceFormat(request.input);
  if (format.stage != SourceStage::MIL) {
    diags.reportFile(request.input, diag::ProgramAlready);
    return false;
  }
  if (!canReplace(request, place, diags))
    return false;
  bool isModel = options.objective.has_value();
  if (!isModel && module->functions.size() != 1) {
    diags.report({}, diag::ProgramFunctions, int64_t(module->functions.size()));
    return false;
  }
  auto run = [&](std::vector<const PassDef *> list) {
    PassManagerOptions passes = options.passes;
    passes.passes = std::move(list);
    return runPasses(*module, passes, diags, &result.reports);
  };
  if (options.precision == DType::FP16 && !isModel && !run({&passes::Narrow}))
    return false;
  if (!isModel && !module->functions.front()->parameters().empty())
    callFromHost(*module);
  if (!run(request.passesOr({&passes::FoldConstants, &passes::CSE, &passes::DCE,
                             &passes::FindLayers, &passes::DCE})))
    return false;
  if (!isModel)
    takeFromHost(*module);
  std::optional<WrittenProgram> program =
      writeProgram(*module, headingOf(request, place, isModel), diags);
  if (!program)
    return false;
  if (place.isStream())
    return place.write([&](llvm::raw_ostream &out) { out << program->text; },
                       diags);
  return writeFiles(*program,
                    arraysOf(*program, options.sourceWeights->values()),
                    place.path, diags);
}

constinit const OutputFormat outputs::Program = {
    .name = "tdsl",
    .ending = ".tdsl",
    .summary = "a program of a model that others wrote, with its weights "
               "beside it",
    .takes = requests::objective |
             RequestFlags{RequestFlag::Passes, RequestFlag::Precision},
    .compile = compileToProgram,
};
