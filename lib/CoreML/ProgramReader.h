//===- ProgramReader.h - ML programs to IR ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PROGRAMREADER_H
#define ANEC_LIB_COREML_PROGRAMREADER_H

#include "Messages.h"
#include "ValueReader.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Support/Listing.h"
#include "llvm/Support/StringSaver.h"

namespace anec::coreml {

/// Reads the functions of a serialized `Program` into a module. Errors are
/// reported; functions that return false cannot continue. `place` is the part
/// of the file that has the program: empty, or `part 1, `.
class ProgramReader {
public:
  ProgramReader(ValueReader &values, mil::FunctionBinder &binder,
                const proto::ModelDescription &description, Module &module,
                Listing &listing, llvm::StringRef place, Diagnostics &diags)
      : values(values), binder(binder), description(description),
        module(module), listing(listing), place(place.str()), diags(diags),
        names(storage) {}

  /// Reads the function `only`, or all when it is empty.
  bool read(Bytes program, llvm::StringRef only, SourceRange file);

private:
  bool readAttribute(Bytes entry, SourceRange file);
  bool readBuildInfo(const proto::Value &value);
  bool readFunction(llvm::StringRef name, Bytes message, SourceRange file);
  bool readParameters(llvm::ArrayRef<Bytes> inputs, llvm::StringRef function,
                      SourceRange range);
  void describeShapes(llvm::StringRef function);
  bool readBody(Bytes block, llvm::StringRef function, SourceRange range);
  bool readStatements(Bytes block, llvm::StringRef function, SourceRange range);
  bool readOperation(const proto::Operation &message, llvm::StringRef function,
                     mil::Statement &statement);
  bool readBlock(Bytes bytes, llvm::StringRef function, SourceRange range,
                 mil::Block &block);
  bool readArgument(llvm::StringRef name, const proto::Argument &message,
                    mil::Argument &argument, SourceRange range);
  bool readDeclaration(const proto::NamedValueType &message, SourceRange range,
                       mil::ResultDeclaration &declaration);
  /// A name that lives as long as this reader.
  bool readName(llvm::StringRef name, SourceRange range, llvm::StringRef &kept);
  bool malformed(llvm::StringRef what, SourceRange range);

  ValueReader &values;
  mil::FunctionBinder &binder;
  const proto::ModelDescription &description;
  Module &module;
  Listing &listing;
  std::string place;
  Diagnostics &diags;
  llvm::BumpPtrAllocator storage;
  llvm::StringSaver names;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PROGRAMREADER_H
