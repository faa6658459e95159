//===- OpDef.h - definitions of ops -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Each op is defined once, by an OpDef row in lib/Ops. Builder and verifier
/// use its parameters and `infer`; the front end and the printers its names;
/// the interpreter and constant folding its `eval`; `decompose` its
/// decomposition; docs/reference/ops.md is generated from all of it.
/// docs/develop/adding-an-op.md shows how to add one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_OPDEF_H
#define ANEC_LIB_IR_OPDEF_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <functional>

namespace anec {

class Builder;
class Gradient;
struct PositionFlow;

enum class ParamKind : uint8_t {
  Value,            ///< an operand
  OptionalValue,    ///< an operand that can be absent
  Variadic,         ///< all remaining operands, at least one
  Constant,         ///< a compile-time constant; `fallback` makes it optional
  OptionalConstant, ///< a constant that can be absent
};

/// One parameter of an op.
struct ParamDef {
  ParamName name;
  ParamKind kind = ParamKind::Value;
  DTypeSet dtypes = {};
  /// Parameters with the same letter have the same element type; 0 means no
  /// such constraint.
  char typeVar = 0;
  /// Constants: 0 accepts a scalar, 1 a rank-1 tensor, -1 any shape.
  int8_t rank = 0;
  /// The default value, in the IR's spelling (`false`, `-1`, `[1, 1]`,
  /// `"valid"`, `1e-05`), or `ones(n)` / `zeros(n)` with n in {spatial,
  /// 2*spatial} for a convolution's geometry, `all` for every axis, or
  /// `channels` for axis 1, or 0 where there is no batch.
  llvm::StringLiteral fallback = "";
  llvm::StringLiteral doc = "";
  /// The first opset (`ios15` is 15) whose op has the parameter. Older programs
  /// must not use it.
  uint8_t opset = 15;
  /// What holds the value.
  Holder holder = Holder::Tensor;
  /// The role of a value: Target and Logits, for ops that compute a loss.
  ValueRole role = ValueRole::Input;
  /// Keeps an argument off zero: a number that is not 0 must not become 0 when
  /// it is rounded to its element type.
  bool offZero = false;
  /// Core ML takes a value here only as a constant of the program: its op
  /// definitions (coremltools) mark the input as such.
  bool mustBeStored = false;

  constexpr bool isConstant() const {
    return kind == ParamKind::Constant || kind == ParamKind::OptionalConstant;
  }
  /// The handle of a constant, for code that iterates over the parameters of a
  /// row.
  constexpr ConstantParam asConstant() const {
    assert(isConstant() && "an operand");
    return {name.id, name};
  }
};

namespace trait {
enum : uint32_t {
  /// Result i depends only on element i of the (broadcast) operands.
  Elementwise = 1 << 0,
  /// A MIL op: the printer can print it. Other ops must be decomposed first.
  Mil = 1 << 1,
  /// Operands 0 and 1 can be swapped.
  Commutative = 1 << 2,
  /// Must not be removed or merged even when unused or equal.
  SideEffect = 1 << 3,
  /// Moves elements without computing (reshape, transpose, slice, ...).
  DataMovement = 1 << 4,
  /// Unpacks a compressed constant; all of its inputs are constants.
  Constexpr = 1 << 5,
  /// Applies the function that its constant `callee` names, and its result
  /// types are its constant `results`. The textual form writes both separately:
  /// `%y = call @callee(%x) : fp16[4]`.
  Call = 1 << 6,
  /// The result is piecewise constant in the operands (comparisons, rounding):
  /// all gradients are zero.
  ZeroGradient = 1 << 7,
  /// Returns a stored array and computes nothing: `const` and `weight`.
  Stored = 1 << 8,
  /// Applies the host function that its constant `body` names, several times.
  Repeat = 1 << 9,
  /// Combines the elements along `axes` or `axis`: the `reduce_...` ops.
  Reduction = 1 << 10,
  /// Cannot be called by name in .tdsl: it has its own syntax there, or only
  /// passes create it.
  NotCallable = 1 << 11,
  /// Treats each line of its operands along the constant `axis` by itself. All
  /// operands have the same rank.
  AlongAxis = 1 << 12,
  /// The result is the first operand, its elements in the same order, under
  /// another name, shape or holder.
  Renames = 1 << 13,
};
} // namespace trait

/// The input and output of `infer`, for an existing op or one being built.
class InferContext {
public:
  /// Spells the type of a value for messages; the front end inserts the user's
  /// names for extents.
  using Describe = std::function<std::string(const Value &)>;

  InferContext(const OpDef &def, llvm::ArrayRef<Value *> operands,
               llvm::ArrayRef<ConstantRef> constants, SourceRange range,
               Diagnostics *diags, const Describe *describe = nullptr)
      : def(def), operands(operands), constants(constants), range(range),
        diags(diags), describe(describe) {}

  const OpDef &def;
  llvm::ArrayRef<Value *> operands;
  llvm::ArrayRef<ConstantRef> constants;
  SourceRange range;
  /// How the user wrote the op (`+`), when it differs from the row's name.
  llvm::StringRef writtenAs;
  /// The result types, which `infer` computes.
  llvm::SmallVector<TensorType, 2> results;

