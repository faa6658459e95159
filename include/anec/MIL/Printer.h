//===- Printer.h - IR to MIL text and weights ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Prints kernels in the dialect that every known reader of MIL accepts: each
/// parameter a named const, arguments sorted, floats exact. The output reads
/// back as the same module, and prints again as the same bytes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_PRINTER_H
#define ANEC_MIL_PRINTER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>

namespace anec {

class AtomicFiles;
class Executor;
namespace mil {
class ProgramSink;
}

/// Returns the value of a `weight` op, or null with the reason reported.
using ResolveWeight = std::function<ConstantRef(const Op &weight)>;

struct MILPrintOptions {
  /// `1.0` or `1.3`, which spell scalars differently; empty for the module's
  /// own.
  std::string version;
  /// `ios15` to `ios18`; empty for the function's own, except `ios16` instead
  /// of `ios18` in a program of version 1.0, which does not have it.
  std::string opset;
  /// Prints only this function, as `main`; null prints all kernels.
  const Function *only = nullptr;

  /// Where constants are written. `Keep` leaves each where it was read from,
  /// the text or a weight file. `Gather` puts all large ones into the file at
  /// `weightPath`, as coremltools does. Values of `weight` ops are always
  /// written there.
  enum class Placement : uint8_t { Keep, Gather };
  Placement placement = Placement::Gather;
  /// The path of the weight file in the text.
  std::string weightPath = "@model_path/weights/weight.bin";
  /// The maximum number of weight files. Each array gets its own file,
  /// `weight.bin`, `weight.1.bin`, ..., up to this number; further arrays share
  /// them.
  unsigned mostWeightFiles = 1;
  /// Without it no values are known, so nothing can be written to the weight
  /// file.
  ResolveWeight resolve;
  /// Called after each record of a weight file is written, to release what it
  /// was written from. May be null.
  std::function<void()> written;
  /// Its workers write the weight file; null for the calling thread only.
  Executor *executor = nullptr;
};

/// The `buildInfo` of texts whose source has none: the version of the dialect,
/// by the keys of Apple's compiler, which every known caller of the engine has,
/// and no other keys, which a compiler could refuse.
std::vector<std::pair<std::string, std::string>> ownBuildInfo();

/// Prints only the text; returns false when the module has an op that is not
/// MIL, which is reported. Offsets are the same as when writing the weight
/// file.
[[nodiscard]] bool printMIL(const Module &module, llvm::raw_ostream &out,
                            const MILPrintOptions &options, Diagnostics &diags);

/// Writes `path` and, next to it, `weights/STEM.bin` if it has any contents:
/// both or, after an error, neither. `options.weightPath` and
/// `options.placement` are set accordingly.
[[nodiscard]] bool writeMIL(const Module &module, llvm::StringRef path,
                            const MILPrintOptions &options, Diagnostics &diags);
/// The same for the file `name` in `folder`: the user named only the folder, so
/// that a link is not followed.
[[nodiscard]] bool writeMIL(const Module &module, llvm::StringRef folder,
                            llvm::StringRef name,
                            const MILPrintOptions &options, Diagnostics &diags);
/// The same for the file `name` in the root of `files`, which it commits.
[[nodiscard]] bool writeMIL(const Module &module, AtomicFiles &files,
                            llvm::StringRef name,
                            const MILPrintOptions &options, Diagnostics &diags);

/// A program whose constants have been placed: one text, and any number of
/// weight files that fit it. Placement depends on the views of weights, not on
/// values: `weight` ops whose views have the same elements in the same order
/// share a record.
class PlacedMIL {
public:
  /// Places the constants of `module`, which must outlive this.
  /// `options.resolve` is not called. Returns nothing when the module has an op
  /// that is not MIL, which is reported.
  [[nodiscard]] static std::optional<PlacedMIL>
  place(const Module &module, MILPrintOptions options, Diagnostics &diags);
  PlacedMIL(PlacedMIL &&) noexcept;
  ~PlacedMIL();

  void printText(llvm::raw_ostream &out) const;
  /// Prints the text of the functions that `emit` gives to its sink.
  void printText(llvm::raw_ostream &out,
                 llvm::function_ref<void(mil::ProgramSink &)> emit) const;
  /// Gives the functions to `sink`.
  void emit(mil::ProgramSink &sink) const;

  /// A record of the weight file with the elements of a weight.
  struct Record {
    const Op *weight; ///< the first op that reads it
    uint64_t offset;
  };
  /// In the order of the file.
  std::vector<Record> weights() const;
  /// Whether the text refers to a weight file.
  bool needsWeightFile() const;
  /// Whether the weight file has weights alone, so that a program with equal
  /// records, in the same order, has the same file.
  bool hasOnlyWeights() const;
  /// Adds the weight file `name` in `folder` with these values. Returns false
  /// when one is not known, which is reported.
  [[nodiscard]] bool addWeightFile(llvm::StringRef folder, llvm::StringRef name,
                                   const ResolveWeight &resolve,
                                   AtomicFiles &files,
                                   Diagnostics &diags) const;

private:
  struct Impl;
  explicit PlacedMIL(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace anec

#endif // ANEC_MIL_PRINTER_H
