//===- FunctionBinder.h - MIL statements to ops -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds functions from statements. Every reader of MIL programs uses it, so
/// that an argument is the same operand or constant whatever the program was
/// read from.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_FUNCTIONBINDER_H
#define ANEC_LIB_MIL_FUNCTIONBINDER_H

#include "anec/MIL/ModelDescription.h"
#include "lib/IR/Builder.h"
#include "lib/MIL/FlexibleShapes.h"
#include "lib/MIL/Statement.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace anec {
class BlockMaker;
class OpTable;
struct SliceBounds;
} // namespace anec

namespace anec::mil {

/// The meaning of a name.
struct Symbol {
  Value *value = nullptr; ///< null after an error, so that its uses report none
  ConstantRef constant;   ///< of a `const`
  SourceRange range;
  /// A `const` that became part of the ops it feeds, and is possibly unused
  /// itself.
  bool folded = false;
  /// A list, whose elements are those of `value` along axis 0.
  bool isList = false;
  /// A list that grows when an element beyond its end is written.
  bool grows = false;
  /// Of the label that `classify` chooses: `value` is its index.
  ConstantRef classes;
};

/// Builds the functions of a module, one after the other: `begin`, parameters,
/// `bindParameterShapes`, statements, results, `finish`. Errors are reported,
/// and binding continues after them, so that one run reports the errors of all
/// statements.
class FunctionBinder {
public:
  /// `description` may be null; labels of classifiers are added to it.
  FunctionBinder(Module &module, const OpTable &ops, RequestedShapes &requested,
                 Diagnostics &diags, ModelDescription *description = nullptr);

  /// Avoids rehashing the table of names while a large function is read.
  void reserve(size_t names) { symbols.reserve(unsigned(names)); }

  /// Returns false when there is a function of that name.
  [[nodiscard]] bool begin(llvm::StringRef name, SourceRange range);
  /// `ios18`. Opsets later than the known ones are accepted: a program may use
  /// only known features.
  void setOpset(llvm::StringRef opset, SourceRange range);
  /// Checks the name of an opset.
  void checkOpset(llvm::StringRef opset, SourceRange range);
  /// `isValid` is false after an error in the parameter's type.
  void addParameter(ResultDeclaration parameter, bool isValid = true);
  /// What the function says about its parameters of unknown extents; to be set
  /// before bindParameterShapes.
  FlexibleShapes &shapes() { return flexibleShapes; }
  /// Chooses shapes for the parameters with unknown extents.
  void bindParameterShapes();
  /// Warns, once, that an attribute of the function or an op has no meaning.
  void ignoreAttribute(llvm::StringRef name, SourceRange range);
  /// Builds the op of a statement.
  void bind(const Statement &statement);
  /// Declares a name of a statement that could not be read, so that its uses
  /// report no errors.
  void skip(llvm::StringRef name) { symbols.insert({name, Symbol()}); }
  void addResult(llvm::StringRef name, SourceRange range);
  /// Sets the results, and erases what is part of other ops now.
  void finish();
  /// Whether so many errors were reported that more would not help. Reports it.
  bool isHopeless(SourceRange range);

private:
  struct BlockResult {
    Value *value = nullptr;
    bool isList = false, grows = false; ///< as in Symbol
  };
  using BlockResults = llvm::SmallVector<BlockResult, 4>;

  // Statements (FunctionBinder.cpp).
  bool bindStatement(const Statement &statement);
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
  Value *bindValue(const ArgumentValue &value, llvm::StringRef name);
  bool isConstant(const Argument &argument) const;
  Value *makeConst(const ConstantRef &value, llvm::StringRef name,
                   SourceRange range);
  bool areValues(const Statement &statement);
  bool checkResult(const Statement &statement, unsigned index,
                   const Value &value);
  void computeValues(const Op &op);
  void fixParameter(Value &parameter);
  const Constant *knownValue(const Value *value) const;
  void reportUnknownParameter(const OpDef &def, const Argument &argument);
  // Values that shapes depend on (DemandedValues.cpp).
  ConstantRef demand(Value *value);
  ConstantRef atHand(const Value &parameter) const;
  void explainUnknown(Diagnostics::Report report, SourceRange range,
                      Value *value) const;
  bool unsupported(SourceRange range, llvm::StringRef what);
  bool refuse(const Statement &statement, llvm::StringRef reason);
  void eraseFoldedConstants();
  Symbol *lookup(llvm::StringRef name, SourceRange range);
  Symbol &define(llvm::StringRef name, SourceRange range, Value *value);
  void eraseFoldedOps();

