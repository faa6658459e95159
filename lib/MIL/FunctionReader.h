//===- FunctionReader.h - reads functions of MIL text -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_FUNCTIONREADER_H
#define ANEC_LIB_MIL_FUNCTIONREADER_H

#include "ValueReader.h"
#include "lib/MIL/FunctionBinder.h"

namespace anec::mil {

/// Reads the functions of a program. Reading continues after errors, so that
/// one run reports the errors of all statements.
class FunctionReader {
public:
  FunctionReader(ValueReader &reader, FunctionBinder &binder,
                 Diagnostics &diags);

  /// Reads `func name<opset>(parameters) { ... } -> (results);`. Returns false
  /// when reading cannot continue.
  bool read();

private:
  bool parseHeader();
  bool parseOpset(Token &opset);
  bool parseParameters();
  bool parseFunctionAttributes();
  bool parseBody();
  bool parseResults(llvm::function_ref<void(const Token &)> add);
  bool parseStatement(Statement &statement);
  bool parseResultDeclarations(Statement &statement);
  bool parseArguments(Statement &statement);
  bool parseArgument(Argument &argument);
  bool parseArgumentValue(Argument &argument);
  bool parseAttributes(Statement &statement);
  bool parseBlocks(Statement &statement);
  bool parseBlock(Block &block);
  bool parseBlockInputs(Block &block);
  bool skipBlock();
  bool finishStatement();
  void skipStatement(const Statement &statement);

  ValueReader &reader;
  Lexer &lexer;
  FunctionBinder &binder;
  Diagnostics &diags;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_FUNCTIONREADER_H
