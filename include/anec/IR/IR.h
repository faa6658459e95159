//===- IR.h - Module, Function, Op, Value ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The SSA form that every part of anec works on:
///
///   Module > Function (kernel, layer or host) > Op > Value
///
/// A function is a straight line of ops. Operands are in the order of the op
/// row's value parameters, constants in the order of its constant parameters;
/// an absent optional parameter is null in its slot, and a variadic one, always
/// the last, has all remaining operands.
///
/// Well-formed means: every operand is defined above its use in the same
/// function; operand and constant slots fit the row; the row's `infer` accepts
/// the op and returns its result types; roles fit the functions and values that
/// have them. `verify` (Verifier.h) checks this.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_IR_H
#define ANEC_IR_IR_H

#include "anec/IR/Params.h"
#include "anec/IR/RandomMask.h"
#include "anec/IR/Roles.h"
#include "anec/IR/Type.h"
#include "anec/Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ilist.h"
#include "llvm/ADT/ilist_node.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/SMLoc.h"
#include <memory>
#include <string>
#include <vector>

namespace anec {
class Op;
} // namespace anec

/// An op that is linked into a function, or moved, has no known position.
template <>
struct llvm::ilist_callback_traits<anec::Op> {
  void addNodeToList(anec::Op *op);
  void removeNodeFromList(anec::Op *) {}
  template <class Iterator>
  void transferNodesFromList(ilist_callback_traits &, Iterator first,
                             Iterator last) {
    for (; first != last; ++first)
      addNodeToList(&*first);
  }
};

namespace anec {

class Function;
class Module;
class Value;
struct OpDef;

using SourceRange = llvm::SMRange;

/// One use of a value: a slot of an op, threaded into the value's use list so
/// that the cost of replacing and erasing a use does not depend on the number
/// of uses.
class Operand {
public:
  Operand() = default;
  Operand(const Operand &) = delete;
  Operand &operator=(const Operand &) = delete;
  ~Operand() { set(nullptr); }

  Value *get() const { return value; }
  Op *owner() const { return user; }
  Operand *nextUse() const { return next; }
  void set(Value *newValue);

private:
  friend class Op;
  Value *value = nullptr;
  Op *user = nullptr;
  Operand *next = nullptr;
  Operand **link = nullptr; ///< the pointer to this operand
};

/// What holds the elements of a value. Nearly all values are tensors; a
/// parameter can be memory, which ops read and write.
enum class Holder : uint8_t {
  Tensor, ///< a value, which never changes
  State,  ///< keeps its elements from one run to the next
  Buffer, ///< has its elements in the caller's layout
};
/// `a tensor`, `a state`, `a tensor buffer`.
llvm::StringRef describe(Holder holder);

/// How a buffer lays out a tensor: MIL's `strides` and `interleave_factors`,
/// one per axis. The layout does not change the tensor's elements.
struct BufferLayout {
  Shape strides, interleave;
  bool operator==(const BufferLayout &) const = default;
};

/// A function parameter or the result of an op.
class Value {
public:
  Value(TensorType type, llvm::StringRef name, Op *op, unsigned index)
      : type(std::move(type)), name(name.str()), op(op), slot(index) {}
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;

  TensorType type;
  /// A name for people, without `%`. Printers make it unique. A parameter's
  /// name is part of its function's interface.
  std::string name;

  Holder holder = Holder::Tensor;
  /// The layout of a buffer that is a parameter.
  std::unique_ptr<BufferLayout> layout;
  /// The layout of any buffer.
  BufferLayout bufferLayout() const;

  /// The role of a parameter. That of a state is always ValueRole::State.
  ValueRole role() const {
    return holder == Holder::State ? ValueRole::State : given;
  }
  void setRole(ValueRole role) { given = role; }
  /// How a random mask is drawn, where it is known. Every random mask that an
  /// entry takes has it.
  std::optional<RandomMask> mask;

  /// Where a parameter is declared; the range of any other value is its op's.
  SourceRange declared;
  SourceRange range() const;