  // Ops that become others, since the IR has only ops on tensors.
  using Special = bool (FunctionBinder::*)(const Statement &statement);
  static Special findSpecial(llvm::StringRef op);
  const ArgumentValue *single(const Statement &statement,
                              llvm::StringRef parameter);
  Value *operand(const Statement &statement, llvm::StringRef parameter);
  ConstantRef knownArgument(const Statement &statement,
                            llvm::StringRef parameter, bool isNeeded = false);
  bool hasResults(const Statement &statement, size_t count);
  bool defineResult(const Statement &statement, unsigned index, Value *value);
  bool bindClassify(const Statement &statement);    // Classify.cpp
  bool bindReshapeLike(const Statement &statement); // ReshapeLike.cpp
  // Elements.cpp
  bool bindNonZero(const Statement &statement);
  bool bindSparseToDense(const Statement &statement);
  // ComputedSlice.cpp
  bool bindSliceByIndex(const Statement &statement);
  bool bindSliceBySize(const Statement &statement);
  std::optional<bool> bindComputedSlice(const Statement &statement, Value &x);
  std::optional<SliceBounds> sliceBounds(const Statement &statement,
                                         unsigned rank, bool hasBegin,
                                         bool hasEnd, bool isNeeded = false);
  Value *firstPositions(Value *begin, const Shape &extents,
                        llvm::ArrayRef<std::optional<int64_t>> known,
                        llvm::StringRef name);
  // EmptyValues.cpp
  bool bindFill(const Statement &statement);
  bool bindRange(const Statement &statement);
  bool bindTile(const Statement &statement);
  bool bindWithoutElements(const Statement &statement);
  bool isEmpty(const ArgumentValue &value) const;
  bool hasEmptyArgument(const Statement &statement) const;
  bool joinWithoutEmpty(const Statement &statement);
  bool lookUpNone(const OpDef &def, const Statement &statement);
  std::optional<Shape> broadcastShape(const OpDef &def,
                                      const Statement &statement);
  bool defineEmpty(const Statement &statement, const TensorType &type);
  std::optional<llvm::SmallVector<int64_t, 4>>
  knownNumbers(const Statement &statement, llvm::StringRef parameter,
               bool isNeeded = false);
  // ControlFlow.cpp
  bool bindCond(const Statement &statement);
  bool bindBranch(const Statement &statement, Value *predicate,
                  const Op *before);
  bool bindWhileLoop(const Statement &statement);
  bool bindBlock(const Block &block, llvm::ArrayRef<BlockResult> inputs,
                 SourceRange range, BlockResults &results);
  bool defineChosen(const Statement &statement, const BlockResults &results);
  bool hasBlocks(const Statement &statement, size_t inputs);
  enum class Turns : uint8_t;
  bool bindLoopVariables(const Argument &variables, BlockResults &values);
  Turns unroll(const Statement &statement, BlockResults &values);
  bool makeLoop(const Statement &statement, BlockResults &values);
  // LoopTurns.cpp
  bool bindTurns(const Statement &statement, BlockResults values);
  bool isDecidedInLoop(Value *value);
  Op *makeWithBlocks(const OpDef &def, const Statement &statement,
                     BlockMaker &blocks, llvm::ArrayRef<Value *> operands,
                     ConstantRef carried,
                     llvm::ArrayRef<llvm::StringRef> names);
  Op *lastOp();
  void eraseAfter(const Op *last);
  void forget(const Op &op);
  // Lists.cpp
  bool bindMakeList(const Statement &statement);
  bool bindListRead(const Statement &statement);
  bool bindListGather(const Statement &statement);
  bool bindListWrite(const Statement &statement);
  bool bindListScatter(const Statement &statement);
  bool bindListLength(const Statement &statement);
  Symbol *list(const Statement &statement);
  Symbol &defineList(const Statement &statement, Value *value, bool grows);
  Value *extendList(Value *list, int64_t length);

  Module &module;
  const OpTable &ops;
  RequestedShapes &requested;
  Diagnostics &diags;
  ModelDescription *description;
  const size_t errorsBefore;

  Function *function = nullptr;
  std::optional<Builder> builder;
  llvm::MapVector<llvm::StringRef, Symbol> symbols;
  llvm::StringMap<const OpDef *> knownOps; ///< null for unknown ones
  llvm::StringMap<bool> ignoredAttributes; ///< those with a reported warning
  bool ignoredAnalysis = false; ///< a warning for isAnalysis was reported

  // Of the function being built.
  std::vector<FlexibleParameter> flexible;
  FlexibleShapes flexibleShapes;
  llvm::SmallVector<Value *, 4> results;
  llvm::SmallVector<llvm::StringRef, 4> resultNames;
  bool resultsKnown = true;
  unsigned depth = 0;        ///< of the block being built
  unsigned chosenBlocks = 0; ///< blocks around it that may not be run
  size_t ofBlocks = 0;       ///< statements of blocks, with all iterations
  /// Shapes in a loop change from turn to turn: it must be built turn by turn.
  bool changesShapes = false;
  bool anyEmpty = false; ///< a value without elements was defined
  /// Operations that are left to compute what shapes depend on: the reference
  /// takes a few seconds for all.
  static constexpr int64_t mostDemandSteps = int64_t(1) << 28;
  int64_t demandSteps = mostDemandSteps;
  /// Inputs whose values were read, since shapes depend on them.
  llvm::DenseMap<const Value *, ConstantRef> readInputs;
  /// Values that depend only on constants and shapes.
  llvm::DenseMap<const Value *, ConstantRef> computedValues;
  /// The ops that compute them, and the constants of blocks; and whether the op
  /// is to be erased when its results are unused: a constant parameter has
  /// their values, or they count iterations.
  llvm::DenseMap<const Op *, bool> computedOps;

  // Slots of the op being bound.
  llvm::SmallVector<Value *, 8> operands;
  llvm::SmallVector<ConstantRef, 8> constants;
  llvm::SmallVector<llvm::StringRef, 12> given; ///< parameters seen
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_FUNCTIONBINDER_H
