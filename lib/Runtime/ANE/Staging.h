//===- Staging.h - a program in the compiler's folder -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine's compiler reads `model.mil` and weight files from a folder that
/// the framework names after the program, and that must exist before compiling.
/// The text ends with a digest of itself and its weights, as blanks, so that
/// equal names mean equal programs. All entries of the folder are files and
/// folders, and no links.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_STAGING_H
#define ANEC_LIB_RUNTIME_ANE_STAGING_H

#include "anec/Runtime/Backend.h"

namespace anec::ane {

/// The path of the first weight file, or the only one, as the text has it.
inline constexpr llvm::StringLiteral weightPathInText =
    "@model_path/weights/weight.bin";

/// Files of a program, in a folder that is removed with it.
class StagedProgram {
public:
  /// Writes `function` as a program of version `milVersion` into a new folder
  /// inside `parent`, its arrays into no more than `mostWeightFiles`. `salt`
  /// distinguishes programs that do not share compiled files. Returns nothing,
  /// with the reason reported, on failure.
  [[nodiscard]] static std::optional<StagedProgram>
  write(const Function &function, llvm::StringRef milVersion,
        unsigned mostWeightFiles, llvm::StringRef parent, llvm::StringRef salt,
        Executor &executor, Diagnostics &diags);
  /// The same with `program` as it is.
  [[nodiscard]] static std::optional<StagedProgram>
  writeText(const ProgramText &program, llvm::StringRef parent,
            llvm::StringRef salt, Diagnostics &diags);
  /// Opens files that another process staged and keeps.
  [[nodiscard]] static std::optional<StagedProgram> open(llvm::StringRef folder,
                                                         Diagnostics &diags);
  StagedProgram(StagedProgram &&other) noexcept;
  StagedProgram &operator=(StagedProgram &&) = delete;
  /// Removes the folder, unless it is kept.
  ~StagedProgram();

  /// Moves the folder to `path`. A program that is there already has the same
  /// name: if it has the same files, byte for byte, it stays, with its compiled
  /// files.
  [[nodiscard]] bool moveTo(llvm::StringRef path, Diagnostics &diags);
  void keep() { kept = true; }
  /// The same program with the same name in a new folder inside `parent`:
  /// unloading removes folders. `weights` gives the bytes of a weight file by
  /// its path in the text, or nothing.
  [[nodiscard]] std::optional<StagedProgram>
  again(llvm::StringRef parent,
        llvm::function_ref<std::optional<llvm::StringRef>(llvm::StringRef)>
            weights,
        Diagnostics &diags) const;

  const std::string &folder() const { return where; }
  /// A name for the folder of the program. Only equal programs with equal salt
  /// have the same name.
  const std::string &name() const { return ownName; }
  const std::string &text() const { return milText; }
  /// The file of the text.
  std::string textFile() const;
  /// The digest of the text without salt, and of the weights.
  const std::string &digest() const { return contentDigest; }
  /// The paths of weight files as the text has them.
  llvm::ArrayRef<std::string> weightPaths() const { return paths; }
  /// The staged file of one of them.
  std::string weightFile(llvm::StringRef pathInText) const;

private:
  StagedProgram() = default;
  [[nodiscard]] static std::optional<StagedProgram>
  makeFolder(llvm::StringRef parent, Diagnostics &diags);
  /// Finds the paths in the text.
  void readPaths();
  [[nodiscard]] bool computeDigest(Diagnostics &diags);
  bool isSameAt(llvm::StringRef path) const;

  std::string where, ownName, milText, contentDigest;
  std::vector<std::string> paths;
  bool kept = false;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_STAGING_H
