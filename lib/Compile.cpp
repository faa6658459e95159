//===- Compile.cpp - the embedding API ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Frontend/Frontend.h"
#include "anec/IR/Text.h"
#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/Diags.h"
#include "anec/Target/Check.h"
#include "anec/anec.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What Core ML's compiler makes of a model: a folder with the text, its
/// weights, and more that is not needed here.
static bool isCompiledModel(llvm::StringRef path) {
  return path.rtrim('/').ends_with(".mlmodelc");
}

SourceKind anec::sourceKind(llvm::StringRef path) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".ir")
    return SourceKind::IR;
  return extension == ".mil" || isCompiledModel(path) ? SourceKind::MIL
                                                      : SourceKind::TDSL;
}

std::unique_ptr<Module> anec::readSource(llvm::StringRef text, SourceKind kind,
                                         llvm::StringRef folder,
                                         const CompileOptions &options,
                                         Diagnostics &diags) {
  switch (kind) {
  case SourceKind::TDSL:
    return parseTDSL(text, {options.defines}, opTable(), diags);
  case SourceKind::IR: {
    std::unique_ptr<Module> module = parseIR(text, opTable(), diags);
    if (!module || !module->functions.empty())
      return module;
    llvm::SMLoc begin = llvm::SMLoc::getFromPointer(text.begin());
    diags.report({begin, begin}, diag::NoKernel);
    return nullptr;
  }
  case SourceKind::MIL:
    return readMIL(
        text, folder, opTable(), diags,
        {.missingWeights = options.missingWeights, .shapes = options.shapes});
  }
  return nullptr;
}

std::unique_ptr<Module> anec::readSourceFile(llvm::StringRef path,
                                             const CompileOptions &options,
                                             Diagnostics &diags) {
  llvm::SmallString<128> file(path);
  if (isCompiledModel(path))
    llvm::sys::path::append(file, "model.mil");
  std::optional<llvm::StringRef> text = diags.addFile(file);
  if (!text)
    return nullptr;
  return readSource(*text, sourceKind(file), llvm::sys::path::parent_path(file),
                    options, diags);
}

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
                                     SourceKind kind,
                                     const CompileOptions &options,
                                     Diagnostics &diags,
                                     std::vector<PassReport> *reports) {
  // What was read as MIL is a whole program already.
  if (kind != SourceKind::MIL || !options.kernel.empty()) {
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
  if (version.empty() && kind != SourceKind::MIL)
    version = options.passes.target->milVersion.value.str();
  return Package{std::move(module), std::move(*weights), version,
                 kind == SourceKind::MIL ? MILPrintOptions::Placement::Keep
                                         : MILPrintOptions::Placement::Gather,
                 mostWeightFiles(options.passes)};
}

/// Compiles what was read, by the default pipeline when no passes are named.
static std::optional<Package> compileSource(std::unique_ptr<Module> module,
                                            SourceKind kind,
                                            CompileOptions options,
                                            Diagnostics &diags) {
  if (!module)
    return std::nullopt;
  if (options.passes.passes.empty() && kind != SourceKind::MIL)
    options.passes.passes = defaultPipeline().vec();
  return compile(std::move(module), kind, options, diags);
}

std::optional<Package> anec::compileFile(llvm::StringRef path,
                                         const CompileOptions &options,
                                         Diagnostics &diags) {
  return compileSource(readSourceFile(path, options, diags), sourceKind(path),
                       options, diags);
}

std::optional<Package> anec::compileText(llvm::StringRef text,
                                         llvm::StringRef name,
                                         const CompileOptions &options,
                                         Diagnostics &diags) {
  llvm::StringRef copy =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name));
  SourceKind kind = sourceKind(name);
  return compileSource(readSource(copy, kind,
                                  llvm::sys::path::parent_path(name), options,
                                  diags),
                       kind, options, diags);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool Package::write(llvm::StringRef path, Diagnostics &diags) const {
  MILPrintOptions options;
  options.version = milVersion;
  options.mostWeightFiles = mostWeightFiles;
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
