//===- Builder.h - creates checked ops --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Creates an op from a row: fills in missing constants, checks the parameters'
/// domains, infers the result types, and inserts it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_BUILDER_H
#define ANEC_LIB_IR_BUILDER_H

#include "lib/IR/ModeParam.h"
#include "lib/IR/OpDef.h"
#include <concepts>
#include <type_traits>

namespace anec {

/// A constant for a parameter.
struct Attr {
  ConstantParam param;
  ConstantRef value;

  Attr(const ConstantParam &param, ConstantRef value)
      : param(param), value(std::move(value)) {}
  Attr(const ConstantParam &param, const Constant *value)
      : param(param), value(value) {}
  // A template, so that pointers do not convert to bool.
  template <std::same_as<bool> Bool>
  Attr(const BoolParam &param, Bool value)
      : param(param), value(Constant::boolean(value)) {}
  Attr(const IntParam &param, int64_t value)
      : param(param), value(Constant::int32(value)) {}
  Attr(const IntsParam &param, llvm::ArrayRef<int64_t> values)
      : param(param), value(Constant::int32s(values)) {}
  Attr(const StringParam &param, llvm::StringRef value)
      : param(param), value(Constant::string(value)) {}
  Attr(const DTypeParam &param, DType value)
      : param(param), value(Constant::string(spelling(value))) {}
  template <Worded Enum>
  Attr(const ModeParam<Enum> &param, std::type_identity_t<Enum> value)
      : param(param), value(Constant::string(spelling(value))) {}
};

class Builder {
public:
  /// Builds at the end of `function`. Errors go to `diags`; passes, which only
  /// build valid ops, pass null, and an error is an assertion.
  explicit Builder(Function &function, Diagnostics *diags = nullptr)
      : function(&function), diags(diags) {}

  /// New ops go before `op` (null: to the end), with its source range.
  void setInsertionPoint(Op *op);
  void setRange(SourceRange newRange) { range = newRange; }
  void setDescribe(InferContext::Describe fn) { describe = std::move(fn); }
  /// Makes messages call the op `words` instead of its row's name.
  void setWrittenAs(llvm::StringRef words) { writtenAs = words; }
  Function &getFunction() const { return *function; }

  /// Creates the op; returns null when it was rejected, with the reason
  /// reported. `operands` are in slot order (trailing absent ones can be
  /// omitted). Names the results `name`, or after the op when `name` is empty.
  Op *create(const OpDef &def, llvm::ArrayRef<Value *> operands,
             llvm::ArrayRef<Attr> attrs = {}, llvm::StringRef name = "");
  /// The same with constants in slot order; null slots take their default.
  Op *createWithSlots(const OpDef &def, llvm::ArrayRef<Value *> operands,
                      llvm::ArrayRef<ConstantRef> constants,
                      llvm::ArrayRef<llvm::StringRef> names);
  /// The only result of `create`; null when `create` returns null.
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
/// Shared by builder and verifier. Returns false when something was reported.
bool checkAndInfer(InferContext &ctx,
                   llvm::SmallVectorImpl<ConstantRef> &slots);

/// The element type for `param` of a number written without one: that of its
/// type letter, or of the first operand, or the first of its domain.
DType literalDType(const OpDef &def, const ParamDef &param,
                   llvm::ArrayRef<Value *> operands);

/// The default of `param` for an op with these operands; null when the
/// parameter is optional without one.
ConstantRef defaultConstant(const OpDef &def, const ParamDef &param,
                            llvm::ArrayRef<Value *> operands);

} // namespace anec

#endif // ANEC_LIB_IR_BUILDER_H
