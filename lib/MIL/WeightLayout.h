//===- WeightLayout.h - placement of constants ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_WEIGHTLAYOUT_H
#define ANEC_LIB_MIL_WEIGHTLAYOUT_H

#include "anec/MIL/Printer.h"
#include "lib/MIL/Blob.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace anec {
class AtomicFiles;
class OutputFile;
} // namespace anec

namespace anec::mil {

/// The location of a constant in a weight file.
struct WeightPlace {
  llvm::StringRef path;
  uint64_t offset;
};

/// Decides for every constant of the printed functions whether it is in the
/// text or in a weight file, and at which offset. This happens before printing,
/// whether or not the file is written.
class WeightLayout {
public:
  explicit WeightLayout(const MILPrintOptions &options) : options(options) {}

  /// Places all constants of `function`; `opset` determines which element types
  /// a file can hold.
  void add(const Function &function, llvm::StringRef opset);

  /// The place of a constant, or nothing when it is in the text.
  std::optional<WeightPlace> find(const Constant &constant) const;
  /// The place of the value of a `weight` op.
  WeightPlace find(const Op &weight) const;

  bool hasRecords() const { return !records.empty(); }
  bool hasConstants() const {
    return llvm::any_of(records,
                        [](const Record &record) { return !record.weight; });
  }
  /// Calls `visit` for the records that hold weights, with the first op of
  /// each.
  void forEachWeight(
      llvm::function_ref<void(const Op &weight, uint64_t offset)> visit) const;
  /// Adds the files to `files`, the first as `name` in `folder`; returns false
  /// when one cannot be written or a value is unknown, which is reported.
  /// `resolve`, which can be empty, returns the values that were unknown so
  /// far.
  [[nodiscard]] bool write(llvm::StringRef folder, llvm::StringRef name,
                           const ResolveWeight &resolve, AtomicFiles &files,
                           Diagnostics &diags) const;

private:
  struct Record {
    ConstantRef value; ///< null when it is not known
    const Op *weight;  ///< null for a constant
    TensorType type;
    std::string name;
    SourceRange range;
    size_t file;
    uint64_t offset;
  };
  [[nodiscard]] bool areKnown(const ResolveWeight &resolve,
                              Diagnostics &diags) const;
  bool belongsInFile(const Constant &constant, bool isParameter,
                     llvm::StringRef opset) const;
  void addWeight(const Op &op);
  size_t recordOf(const Constant &constant, const Op *weight,
                  llvm::StringRef name, SourceRange range);
  size_t addRecord(Record record);
  WeightPlace placeOf(const Record &record) const {
    return {paths[record.file], record.offset};
  }

  const MILPrintOptions &options;
  /// For each file, its layout and its path in the text.
  std::vector<BlobLayout> layouts;
  std::deque<std::string> paths;
  std::vector<Record> records;
  llvm::DenseMap<const Constant *, size_t> ofConstant;
  llvm::DenseMap<const Op *, size_t> ofWeight;
  /// Arrays that share their bytes, and `weight` ops whose views have the same
  /// elements in the same order, share a record.
  llvm::DenseMap<std::pair<const void *, std::pair<unsigned, uint64_t>>, size_t>
      ofBytes;
  llvm::StringMap<size_t> ofView;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_WEIGHTLAYOUT_H
