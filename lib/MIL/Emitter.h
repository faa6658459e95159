//===- Emitter.h - functions to statements ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_EMITTER_H
#define ANEC_LIB_MIL_EMITTER_H

#include "WeightLayout.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/MIL/ProgramSink.h"

namespace anec::mil {

/// Gives functions to a sink, once their constants have been placed.
class Emitter {
public:
  Emitter(ProgramSink &sink, const WeightLayout &weights)
      : sink(sink), weights(weights) {}

  void emit(const Function &function, llvm::StringRef name,
            llvm::StringRef opset);

private:
  /// An argument of an op, in alphabetical order.
  struct Slot {
    const ParamDef *param;
    unsigned index;

    llvm::StringRef name() const { return param->name; }
    bool isConstant() const { return param->isConstant(); }
    bool isVariadic() const { return param->kind == ParamKind::Variadic; }
  };
  llvm::ArrayRef<Slot> slotsOf(const OpDef &def);
  llvm::StringRef nameOf(const Value *value) const { return (*names)[value]; }
  llvm::StringRef nameParameter(const Slot &slot, const Constant &value);
  WrittenConstant place(const Constant &value) const;
  WrittenConstant placeStored(const Op &op) const;
  bool isPresent(const Op &op, const Slot &slot, llvm::StringRef opset) const;

  void emitConst(llvm::StringRef name, WrittenConstant value);
  void emitOp(const Op &op, llvm::StringRef opset);
  void emitInAttributes(const Op &op, llvm::StringRef opset);
  void emitWithBlocks(const Op &op, llvm::StringRef opset);
  llvm::SmallVector<llvm::StringRef, 4> emitBlock(const Function &block,
                                                  llvm::StringRef opset);
  llvm::StringRef emitCopy(const Value *value, llvm::StringRef name);
  WrittenStatement begin(const Op &op);
  WrittenArgument argument(const Op &op, const Slot &slot);
  void emitResults(const Function &function);

  ProgramSink &sink;
  const WeightLayout &weights;
  llvm::DenseMap<const OpDef *, llvm::SmallVector<Slot, 8>> slots;

  // Of the function being written.
  std::optional<ValueNames> names;
  llvm::StringMap<llvm::StringRef> parameters; ///< by `param = value`
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_EMITTER_H