  /// The op that computes this value; null for a parameter.
  Op *definingOp() const { return op; }
  /// The index of the parameter or of the result.
  unsigned index() const { return slot; }

  bool hasUses() const { return uses != nullptr; }
  bool hasOneUse() const { return uses && !uses->nextUse(); }
  Operand *firstUse() const { return uses; }
  /// An op that uses this value; null for none.
  const Op *user() const;
  /// Makes every use (function results included, see Function) use `other`.
  void replaceAllUsesWith(Value *other);

private:
  friend class Function;
  friend class Operand;
  Op *op;
  unsigned slot;
  ValueRole given = ValueRole::Input;
  Operand *uses = nullptr;
};

/// An operation: a row of the op table applied to operands and constants.
class Op : public llvm::ilist_node<Op> {
public:
  /// Does not check slots; use Builder to create a checked op.
  static Op *create(const OpDef &def, llvm::ArrayRef<Value *> operands,
                    llvm::ArrayRef<ConstantRef> constants,
                    llvm::ArrayRef<TensorType> resultTypes,
                    llvm::ArrayRef<llvm::StringRef> resultNames,
                    SourceRange range);
  ~Op();

  const OpDef &def() const { return *row; }
  bool is(const OpDef &other) const { return row == &other; }
  Function *parent() const { return function; }
  SourceRange range() const { return source; }

  unsigned numOperands() const { return operandCount; }
  Value *operand(unsigned slot) const { return operands[slot].get(); }
  void setOperand(unsigned slot, Value *value) { operands[slot].set(value); }
  llvm::SmallVector<Value *, 4> operandValues() const;
  /// The operand of a value parameter of the row; null when absent.
  Value *operand(const ValueParam &param) const;

  unsigned numResults() const { return results.size(); }
  Value *result(unsigned index = 0) const { return results[index].get(); }
  auto resultValues() const {
    return llvm::map_range(results, [](const auto &r) { return r.get(); });
  }

  llvm::ArrayRef<ConstantRef> constants() const { return constantSlots; }
  /// The value of a constant parameter of the row; null when absent.
  const Constant *constant(const ConstantParam &param) const;
  void setConstant(const ConstantParam &param, ConstantRef value);
  /// The value of a constant parameter that is present.
  template <typename Param>
  typename Param::Type get(const Param &param) const {
    return Param::read(*constant(param));
  }

  /// A number that grows along the function's body. It is found when it is
  /// asked for, and changes only when the op moves or when there is no number
  /// left between those of its neighbors.
  uint64_t position() const;

  /// Unlinks and deletes the op; its results must have no uses.
  void erase();

private:
  friend class Function;
  friend struct llvm::ilist_callback_traits<Op>;
  Op() = default;
  mutable uint64_t place = 0; ///< the position; 0 when it is not known
  const OpDef *row = nullptr;
  Function *function = nullptr;
  SourceRange source;
  std::unique_ptr<Operand[]> operands;
  unsigned operandCount = 0;
  llvm::SmallVector<ConstantRef, 2> constantSlots;
  llvm::SmallVector<std::unique_ptr<Value>, 1> results;
};

/// The kind of a function: a `kernel` is one MIL program; a `layer` is a
/// parameterized block of a model, which can be split into kernels; a `host`
/// function calls layers and kernels.
ANEC_ENUM(FunctionKind, (Kernel, "kernel"), (Layer, "layer"), (Host, "host"))

class Function {
public:
  Function(FunctionKind kind, llvm::StringRef name, SourceRange range = {})
      : kind(kind), name(name.str()), range(range) {}
  ~Function();

  FunctionKind kind;
  std::string name;
  SourceRange range;
  std::string opset = "ios18"; ///< MIL's tag: `func main<ios18>`

