//===- Printer.h - IR to MIL text and weights ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Prints kernels in the dialect that every known reader of MIL takes: each
/// parameter a named const, arguments sorted, floats exact. What is printed
/// reads back as the same module, and prints as the same bytes again.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_PRINTER_H
#define ANEC_MIL_PRINTER_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include <functional>

namespace anec {

class AtomicFiles;
class Executor;

/// The value of a `weight` op, or null with the reason reported.
using ResolveWeight = std::function<ConstantRef(const Op &weight)>;

struct MILPrintOptions {
  /// `1.0` or `1.3`, which spell scalars differently; empty for the module's
  /// own.
  std::string version;
  /// `ios15` to `ios18`; empty for the function's own, but `ios16` instead of
  /// `ios18` in a program of version 1.0, which has none.
  std::string opset;
  /// Prints this function alone, as `main`; null prints all kernels.
  const Function *only = nullptr;

  /// Where constants go. `Keep` leaves each where it came from, the text or a
  /// weight file. `Gather` puts all large ones into the file at `weightPath`,
  /// as coremltools does. Values of `weight` ops go there in either case.
  enum class Placement : uint8_t { Keep, Gather };
  Placement placement = Placement::Gather;
  /// The weight file as the text names it.
  std::string weightPath = "@model_path/weights/weight.bin";
  /// An array to each file, `weight.bin`, `weight.1.bin`, ..., as far as so
  /// many files go; then several share one again.
  unsigned mostWeightFiles = 1;
  /// Without it no value is known, which is all right as long as nothing is
  /// written to the weight file.
  ResolveWeight resolve;
  /// Whose workers write the weight file; null for the calling thread alone.
  Executor *executor = nullptr;
};

/// Prints the text alone; false when the module has an op that is no MIL, which
/// is reported. Offsets are those that writing would give.
[[nodiscard]] bool printMIL(const Module &module, llvm::raw_ostream &out,
                            const MILPrintOptions &options, Diagnostics &diags);

/// Writes `path` and, beside it, `weights/STEM.bin` if there is anything to put
/// into it: both or, after an error, none. `options.weightPath` and
/// `options.placement` follow from that.
[[nodiscard]] bool writeMIL(const Module &module, llvm::StringRef path,
                            const MILPrintOptions &options, Diagnostics &diags);
/// Adds the text and the weight file to `files`, for whoever commits them.
[[nodiscard]] bool addMIL(const Module &module, llvm::StringRef textPath,
                          llvm::StringRef weightFile,
                          const MILPrintOptions &options, AtomicFiles &files,
                          Diagnostics &diags);

/// A program whose constants have their places: one text, and any number of
/// weight files that fit it. Views of weights decide the places, not values:
/// `weight` ops whose views have the same elements in the same order share a
/// record.
class PlacedMIL {
public:
  /// Places the constants of `module`, which outlives this. `options.resolve`
  /// is not called. Nothing when the module has an op that is no MIL, which is
  /// reported.
  [[nodiscard]] static std::optional<PlacedMIL>
  place(const Module &module, MILPrintOptions options, Diagnostics &diags);
  PlacedMIL(PlacedMIL &&);
  ~PlacedMIL();

  void printText(llvm::raw_ostream &out) const;

  /// A record of the weight file with the elements of a weight.
  struct Record {
    const Op *weight; ///< the first op that reads it
    uint64_t offset;
  };
  /// In the order of the file.
  std::vector<Record> weights() const;
  /// Whether the text names a weight file.
  bool needsWeightFile() const;
  /// Adds a weight file with these values, which become `weightFile`. False
  /// when one is not known, which is reported.
  [[nodiscard]] bool addWeightFile(llvm::StringRef weightFile,
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
