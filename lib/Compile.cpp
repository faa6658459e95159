//===- Compile.cpp - the embedding API ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Formats/Source.h"
#include "anec/MIL/Printer.h"
#include "anec/Package/Diags.h"
#include "anec/Target/Check.h"
#include "anec/anec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The functions that can become a MIL program.
static std::vector<Function *> kernels(const Module &module) {
  std::vector<Function *> result;
  for (const auto &function : module.functions)
    if (function->kind != FunctionKind::Host && !function->isDeclaration())
      result.push_back(function.get());
  return result;
}

static std::string listNames(llvm::ArrayRef<Function *> functions) {
  std::vector<std::string> names;
  for (const Function *function : functions)
    names.push_back("`" + function->name + "`");
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// Where to point when something is wrong with the program as a whole.
static SourceRange firstPlace(const Module &module) {
  return module.functions.empty() ? SourceRange()
                                  : module.functions.front()->range;
}

/// The kernel to compile; null, with a diagnostic, when it is not clear which.
static Function *chooseKernel(const Module &module, llvm::StringRef wanted,
                              Diagnostics &diags) {
  std::vector<Function *> candidates = kernels(module);
  if (!wanted.empty()) {
    for (Function *function : candidates)
      if (function->name == wanted)
        return function;
    diags.report(firstPlace(module), diag::NoSuchKernel, wanted,
                 listNames(candidates));
    return nullptr;
  }
  for (const auto &function : module.functions)
    if (function->kind == FunctionKind::Host && function->range.isValid()) {
      diags.report(function->range, diag::ModelNotCompiled, function->name,
                   listNames(candidates));
      return nullptr;
    }
  if (candidates.size() == 1)
    return candidates.front();
  if (candidates.empty())
    diags.report(firstPlace(module), diag::NoKernel);
  else
    diags.report(candidates[1]->range, diag::SeveralKernels,
                 listNames(candidates));
  return nullptr;
}

bool anec::selectKernel(Module &module, llvm::StringRef name,
                        Diagnostics &diags) {
  Function *kernel = chooseKernel(module, name, diags);
  if (!kernel)
    return false;
  llvm::erase_if(module.functions,
                 [&](const auto &other) { return other.get() != kernel; });
  return true;
}

/// Some say that M1 wants an array to each file, others that it does not: one
/// file unless the user denies that.
static unsigned mostWeightFiles(const PassManagerOptions &options) {
  const Rule &rule = rules::OneRecordPerFile;
  bool isDenied = rule.appliesTo(*options.target) &&
                  llvm::is_contained(options.assumptions.denied, &rule);
  return isDenied ? options.target->limits.weightFiles.value : 1;
}

std::optional<Package> anec::compile(std::unique_ptr<Module> module,
                                     const SourceFormat &format,
                                     const CompileOptions &options,
                                     Diagnostics &diags,
                                     std::vector<PassReport> *reports) {
  // What was read as MIL is a whole program already.
  bool isMIL = format.stage == SourceStage::MIL;
  if (!isMIL || !options.kernel.empty()) {
    if (!selectKernel(*module, options.kernel, diags))
      return std::nullopt;
    // One kernel is one MIL program, whose function is called so.
    module->functions[0]->kind = FunctionKind::Kernel;
    module->functions[0]->name = "main";
  }
  std::optional<WeightBinding> weights =
      WeightBinding::open(options.weights, diags);
  if (!weights || !runPasses(*module, options.passes, diags, reports))
    return std::nullopt;
  std::string version = options.milVersion;
  if (version.empty() && !isMIL)
    version = options.passes.target->milVersion.value.str();
  return Package{std::move(module), std::move(*weights), version,
                 isMIL ? MILPrintOptions::Placement::Keep
                       : MILPrintOptions::Placement::Gather,
                 mostWeightFiles(options.passes)};
}

/// Compiles a source, by the default pipeline when no passes are named.
static std::optional<Package> compileSource(const Source &source,
                                            CompileOptions options,
                                            Diagnostics &diags) {
  std::unique_ptr<Module> module = readSource(source, options, diags);
  if (!module)
    return std::nullopt;
  if (options.passes.passes.empty() && source.format->stage != SourceStage::MIL)
    options.passes.passes = defaultPipeline().vec();
  return compile(std::move(module), *source.format, options, diags);
}

std::optional<Package> anec::compileFile(llvm::StringRef path,
                                         const CompileOptions &options,
                                         Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  return source ? compileSource(*source, options, diags) : std::nullopt;
}

std::optional<Package> anec::compileText(llvm::StringRef text,
                                         llvm::StringRef name,
                                         const CompileOptions &options,
                                         Diagnostics &diags) {
  llvm::StringRef copy =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name));
  return compileSource(textSource(copy, name), options, diags);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool Package::write(llvm::StringRef path, Diagnostics &diags) const {
  MILPrintOptions options;
  options.version = milVersion;
  options.mostWeightFiles = mostWeightFiles;
  options.executor = &weights.executor();
  options.resolve = [&](const Op &weight) {
    return weights.resolve(weight, diags);
  };
  return writeMIL(*program, path, options, diags);
}

bool Package::print(llvm::raw_ostream &out, Diagnostics &diags) const {
  MILPrintOptions options;
  options.version = milVersion;
  options.mostWeightFiles = mostWeightFiles;
  options.placement = placement;
  return printMIL(*program, out, options, diags);
}