  /// The role of the function, and the model or layer it belongs to. A function
  /// without an owner is its own owner.
  FunctionRole role = FunctionRole::Forward;
  std::string owner;
  llvm::StringRef of() const { return owner.empty() ? name : owner; }
  void setRole(FunctionRole newRole, llvm::StringRef newOwner) {
    role = newRole;
    owner = newOwner.str();
  }
  /// Whether this is a host function that can be run by itself, not the body of
  /// a `repeat`.
  bool isEntry() const {
    return kind == FunctionKind::Host && role != FunctionRole::Body;
  }

  Value *addParameter(TensorType type, llvm::StringRef name,
                      ValueRole role = ValueRole::Input);
  /// The parameter with this role; null when there is none, or more than one.
  Value *parameterOf(ValueRole role) const;
  /// Reorders the parameters: `order[i]` is the old index of the new i-th.
  void orderParameters(llvm::ArrayRef<unsigned> order);
  llvm::ArrayRef<std::unique_ptr<Value>> parameters() const { return params; }
  /// Removes a parameter without uses; the indices of later ones decrease.
  void eraseParameter(unsigned index);

  llvm::ilist<Op> &body() { return ops; }
  const llvm::ilist<Op> &body() const { return ops; }
  /// Links `op` in before `before` (null: at the end), and owns it.
  void insert(Op *op, Op *before = nullptr);

  /// Sets the results. They are uses like any other (with no owning op), so
  /// replacing a value updates them. Their names are part of the function's
  /// interface and do not change with the values; without `names`, they are the
  /// values' names. Without `roles`, the results are outputs.
  void setResults(llvm::ArrayRef<Value *> values,
                  llvm::ArrayRef<llvm::StringRef> names = {},
                  llvm::ArrayRef<ValueRole> roles = {});
  llvm::ArrayRef<std::string> resultNames() const { return outputNames; }
  llvm::ArrayRef<ValueRole> resultRoles() const { return outputRoles; }
  void setResultRole(unsigned index, ValueRole role) {
    outputRoles[index] = role;
  }
  /// The index of the result with this role; nothing when there is none, or
  /// more than one.
  std::optional<unsigned> resultOf(ValueRole role) const;
  unsigned numResults() const { return resultCount; }
  Value *result(unsigned index) const { return resultSlots[index].get(); }
  void setResult(unsigned index, Value *value) {
    resultSlots[index].set(value);
  }
  llvm::SmallVector<Value *, 2> resultValues() const;

  /// Whether parameters or results are states or buffers. Their types must not
  /// change: the callers that hold the memory depend on them.
  bool hasMemory() const;

  /// Makes this a declaration: a function whose body is elsewhere, of which
  /// calls need only the types. No op computes its results.
  void declareResults(llvm::ArrayRef<TensorType> types,
                      llvm::ArrayRef<llvm::StringRef> names,
                      llvm::ArrayRef<ValueRole> roles = {});
  bool isDeclaration() const { return declared; }

private:
  llvm::ilist<Op> ops;
  std::vector<std::unique_ptr<Value>> params;
  std::vector<std::unique_ptr<Value>> declaredResults;
  bool declared = false;
  std::unique_ptr<Operand[]> resultSlots;
  unsigned resultCount = 0;
  std::vector<std::string> outputNames;
  std::vector<ValueRole> outputRoles;
};

/// A program: functions in source order, with unique names.
class Module {
public:
  /// The MIL header, preserved when a program is read and printed.
  std::string version = "1.3";
  std::vector<std::pair<std::string, std::string>> buildInfo;
  /// The `config` entries that the module was created with, with their final
  /// values; not part of the textual form.
  std::vector<std::pair<std::string, std::string>> config;

  Function *addFunction(FunctionKind kind, llvm::StringRef name,
                        SourceRange range = {});
  Function *findFunction(llvm::StringRef name) const;
  std::vector<std::unique_ptr<Function>> functions;
};

} // namespace anec

inline void llvm::ilist_callback_traits<anec::Op>::addNodeToList(anec::Op *op) {
  op->place = 0;
}

#endif // ANEC_IR_IR_H
