//===- ProgramFlags.cpp - flags of commands that take a program -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramFlags.h"
#include "anec/Formats/Source.h"
#include "anec/anec.h"
#include "lib/Runtime/ProgramRun.h"

using namespace anec;

std::string ProgramFlags::check() const {
  std::string wrong = shapes.check();
  return wrong.empty() ? fixed.check() : wrong;
}

bool ProgramFlags::isPackage() const {
  return sourceFormat(program).stage == SourceStage::Package;
}

std::optional<LoadedProgram>
ProgramFlags::load(llvm::ArrayRef<std::string> inputs, bool onlyToLook,
                   Diagnostics &diags) const {
  CompileOptions options;
  options.shapes = shapes.values();
  if (!fixesReference)
    options.values = fixed.values();
  appendFiles(inputs, options.shapes, options.values);
  if (instance.getNumOccurrences())
    options.instance = instance;
  if (onlyToLook)
    options.missingWeights = MILReadOptions::MissingWeights::Warn;
  LoadedProgram loaded;
  options.function = function;
  options.onlyDefaultFunction = true;
  options.part = part.value();
  options.suppresses = true;
  options.defersChecksums = looksAtNoElements;
  options.description = &loaded.description;
  loaded.module = readSourceFile(program, options, diags);
  if (loaded.module)
    loaded.function = findFunctionToRun(*loaded.module, function, diags);
  if (!loaded.function ||
      (!onlyToLook && !hasWeightValues(*loaded.function, diags)))
    return std::nullopt;
  return loaded;
}

static std::string checkSources(llvm::StringRef flag,
                                llvm::ArrayRef<std::string> arguments) {
  for (const std::string &argument : arguments) {
    auto [name, source] = llvm::StringRef(argument).split('=');
    if (name.empty() || source.empty())
      return (flag + " takes NAME=SOURCE, not `" + argument + "`").str();
  }
  return "";
}

std::string InputFlags::check() const {
  std::string wrong = checkSources("--input", inputs);
  return wrong.empty() ? checkSources("--state", states) : wrong;
}

WeightOptions WeightFlags::options(std::shared_ptr<Executor> executor) const {
  WeightOptions options;
  options.executor = std::move(executor);
  options.source = weights;
  options.mapping = mapping;
  options.adapter = adapter;
  if (seed.getNumOccurrences())
    options.seed = seed;
  return options;
}
