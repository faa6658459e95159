//===- ProgramStatistics.h - ops and types of a program ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PROGRAMSTATISTICS_H
#define ANEC_LIB_COREML_PROGRAMSTATISTICS_H

#include "lib/MIL/ProgramSink.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace anec::coreml {

/// What a function does, in the words of Core ML's compiler.
struct FunctionStatistics {
  std::string name;
  /// The number of ops by name, such as `Ios17.sliceByIndex`; without `const`.
  std::map<std::string, unsigned> operations;
  /// The types of numbers that ops take and return, such as `Float16`.
  std::set<std::string> computed;
  /// The forms of arrays in weight files: `Float16`, `Palettized (4 bits)`.
  std::set<std::string> stored;
};

/// `Float16`, `Mixed (Float16, Int32)`, or nothing for no types.
std::string describeTypes(const std::set<std::string> &types);

/// Counts the ops of each function, and passes it on to another sink.
class ProgramStatistics : public mil::ProgramSink {
public:
  explicit ProgramStatistics(mil::ProgramSink &next) : next(next) {}

  void
  beginFunction(llvm::StringRef name, llvm::StringRef opset,
                llvm::ArrayRef<mil::WrittenDeclaration> parameters) override;
  void addStatement(const mil::WrittenStatement &statement) override;
  void endFunction(llvm::ArrayRef<llvm::StringRef> results) override;

  const std::vector<FunctionStatistics> &functions() const { return all; }

private:
  const TensorType *mainArray(const mil::WrittenStatement &statement);
  void addUnpacked(const mil::WrittenStatement &statement);
  void addComputed(const TensorType &type);
  const TensorType *typeOf(const mil::WrittenArgument &argument) const;

  mil::ProgramSink &next;
  std::vector<FunctionStatistics> all;
  // Of the function that is being written.
  unsigned opset = 0;
  llvm::StringMap<TensorType> types; ///< of values, by name
  /// The forms of `const` arrays in weight files, by name.
  llvm::StringMap<std::string> stored;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PROGRAMSTATISTICS_H
