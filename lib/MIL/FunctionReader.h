//===- FunctionReader.h - reads functions of MIL text -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_FUNCTIONREADER_H
#define ANEC_LIB_MIL_FUNCTIONREADER_H

#include "FlexibleShapes.h"
#include "ValueReader.h"
#include "anec/IR/Builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace anec::mil {

/// The meaning of a name in the text.
struct Symbol {
  Value *value = nullptr; ///< null after an error, so that its uses report none
  ConstantRef constant;   ///< of a `const`
  SourceRange range;
  /// A `const` that became part of the ops it feeds, and is possibly unused
  /// itself.
  bool folded = false;
};

/// A name or an immediate value in an argument.
struct ArgumentValue {
  llvm::StringRef name; ///< empty for an immediate
  ConstantRef constant;
  SourceRange range;
};

/// `name = value`, or `name = (value, ...)`.
struct Argument {
  llvm::StringRef name;
  SourceRange range;
  llvm::SmallVector<ArgumentValue, 1> values;
};

/// `type name`, left of the `=`.
struct ResultDeclaration {
  llvm::StringRef name;
  ParsedType type;
  SourceRange range; ///< of the name
};

/// A statement as written, before its op is looked up.
struct Statement {
  llvm::SmallVector<ResultDeclaration, 1> results;
  llvm::StringRef opName;
  SourceRange opRange;
  SourceRange range; ///< the op with its arguments
  llvm::SmallVector<Argument, 8> arguments;
  llvm::SmallVector<Argument, 4> attributes;
};

/// Reads functions into a module. Reading continues after errors, so that one
/// run reports the errors of all statements.
class FunctionReader {
public:
  FunctionReader(ValueReader &reader, Module &module, const OpTable &ops,
                 RequestedShapes &requested, Diagnostics &diags);

  /// Reads `func name<opset>(parameters) { ... } -> (results);`. Returns false
  /// when reading cannot continue.
  bool read();

private:
  // Syntax (FunctionReader.cpp).
  bool parseHeader();
  bool parseOpset(llvm::StringRef &opset);
  bool parseParameters();
  bool parseFunctionAttributes();
  void bindParameterShapes();
  void ignoreAttribute(llvm::StringRef name, SourceRange range);
  bool parseBody();
  bool parseResults();
  bool parseStatement(Statement &statement);
  bool parseResultDeclarations(Statement &statement);
  bool parseArguments(Statement &statement);
  bool parseArgument(Argument &argument);
  bool parseArgumentValue(Argument &argument);
  bool parseAttributes(Statement &statement);
  bool finishStatement();
  void skipStatement(const Statement &statement);
  void eraseFoldedConstants();
  void eraseFoldedOps();

  // Semantics (Binding.cpp).
  void bind(const Statement &statement);
  bool bindConst(const Statement &statement);
  bool bindOp(const Statement &statement);
  const OpDef *findOp(const Statement &statement);
  bool bindArguments(const OpDef &def, const Statement &statement);
  bool bindAttributes(const OpDef &def, const Statement &statement);
  bool bindArgument(const OpDef &def, const Argument &argument,
                    const Statement &statement);
  bool bindConstant(const OpDef &def, unsigned slot, const Argument &argument);
  bool bindValues(const OpDef &def, unsigned slot, const Argument &argument,
                  const Statement &statement);
  bool isConstant(const Argument &argument) const;
  Value *makeConst(const ConstantRef &value, llvm::StringRef name,
                   SourceRange range);
  bool checkResults(const Statement &statement, const Op &op);
  void computeValues(const Op &op);
  const Constant *knownValue(const Value *value) const;
  void reportUnknownParameter(const OpDef &def, const Argument &argument);
  Symbol *lookup(llvm::StringRef name, SourceRange range);
  Symbol &define(llvm::StringRef name, SourceRange range, Value *value);

  ValueReader &reader;
  Lexer &lexer;
  Module &module;
  const OpTable &ops;
  RequestedShapes &requested;
  Diagnostics &diags;
  const size_t errorsBefore;

  Function *function = nullptr;
  std::optional<Builder> builder;
  llvm::MapVector<llvm::StringRef, Symbol> symbols;
  llvm::DenseMap<llvm::StringRef, const OpDef *> knownOps;
  llvm::StringMap<bool> ignoredAttributes; ///< those with a reported warning
  bool ignoredAnalysis = false; ///< a warning for isAnalysis was reported

  // Of the function being read.
  std::vector<FlexibleParameter> flexible;
  FlexibleShapes shapes;
  /// Values that depend only on constants and shapes.
  llvm::DenseMap<const Value *, ConstantRef> computedValues;
  /// The ops that compute them, and whether a constant parameter uses one of
  /// their results.
  llvm::DenseMap<const Op *, bool> computedOps;

  // Slots of the op being bound.
  llvm::SmallVector<Value *, 8> operands;
  llvm::SmallVector<ConstantRef, 8> constants;
  llvm::SmallVector<llvm::StringRef, 12> given; ///< parameters seen
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_FUNCTIONREADER_H
