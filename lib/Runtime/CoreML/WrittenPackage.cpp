//===- WrittenPackage.cpp - a function as a package on disk ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WrittenPackage.h"
#include "anec/Passes/PassManager.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/Clone.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace anec::coreml;

/// A copy of `function` called `main`.
static std::unique_ptr<Module> copyAlone(const Function &function) {
  auto module = std::make_unique<Module>();
  Function *copy = module->addFunction(FunctionKind::Kernel, plainFunction);
  copy->opset = function.opset;
  copy->range = function.range;
  ValueMap map;
  cloneBody(function, *copy, map);
  return module;
}

/// The paths of all files in the folder `path`, sorted.
static std::vector<std::string> filesIn(llvm::StringRef path) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(path, code), end;
       it != end && !code; it.increment(code))
    if (it->type() == llvm::sys::fs::file_type::regular_file)
      files.push_back(
          llvm::StringRef(it->path()).drop_front(path.size() + 1).str());
  llvm::sort(files);
  return files;
}

/// The digests of the package's files; empty, with the reason reported, when
/// one cannot be read.
static std::string digestOf(llvm::StringRef path, Diagnostics &diags) {
  std::error_code code;
  std::optional<Folder> folder = Folder::open(path, code);
  std::string error = folder ? "" : code.message(), digest;
  for (llvm::StringRef file : filesIn(path))
    if (error.empty())
      if (auto found = digestOfFile(*folder, file, error))
        digest += found->blake3;
  if (error.empty())
    return digest;
  diags.reportFile(path, diag::CannotOpen, error);
  return "";
}

std::optional<WrittenPackage> WrittenPackage::write(const Function &function,
                                                    Executor &executor,
                                                    Diagnostics &diags) {
  WrittenPackage written;
  written.folder = TemporaryFolder::create(diags);
  if (!written.folder)
    return std::nullopt;
  written.path = written.folder->file("program.mlpackage");
  std::unique_ptr<Module> module = copyAlone(function);
  PassManagerOptions passes;
  passes.passes = coreMLPipeline(/*countsFromEnd=*/false);
  if (!runPasses(*module, passes, diags))
    return std::nullopt;
  CoreMLWriteOptions options;
  options.executor = &executor;
  if (!writeCoreMLPackage(*module, written.path, options, diags))
    return std::nullopt;
  written.digest = digestOf(written.path, diags);
  if (written.digest.empty())
    return std::nullopt;
  // Writing has given inputs and outputs types that arrays of Core ML have.
  const Function &packaged = *module->functions.front();
  for (auto [param, stored] :
       llvm::zip_equal(function.parameters(), packaged.parameters()))
    (param->holder == Holder::State ? written.states : written.inputs)
        .push_back({{param->name, param->type}, stored->type.dtype});
  for (unsigned i = 0; i < function.numResults(); ++i)
    written.outputs.push_back(
        {{function.resultNames()[i], function.result(i)->type},
         packaged.result(i)->type.dtype});
  return written;
}
