//===- Imports.cpp - a file with those that it imports --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Imports.h"
#include "lib/Frontend/Diags.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Support/ReadFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace anec;
using namespace anec::frontend;

/// Each level uses stack, and each file memory.
static constexpr size_t maxFiles = 256;

namespace {

class Importer {
public:
  explicit Importer(Diagnostics &diags) : diags(diags) {}

  /// Adds the files that `text` imports, and its own blocks.
  void add(llvm::StringRef text);
  std::unique_ptr<Program> take() { return std::move(program); }
  /// Marks a file as read; false when it was.
  bool isNew(const llvm::sys::fs::UniqueID &id) {
    return seen.insert(id).second;
  }
  /// The file that `range` is in; empty for a text without one.
  std::string fileOf(SourceRange range) const {
    std::optional<SourcePlace> place = diags.locate(range);
    return place ? place->file.str() : std::string();
  }

private:
  void import(const ast::Import &import);

  Diagnostics &diags;
  std::unique_ptr<Program> program = std::make_unique<Program>();
  std::set<llvm::sys::fs::UniqueID> seen;
  bool tooMany = false; ///< this was reported
};

} // namespace

void Importer::import(const ast::Import &import) {
  llvm::SmallString<256> path;
  if (!llvm::sys::path::is_absolute(import.path.text))
    path = llvm::sys::path::parent_path(fileOf(import.path.range()));
  llvm::sys::path::append(path, import.path.text);
  auto refuse = [&](const std::string &why) {
    diags.report(import.path.range(), diag::CannotImport, path.str(), why);
  };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return refuse(error.message());
  if (!isNew(status.getUniqueID()))
    return;
  if (seen.size() > maxFiles) {
    if (!tooMany)
      diags.report(import.path.range(), diag::TooManyImports, maxFiles);
    tooMany = true;
    return;
  }
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readText(path, error);
  if (!buffer)
    return refuse(error);
  add(diags.addBuffer(std::move(buffer)));
}

void Importer::add(llvm::StringRef text) {
  std::unique_ptr<ast::File> file = parseSyntax(text, diags);
  if (!file)
    return;
  for (const ast::Import &import : file->imports)
    this->import(import);
  llvm::append_range(program->merged.config, file->config);
  llvm::append_range(program->merged.constants, file->constants);
  llvm::append_range(program->merged.functions, file->functions);
  program->files.push_back(std::move(file));
}

std::unique_ptr<Program> frontend::parseProgram(llvm::StringRef text,
                                                Diagnostics &diags) {
  size_t errorsBefore = diags.errorCount();
  Importer importer(diags);
  // A file can be imported by one that it imports.
  llvm::sys::fs::UniqueID id;
  llvm::SMLoc begin = llvm::SMLoc::getFromPointer(text.begin());
  if (!llvm::sys::fs::getUniqueID(importer.fileOf({begin, begin}), id))
    (void)importer.isNew(id);
  importer.add(text);
  return diags.errorCount() == errorsBefore ? importer.take() : nullptr;
}
