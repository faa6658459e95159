//===- Staging.cpp - a program where the compiler reads it ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Staging.h"
#include "anec/IR/Clone.h"
#include "anec/MIL/Printer.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/AtomicFile.h"
#include "anec/Support/Digest.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::ane;
namespace fs = llvm::sys::fs;

static std::string join(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static bool failed(llvm::StringRef path, std::error_code code,
                   Diagnostics &diags) {
  if (code)
    diags.reportFile(path, diag::AneStaging, code.message());
  return bool(code);
}

static llvm::ArrayRef<uint8_t> asBytes(llvm::StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// A module with `function` alone.
static std::unique_ptr<Module> moduleOf(const Function &function,
                                        llvm::StringRef milVersion) {
  auto module = std::make_unique<Module>();
  module->version = milVersion.str();
  Function *copy = module->addFunction(FunctionKind::Kernel, "main");
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  return module;
}

static bool writeText(llvm::StringRef folder, llvm::StringRef text,
                      Diagnostics &diags) {
  AtomicFiles files(diags);
  OutputFile *file = files.add(join(folder, "model.mil"));
  if (!file)
    return false;
  *file << text;
  return files.commit();
}

std::optional<StagedProgram>
StagedProgram::write(const Function &function, llvm::StringRef milVersion,
                     llvm::StringRef parent, llvm::StringRef salt,
                     Diagnostics &diags) {
  StagedProgram program;
  llvm::SmallString<128> folder;
  if (failed(parent,
             fs::createUniqueDirectory(join(parent, "anec"), folder), diags))
    return std::nullopt;
  program.where = folder.str().str();

  std::unique_ptr<Module> module = moduleOf(function, milVersion);
  MILPrintOptions options;
  options.weightPath = weightPathInText.str();
  std::string file = join(folder, "weights/weight.bin");
  AtomicFiles files(diags);
  if (!addWeightFile(*module, file, options, files, diags) || !files.commit())
    return std::nullopt;
  program.hasWeights = fs::exists(file);
  // The folder is part of what the compiler expects, even when it is empty.
  if (failed(file, fs::create_directories(join(folder, "weights")), diags))
    return std::nullopt;

  auto print = [&] {
    program.milText.clear();
    llvm::raw_string_ostream out(program.milText);
    return printMIL(*module, out, options, diags);
  };
  if (!print())
    return std::nullopt;
  std::unique_ptr<llvm::MemoryBuffer> weights;
  llvm::StringRef weightBytes;
  if (program.hasWeights) {
    auto mapped = llvm::MemoryBuffer::getFile(
        file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (failed(file, mapped.getError(), diags))
      return std::nullopt;
    weights = std::move(*mapped);
    weightBytes = weights->getBuffer();
  }
  llvm::ArrayRef<uint8_t> parts[] = {asBytes(program.milText),
                                     asBytes(weightBytes)};
  program.contentDigest = sha256(parts);
  module->buildInfo = {{"coremlc-component-MIL", "3510.2.1"},
                       {"coremlc-version", "3505.4.1"},
                       {"coremltools-component-milinternal", ""},
                       {"coremltools-version", "9.0"},
                       {"anec-digest", program.contentDigest}};
  if (!salt.empty())
    module->buildInfo.push_back({"anec-process", salt.str()});
  if (!print() || !writeText(folder, program.milText, diags))
    return std::nullopt;
  return program;
}

std::optional<StagedProgram> StagedProgram::open(llvm::StringRef folder,
                                                 Diagnostics &diags) {
  StagedProgram program;
  program.where = folder.str();
  program.kept = true;
  std::string path = join(folder, "model.mil");
  auto text = llvm::MemoryBuffer::getFile(path);
  if (failed(path, text.getError(), diags))
    return std::nullopt;
  program.milText = (*text)->getBuffer().str();
  program.hasWeights = fs::exists(join(folder, "weights/weight.bin"));
  return program;
}

StagedProgram::StagedProgram(StagedProgram &&other) noexcept
    : where(std::exchange(other.where, "")),
      milText(std::move(other.milText)),
      contentDigest(std::move(other.contentDigest)),
      hasWeights(other.hasWeights), kept(other.kept) {}

StagedProgram::~StagedProgram() {
  // Nothing can be done about a folder that does not go.
  if (!kept && !where.empty())
    (void)fs::remove_directories(where);
}

std::string StagedProgram::weightFile() const {
  return hasWeights ? join(where, "weights/weight.bin") : "";
}

bool StagedProgram::moveTo(llvm::StringRef path, Diagnostics &diags) {
  if (path == where)
    return true;
  if (fs::exists(join(path, "model.mil"))) {
    (void)fs::remove_directories(where);
    where = path.str();
    return true;
  }
  if (failed(path, fs::rename(where, path), diags))
    return false;
  where = path.str();
  return true;
}

bool StagedProgram::isThere() const {
  return fs::exists(join(where, "model.mil"));
}

bool StagedProgram::restoreText(Diagnostics &diags) {
  std::error_code code = fs::create_directories(join(where, "weights"));
  return !failed(where, code, diags) && writeText(where, milText, diags);
}
