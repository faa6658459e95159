//===- TextPrinter.h - prints MIL text --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_TEXTPRINTER_H
#define ANEC_LIB_MIL_TEXTPRINTER_H

#include "lib/MIL/ProgramSink.h"
#include "lib/MIL/Spelling.h"
#include "llvm/Support/raw_ostream.h"

namespace anec::mil {

class TextPrinter : public ProgramSink {
public:
  TextPrinter(llvm::raw_ostream &out, Scalars scalars)
      : out(out), scalars(scalars) {}

  void
  printHeader(llvm::StringRef version,
              llvm::ArrayRef<std::pair<std::string, std::string>> buildInfo);
  void printFooter() { out << "}\n"; }

  void beginFunction(llvm::StringRef name, llvm::StringRef opset,
                     llvm::ArrayRef<WrittenDeclaration> parameters) override;
  void addStatement(const WrittenStatement &statement) override;
  void endFunction(llvm::ArrayRef<llvm::StringRef> results) override;

private:
  void printDeclaration(const WrittenDeclaration &declaration);
  void printList(const Constant &values);
  void printArgument(const WrittenArgument &argument);
  void printAttributes(const WrittenStatement &statement);
  void printBlock(const WrittenBlock &block);

  llvm::raw_ostream &out;
  const Scalars scalars;
  unsigned depth = 2; ///< of indentation
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_TEXTPRINTER_H