  /// The op as messages name it.
  llvm::StringRef opName() const;
  const TensorType &type(unsigned slot) const { return operands[slot]->type; }
  bool hasOperand(unsigned slot) const {
    return slot < operands.size() && operands[slot];
  }
  bool hasOperand(const ValueParam &param) const;
  const Constant *constant(const ConstantParam &param) const;
  template <typename Param>
  typename Param::Type get(const Param &param) const {
    return Param::read(*constant(param));
  }

  /// Sets the only result; returns true, to be the last line of an `infer`.
  bool result(TensorType type) {
    results.assign(1, std::move(type));
    return true;
  }
  /// Reports that the constraint does not hold and returns false. Each of
  /// `blamedOperands` gets a note with its location and type.
  bool fail(const diag::Message &message,
            llvm::ArrayRef<unsigned> blamedOperands = {});
  /// The type of operand `slot` as messages spell it.
  std::string describeOperand(unsigned slot) const;
  /// Checks -rank <= axis < rank, reports, and makes it non-negative.
  bool normalizeAxis(int64_t &axis, unsigned rank);

private:
  Diagnostics *diags; ///< null: nothing is reported
  const Describe *describe;
};

/// A value of the double-precision reference: row-major elements. Integers and
/// booleans are held as doubles too.
struct RefTensor {
  TensorType type;
  std::vector<double> data;
};

/// The input of `eval`: operands by slot (null when absent) and results to fill
/// in, whose types are set by `infer` and whose data has the right size.
struct EvalContext {
  const OpDef &def;
  llvm::ArrayRef<ConstantRef> constants;
  llvm::ArrayRef<const RefTensor *> in;
  llvm::MutableArrayRef<RefTensor> out;

  const Constant *constant(const ConstantParam &param) const;
  template <typename Param>
  typename Param::Type get(const Param &param) const {
    return Param::read(*constant(param));
  }
};

/// Finds the axis of the positions of a text (Ops/Positions.h).
struct PositionRule {
  bool (*find)(PositionFlow &flow) = nullptr;
  /// Whether operands other than the first may have positions.
  bool ofSeveral = false;
};

struct OpDef;
/// Whether a row has what every op needs. An error where a row is compiled that
/// lacks something.
constexpr bool isComplete(const OpDef &row);

constexpr unsigned maxParams = 17; ///< the number that `lstm` has
constexpr unsigned maxConstraints = 8;

/// The definition of an op. Rows set only what differs from the defaults.
struct OpDef {
  llvm::StringLiteral name = "";
  /// One sentence in the imperative or third person; names parameters in
  /// backticks.
  llvm::StringLiteral summary = "";
  /// The family under which the op is documented.
  llvm::StringLiteral family = "";
  std::array<ParamDef, maxParams> params = {};
  uint32_t traits = 0;
  /// Constraints in addition to the parameters' domains; labeled (C1), (C2),
  /// ... in `infer`, in the docs and in the tests.
  std::array<llvm::StringRef, maxConstraints> constraints = {};
  /// The names of the results when there are several.
  std::array<llvm::StringRef, 3> resultNames = {};
  /// What holds the results.
  Holder resultHolder = Holder::Tensor;
  /// The opset that MIL text tags the op with, as in `op<ios17>(...)`; empty
  /// for most ops. Tagged ops are written with their constants inline.
  llvm::StringLiteral opsetTag = "";

  /// Checks the constraints and sets the result types.
  bool (*infer)(InferContext &ctx) = nullptr;
  /// The double-precision reference; null when the op itself has no value
  /// semantics (`call`).
  void (*eval)(EvalContext &ctx) = nullptr;
  /// Expresses the op in MIL ops; null when it is a MIL op.
  void (*decompose)(Builder &builder, const Op &op,
                    llvm::SmallVectorImpl<Value *> &results) = nullptr;
  /// Expresses a MIL op in others that take computed values for the parameters
  /// that must be stored; null when there is no such expression.
  Value *(*decomposeComputed)(Builder &builder, const Op &op) = nullptr;
  /// Expresses an op without a gradient rule in ops that have one; null when
  /// there is no such expression. `differentiate` writes the op so.
  void (*decomposeForGradient)(Builder &builder, const Op &op,
                               llvm::SmallVectorImpl<Value *> &results) =
      nullptr;
  /// Floating-point operations; null counts one per result element for
  /// elementwise ops and none for others.
  int64_t (*flops)(const Op &op) = nullptr;
  /// Computes the gradients of the operands from those of the results (see
  /// Ops/Gradient.h); null when the op has no gradient rule.
  void (*gradient)(Gradient &g) = nullptr;
  /// The axis of the results along which the positions of a text lie, from
  /// those of the operands. Follows from the traits Elementwise, Reduction,
  /// AlongAxis and Renames.
  PositionRule positions = {};

  /// Computed, so that an incomplete row is an error where it is compiled.
  bool checked = isComplete(*this);

