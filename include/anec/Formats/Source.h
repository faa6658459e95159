//===- Source.h - source formats --------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A table of the source formats, which are selected by the ending of a path
/// or by what is there.
/// Code outside the readers uses the row of a format instead of comparing
/// endings.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_FORMATS_SOURCE_H
#define ANEC_FORMATS_SOURCE_H

#include "anec/Formats/RequestFlags.h"
#include "anec/IR/IR.h"
#include "anec/MIL/Reader.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/NamedFiles.h"
#include <optional>

namespace anec {

/// How a source is read. A format ignores options that do not apply to it.
struct ReadOptions : MILReadOptions {
  /// Overrides of `config` entries in a .tdsl program: name and value.
  std::vector<std::pair<std::string, std::string>> defines;
  /// Which instance of a repeated layer, for the text of a package's kernel.
  std::optional<int64_t> instance;
  /// Say what reading decided, as remarks.
  bool remarks = false;
};

struct SourceFormat;

/// An opened source.
struct Source {
  const SourceFormat *format; ///< never null
  /// The given path, or the file with the text in that folder.
  std::string path;
  /// Owned by the Diagnostics; empty when the format has no text.
  llvm::StringRef text;
};

/// How far programs of a format are compiled already.
enum class SourceStage : uint8_t {
  Program, ///< a program to compile
  MIL,     ///< a whole MIL program; only requested passes or a target change it
  Package, ///< a compiled model: its schedule, which declares the kernels
};

/// A row of the table of formats.
struct SourceFormat {
  llvm::StringLiteral name = "";    ///< `mil`
  llvm::StringLiteral ending = "";  ///< `.mil`
  llvm::StringLiteral summary = ""; ///< for lists of formats; no period
  SourceStage stage = SourceStage::Program;
  /// Whether the precision of sources is that of a training, and Core ML
  /// packages of them are in fp16 unless another is asked for. Other sources
  /// say themselves what they compute in.
  bool isOfTraining = false;
  /// Whether negative indices count from the end, which MIL does not allow from
  /// ios17 on: `readSource` makes them count from the start.
  bool countsFromEnd = false;
  /// Whether sources are what Core ML loads or makes of it.
  bool isOfCoreML = false;
  /// Whether sources are folders with that ending.
  bool isFolder = false;
  /// The file of the folder that has the text; empty when there is none.
  llvm::StringLiteral textFile = "";
  /// Whether sources are files that are no text; `read` opens them.
  bool isBinary = false;
  /// Whether what is at a path has this format, for paths without a known
  /// ending; null when that cannot be told.
  bool (*matches)(llvm::StringRef path) = nullptr;
  /// What changes the program that is read, whatever becomes of it.
  RequestFlags reads = {};
  /// What changes the outputs of such programs that take it, too, and what else
  /// does so of programs that --loss makes models.
  RequestFlags compiles = {}, compilesWithLoss = {};
  /// Returns null, with the reason reported, when the source is not
  /// well-formed.
  std::unique_ptr<Module> (*read)(const Source &source,
                                  const ReadOptions &options,
                                  Diagnostics &diags) = nullptr;
};

llvm::ArrayRef<SourceFormat> sourceFormats();
/// The format of the source at `path`, by its ending, or else by its contents;
/// .tdsl for `-`, which is standard input, and for what no format has.
const SourceFormat &sourceFormat(llvm::StringRef path);

/// Opens the source at `path`. Returns nothing, with the reason reported, when
/// there is none.
[[nodiscard]] std::optional<Source> openSource(llvm::StringRef path,
                                               Diagnostics &diags);
/// A source in memory. `text` must be owned by `diags` and end in a zero byte;
/// the ending of `path` selects its format.
Source textSource(llvm::StringRef text, llvm::StringRef path);

/// Reads `source`. Returns null, with the reason reported, when it is not
/// well-formed. The weight files of a MIL program are in the folder of
/// `source.path`.
[[nodiscard]] std::unique_ptr<Module> readSource(const Source &source,
                                                 const ReadOptions &options,
                                                 Diagnostics &diags);
/// Calls openSource and readSource.
[[nodiscard]] std::unique_ptr<Module> readSourceFile(llvm::StringRef path,
                                                     const ReadOptions &options,
                                                     Diagnostics &diags);
/// Reads the MIL program `name` of `files`, which have its weight files too.
[[nodiscard]] std::unique_ptr<Module>
readMILOf(const NamedFiles &files, llvm::StringRef name, Diagnostics &diags);

} // namespace anec

#endif // ANEC_FORMATS_SOURCE_H
