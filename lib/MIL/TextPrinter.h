//===- TextPrinter.h - prints MIL text --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_TEXTPRINTER_H
#define ANEC_LIB_MIL_TEXTPRINTER_H

#include "WeightLayout.h"
#include "anec/IR/Names.h"
#include "anec/IR/OpDef.h"
#include "anec/MIL/Spelling.h"
#include "llvm/Support/raw_ostream.h"

namespace anec::mil {

/// Prints `func`s, once their constants have been placed.
class TextPrinter {
public:
  TextPrinter(llvm::raw_ostream &out, const WeightLayout &weights,
              Scalars scalars)
      : out(out), weights(weights), scalars(scalars) {}

  void
  printHeader(llvm::StringRef version,
              llvm::ArrayRef<std::pair<std::string, std::string>> buildInfo);
  void printFunction(const Function &function, llvm::StringRef name,
                     llvm::StringRef opset);
  void printFooter() { out << "}\n"; }

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
  std::string spellConstant(const Constant &value) const;
  std::string spellStored(const Op &op) const;

  void printConst(const TensorType &type, llvm::StringRef name,
                  llvm::StringRef value);
  void printOp(const Op &op, llvm::StringRef opset);
  void printDeclarations(const Op &op);
  bool isPrinted(const Op &op, const Slot &slot, llvm::StringRef opset) const;
  void printInAttributes(const Op &op, llvm::StringRef opset);
  void printArgument(const Op &op, const Slot &slot);
  void printNameAttribute(llvm::StringRef name);
  void printResults(const Function &function);

  llvm::raw_ostream &out;
  const WeightLayout &weights;
  const Scalars scalars;
  llvm::DenseMap<const OpDef *, llvm::SmallVector<Slot, 8>> slots;

  // Of the function being printed.
  std::optional<ValueNames> names;
  llvm::StringMap<llvm::StringRef> parameters; ///< by `param = value`
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_TEXTPRINTER_H