  bool has(uint32_t t) const { return (traits & t) == t; }
  /// The parameters up to the first unnamed one.
  llvm::ArrayRef<ParamDef> parameters() const;
  /// Slot among the value (or constant) parameters; -1 when there is none.
  int valueSlot(const ParamName &param) const;
  int constantSlot(const ParamName &param) const;
  /// The slot of the first value parameter with this role; -1 without one.
  int valueSlot(ValueRole role) const;
  /// The same, by name.
  int findValueParam(llvm::StringRef name) const;
  int findConstantParam(llvm::StringRef name) const;
  unsigned numValueParams() const;
  unsigned numConstantParams() const;
  bool isVariadic() const;
};

// Never defined: a constant row cannot call them, so the compiler's error names
// what it lacks.
void rowNeedsInfer();
void rowNeedsEval();
void rowNeedsPositions();

constexpr bool isComplete(const OpDef &row) {
  constexpr uint32_t impliesPositions =
      trait::Elementwise | trait::Reduction | trait::AlongAxis | trait::Renames;
  constexpr uint32_t ofConstants = trait::Stored | trait::Constexpr;
  bool hasOperands = false;
  for (const ParamDef &param : row.params)
    hasOperands |= !param.name.empty() && !param.isConstant();
  if (!row.infer)
    rowNeedsInfer();
  // Stored arrays and what has effects are not values of operands.
  if (!row.eval && !(row.traits & (trait::Stored | trait::SideEffect)))
    rowNeedsEval();
  if (hasOperands && !row.positions.find &&
      !(row.traits & (impliesPositions | ofConstants)))
    rowNeedsPositions();
  return true;
}

/// Shorthands for rows.
constexpr DTypeSet floats = {DType::FP16, DType::FP32};
constexpr DTypeSet numbers = {DType::FP16, DType::FP32, DType::Int32};
constexpr ParamDef value(const ValueParam &name, DTypeSet dtypes = floats,
                         char typeVar = 'T', llvm::StringLiteral doc = "") {
  return {name, ParamKind::Value, dtypes, typeVar, -1, "", doc};
}
constexpr ParamDef optionalValue(const ValueParam &name,
                                 DTypeSet dtypes = floats, char typeVar = 'T',
                                 llvm::StringLiteral doc = "") {
  return {name, ParamKind::OptionalValue, dtypes, typeVar, -1, "", doc};
}
constexpr ParamDef variadic(const ValueParam &name, DTypeSet dtypes = floats,
                            char typeVar = 'T', llvm::StringLiteral doc = "") {
  return {name, ParamKind::Variadic, dtypes, typeVar, -1, "", doc};
}
constexpr ParamDef boolean(const BoolParam &name,
                           llvm::StringLiteral fallback = "",
                           llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::Bool}, 0, 0, fallback, doc};
}
constexpr ParamDef integer(const IntParam &name,
                           llvm::StringLiteral fallback = "",
                           llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::Int32}, 0, 0, fallback, doc};
}
constexpr ParamDef integers(const IntsParam &name,
                            llvm::StringLiteral fallback = "",
                            llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::Int32}, 0, 1, fallback, doc};
}
constexpr ParamDef text(const StringParam &name,
                        llvm::StringLiteral fallback = "",
                        llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::String}, 0, 0, fallback, doc};
}
/// A float constant of the element type that `typeVar` is bound to, or of
/// either float type when it is 0.
constexpr ParamDef number(const FloatParam &name,
                          llvm::StringLiteral fallback = "", char typeVar = 'T',
                          DTypeSet dtypes = floats,
                          llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, dtypes, typeVar, 0, fallback, doc};
}

/// A value parameter with a role.
constexpr ParamDef as(ValueRole role, ParamDef param) {
  param.role = role;
  return param;
}

/// A value that Core ML takes only as a constant of the program.
constexpr ParamDef stored(ParamDef param) {
  param.mustBeStored = true;
  return param;
}

/// A parameter that was added to the op in a later opset.
constexpr ParamDef since(uint8_t opset, ParamDef param) {
  param.opset = opset;
  return param;
}

/// A MIL op without a row.
struct UnsupportedOp {
  llvm::StringLiteral name, reason;
};

/// All rows, sorted by name.
class OpTable {
public:
  explicit OpTable(llvm::ArrayRef<const OpDef *> sorted,
                   llvm::ArrayRef<UnsupportedOp> unsupported = {})
      : rows(sorted), missing(unsupported) {}
  llvm::ArrayRef<const OpDef *> all() const { return rows; }
  /// Null when there is no such op.
  const OpDef *find(llvm::StringRef name) const;
  /// The op name closest to a misspelled one; empty when none is close.
  llvm::StringRef suggest(llvm::StringRef name) const;
  llvm::ArrayRef<UnsupportedOp> unsupported() const { return missing; }

private:
  llvm::ArrayRef<const OpDef *> rows;
  llvm::ArrayRef<UnsupportedOp> missing;
};

} // namespace anec

#endif // ANEC_LIB_IR_OPDEF_H
