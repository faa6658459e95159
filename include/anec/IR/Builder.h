//===- Builder.h - the way to make ops -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Makes an op from a row: fills in the constants that are not given, checks
/// the parameters' domains, infers the result types, and inserts it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_BUILDER_H
#define ANEC_IR_BUILDER_H

#include "anec/IR/OpDef.h"
#include <concepts>

namespace anec {

/// A constant for a parameter.
struct Attr {
  ConstantParam param;
  ConstantRef value;

  Attr(const ConstantParam &param, ConstantRef value)
      : param(param), value(std::move(value)) {}
  Attr(const ConstantParam &param, const Constant *value)
      : param(param), value(value) {}
  // A template, so that no pointer becomes a boolean.
  template <std::same_as<bool> Bool>
  Attr(const BoolParam &param, Bool value)
      : param(param), value(Constant::boolean(value)) {}
  Attr(const IntParam &param, int64_t value)
      : param(param), value(Constant::int32(value)) {}
  Attr(const IntsParam &param, llvm::ArrayRef<int64_t> values)
      : param(param), value(Constant::int32s(values)) {}
  Attr(const StringParam &param, llvm::StringRef value)
      : param(param), value(Constant::string(value)) {}
};

class Builder {
public:
  /// Builds at the end of `function`. Errors go to `diags`; passes, which only
  /// build what is known to be right, give none and get an assertion.
  explicit Builder(Function &function, Diagnostics *diags = nullptr)
      : function(&function), diags(diags) {}

  /// New ops go before `op` (null: to the end), with its source range.
  void setInsertionPoint(Op *op);
  void setRange(SourceRange newRange) { range = newRange; }
  void setDescribe(InferContext::Describe fn) { describe = std::move(fn); }
  /// Messages call the op `words` instead of by its row's name.
  void setWrittenAs(llvm::StringRef words) { writtenAs = words; }
  Function &getFunction() const { return *function; }

  /// Makes the op; null when it was rejected, with the reason reported.
  /// `operands` stand in slot order (trailing absent ones may be left out).
  /// Names its results `name`; a pass that gives none names them after the op.
  Op *create(const OpDef &def, llvm::ArrayRef<Value *> operands,
             llvm::ArrayRef<Attr> attrs = {}, llvm::StringRef name = "");
  /// The same with constants in slot order; null slots take their default.
  Op *createWithSlots(const OpDef &def, llvm::ArrayRef<Value *> operands,
                      llvm::ArrayRef<ConstantRef> constants,
                      llvm::ArrayRef<llvm::StringRef> names);
  /// The only result of `create`; null when that is.
  Value *build(const OpDef &def, llvm::ArrayRef<Value *> operands,
               llvm::ArrayRef<Attr> attrs = {}, llvm::StringRef name = "");

private:
  Function *function;
  Diagnostics *diags;
  Op *before = nullptr;
  SourceRange range;
  llvm::StringRef writtenAs;
  InferContext::Describe describe;
};

/// Checks operands and constants against the parameters of the row (presence,
/// element types, type letters, ranks), fills in defaults, and runs `infer`.
/// Builder and verifier share it. False when something was reported.
bool checkAndInfer(InferContext &ctx,
                   llvm::SmallVectorImpl<ConstantRef> &slots);

/// The element type that a number written without one takes for `param`: that
/// of its type letter, or of the first operand, or the first of its domain.
DType literalDType(const OpDef &def, const ParamDef &param,
                   llvm::ArrayRef<Value *> operands);

/// The default of `param` for an op with these operands; null when the
/// parameter is optional without one.
ConstantRef defaultConstant(const OpDef &def, const ParamDef &param,
                            llvm::ArrayRef<Value *> operands);

} // namespace anec

#endif // ANEC_IR_BUILDER_H
