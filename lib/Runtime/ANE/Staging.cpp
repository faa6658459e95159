//===- Staging.cpp - a program in the compiler's folder -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Staging.h"
#include "../Apple/Measures.h"
#include "anec/MIL/Outline.h"
#include "anec/MIL/Printer.h"
#include "anec/Support/MappedFile.h"
#include "lib/IR/Clone.h"
#include "lib/MIL/Blob.h"
#include "lib/MIL/Canonical.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Blanks.h"
#include "lib/Support/Digest.h"
#include "lib/Support/FileName.h"
#include "lib/Support/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::ane;
using apple::Measure, apple::takes;
namespace fs = llvm::sys::fs;

static bool failed(llvm::StringRef path, std::error_code code,
                   Diagnostics &diags) {
  if (code)
    diags.reportFile(path, diag::AneStaging, code.message());
  return bool(code);
}

static llvm::ArrayRef<uint8_t> asBytes(llvm::StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

static llvm::StringRef asText(llvm::ArrayRef<uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The path of a weight file in its folder, by that in the text.
static llvm::StringRef inFolder(llvm::StringRef pathInText) {
  pathInText.consume_front("@model_path/");
  return pathInText;
}

static std::string nameOf(llvm::StringRef digest, llvm::StringRef salt) {
  return ("anec-" + digest + (salt.empty() ? "" : "-") + salt).str();
}

/// A module with only `function`, whose constants are those that the engine
/// computes with: the numbers beside them would be a key of `buildInfo`.
static std::unique_ptr<Module> moduleOf(const Function &function,
                                        llvm::StringRef milVersion) {
  auto module = std::make_unique<Module>();
  module->version = milVersion.str();
  Function *copy = module->addFunction(FunctionKind::Kernel, "main");
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  roundDerivedConstants(*copy);
  return module;
}

static bool addFile(llvm::StringRef folder, llvm::StringRef name,
                    llvm::StringRef content, AtomicFiles &files) {
  OutputFile *file = files.add(folder, name);
  if (file)
    *file << content;
  return file != nullptr;
}

static bool writeFile(llvm::StringRef folder, llvm::StringRef text,
                      Diagnostics &diags) {
  AtomicFiles files(diags);
  return addFile(folder, "model.mil", text, files) && files.commit();
}

/// A line that makes the text of a program its own, and shows whose it is to
/// those who look for it: blanks, because a key of `buildInfo` that no compiler
/// has seen could be refused.
static std::string trailer(llvm::StringRef digest, llvm::StringRef salt) {
  return asBlanks(("anec " + digest + " " + salt).str()) + '\n';
}

std::optional<StagedProgram> StagedProgram::makeFolder(llvm::StringRef parent,
                                                       Diagnostics &diags) {
  StagedProgram program;
  llvm::SmallString<128> folder;
  if (failed(parent, fs::createUniqueDirectory(pathIn(parent, "anec"), folder),
             diags))
    return std::nullopt;
  program.where = folder.str().str();
  // The folder is part of what the compiler expects, even when it is empty.
  if (failed(program.where, fs::create_directories(pathIn(folder, "weights")),
             diags))
    return std::nullopt;
  return program;
}

void StagedProgram::readPaths() {
  for (const OutlineBlob &blob : outlineMIL(milText).blobs)
    if (!llvm::is_contained(paths, blob.path.text))
      paths.push_back(blob.path.text.str());
}

/// Whether each array of the text has a record whose data follow its header.
/// With a pointer that is the same in all records, arrays would be equal.
[[maybe_unused]] static bool hasRecords(const StagedProgram &program) {
  Diagnostics ignored;
  return llvm::all_of(
      outlineMIL(program.text()).blobs, [&](const OutlineBlob &blob) {
        std::optional<BlobReader> file =
            BlobReader::open(program.weightFile(blob.path.text), {}, ignored);
        std::optional<BlobRecord> record =
            file && blob.offset ? file->record(*blob.offset, {}, ignored)
                                : std::nullopt;
        return record && record->dataOffset == record->offset + 64;
      });
}

/// Computes the digest of the text and the weight files.
bool StagedProgram::computeDigest(Diagnostics &diags) {
  std::vector<MappedFile> buffers;
  std::vector<llvm::ArrayRef<uint8_t>> parts = {asBytes(milText)};
  for (const std::string &path : paths) {
    buffers.push_back(mapFile(weightFile(path), diags));
    if (!buffers.back())
      return false;
    parts.push_back(bytesOf(*buffers.back()));
  }
  contentDigest = sha256(parts);
  return true;
}

std::optional<StagedProgram>
StagedProgram::write(const Function &function, llvm::StringRef milVersion,
                     unsigned mostWeightFiles, llvm::StringRef parent,
                     llvm::StringRef salt, Executor &executor,
                     Diagnostics &diags) {
  std::optional<StagedProgram> made = makeFolder(parent, diags);
  if (!made)
    return std::nullopt;
  StagedProgram &program = *made;
  std::unique_ptr<Module> module = moduleOf(function, milVersion);
  MILPrintOptions options;
  options.weightPath = weightPathInText.str();
  options.mostWeightFiles = mostWeightFiles;
  options.executor = &executor;
  // What no known caller writes, to see that it would be seen.
  if (!takes(Measure::KnownKeys))
    module->buildInfo = {{"anec-digest", ""}};
  AtomicFiles files(diags);
  std::optional<PlacedMIL> placed = PlacedMIL::place(*module, options, diags);
  if (!placed ||
      !placed->addWeightFile(program.where, inFolder(weightPathInText),
                             /*resolve=*/nullptr, files, diags) ||
      !files.commit())
    return std::nullopt;
  llvm::raw_string_ostream out(program.milText);
  placed->printText(out);
  program.readPaths();
  assert(hasRecords(program) && "weight files that name other data");
  if (!program.computeDigest(diags))
    return std::nullopt;
  program.ownName = nameOf(program.contentDigest, salt);
  program.milText += trailer(program.contentDigest, salt);
  if (!writeFile(program.where, program.milText, diags))
    return std::nullopt;
  return made;
}

std::optional<StagedProgram>
StagedProgram::writeText(const ProgramText &program, llvm::StringRef parent,
                         llvm::StringRef salt, Diagnostics &diags) {
  std::optional<StagedProgram> made = makeFolder(parent, diags);
  if (!made)
    return std::nullopt;
  std::vector<llvm::ArrayRef<uint8_t>> parts = {asBytes(program.text)};
  AtomicFiles files(diags);
  for (const ProgramText::WeightFile &weights : program.weightFiles) {
    llvm::StringRef inside = inFolder(weights.path);
    if (!isFilePath(inside)) {
      diags.reportFile(weights.path, diag::AneStaging,
                       "the path leads out of the program's folder");
      return std::nullopt;
    }
    if (!addFile(made->where, inside, asText(weights.bytes), files))
      return std::nullopt;
    made->paths.push_back(weights.path);
    parts.push_back(asBytes(weights.path));
    parts.push_back(weights.bytes);
  }
  if (!files.commit())
    return std::nullopt;
  made->contentDigest = sha256(parts);
  made->ownName = nameOf(made->contentDigest, salt);
  made->milText = program.text + trailer(made->contentDigest, salt);
  if (!writeFile(made->where, made->milText, diags))
    return std::nullopt;
  return made;
}

std::optional<StagedProgram> StagedProgram::open(llvm::StringRef folder,
                                                 Diagnostics &diags) {
  StagedProgram program;
  program.where = folder.str();
  program.ownName = llvm::sys::path::filename(folder).str();
  program.kept = true;
  std::string path = pathIn(folder, "model.mil");
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = readText(path, error);
  if (!text) {
    diags.reportFile(path, diag::AneStaging, error);
    return std::nullopt;
  }
  program.milText = text->getBuffer().str();
  program.readPaths();
  return program;
}

std::optional<StagedProgram> StagedProgram::again(
    llvm::StringRef parent,
    llvm::function_ref<std::optional<llvm::StringRef>(llvm::StringRef)> weights,
    Diagnostics &diags) const {
  std::optional<StagedProgram> made = makeFolder(parent, diags);
  if (!made)
    return std::nullopt;
  made->ownName = ownName;
  made->milText = milText;
  made->contentDigest = contentDigest;
  made->paths = paths;
  AtomicFiles files(diags);
  for (const std::string &path : paths) {
    std::optional<llvm::StringRef> bytes = weights(path);
    if (!bytes) {
      diags.reportFile(weightFile(path), diag::AneStaging,
                       "the file is gone, and nothing else has its weights");
      return std::nullopt;
    }
    if (!addFile(made->where, inFolder(path), *bytes, files))
      return std::nullopt;
  }
  if (!addFile(made->where, "model.mil", milText, files) || !files.commit())
    return std::nullopt;
  return made;
}

StagedProgram::StagedProgram(StagedProgram &&other) noexcept
    : where(std::exchange(other.where, "")), ownName(std::move(other.ownName)),
      milText(std::move(other.milText)),
      contentDigest(std::move(other.contentDigest)),
      paths(std::move(other.paths)), kept(other.kept) {}

StagedProgram::~StagedProgram() {
  // A folder that cannot be removed is left.
  if (!kept && !where.empty())
    removeTree(where);
}

/// The weight file in a folder, by its path in the text.
static std::string fileIn(llvm::StringRef folder, llvm::StringRef pathInText) {
  return pathIn(folder, inFolder(pathInText));
}

std::string StagedProgram::textFile() const {
  return pathIn(where, "model.mil");
}

std::string StagedProgram::weightFile(llvm::StringRef pathInText) const {
  return fileIn(where, pathInText);
}

static bool sameBytes(llvm::StringRef path, llvm::StringRef expected) {
  // The framework of macOS 27 refuses bundles with links.
  if (takes(Measure::NoLinks) && fs::is_symlink_file(path))
    return false;
  std::string error;
  MappedFile file = mapFile(path, error);
  return file && (file->getBuffer() == expected || !takes(Measure::SameBytes));
}

/// macOS 27 compares the digests of staged files with those of the descriptor.
bool StagedProgram::isSameAt(llvm::StringRef path) const {
  return sameBytes(pathIn(path, "model.mil"), milText) &&
         llvm::all_of(paths, [&](const std::string &pathInText) {
           std::string error;
           MappedFile own = mapFile(weightFile(pathInText), error);
           return own && sameBytes(fileIn(path, pathInText), own->getBuffer());
         });
}

/// Removes what is at `path`, a folder or a link.
static void removeAt(llvm::StringRef path) {
  if (fs::is_symlink_file(path))
    (void)fs::remove(path);
  else
    removeTree(path);
}

bool StagedProgram::moveTo(llvm::StringRef path, Diagnostics &diags) {
  bool isLink = takes(Measure::NoLinks) && fs::is_symlink_file(path);
  // The same folder, in any spelling.
  if (path == where || (!isLink && fs::equivalent(path, where)))
    return true;
  auto becomes = [&] {
    where = path.str();
    return true;
  };
  if (!isLink && !fs::rename(where, path))
    return becomes();
  if (!isLink && isSameAt(path)) {
    removeTree(where);
    return becomes();
  }
  // A system that clears temporary folders may have removed some of the files,
  // and a process that was ended may have left parts of them.
  removeAt(path);
  return !failed(path, fs::rename(where, path), diags) && becomes();
}
