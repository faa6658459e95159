//===- Expression.cpp - expressions as text -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "../OpNames.h"
#include "Literals.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// The constant that an operand is; null for other values.
static const Constant *constantOf(const Value *value) {
  const Op *def = value ? value->definingOp() : nullptr;
  return def && def->is(ops::Const) ? def->constant(param::val) : nullptr;
}

/// The row's parameter of an operand slot.
static const ParamDef &parameterOf(const OpDef &def, unsigned slot) {
  const ParamDef *last = nullptr;
  for (const ParamDef &parameter : def.parameters()) {
    if (parameter.isConstant())
      continue;
    last = &parameter;
    if (slot-- == 0)
      break;
  }
  return *last;
}

/// Whether another operand that is not a constant gives a literal in `slot` its
/// element type.
static bool isTypedByOthers(const Op &op, unsigned slot) {
  const ParamDef &own = parameterOf(op.def(), slot);
  // A list has tensors, and no lists beside them.
  if (!own.typeVar || own.kind == ParamKind::Variadic)
    return false;
  for (unsigned other = 0; other < op.numOperands(); ++other) {
    const Value *value = op.operand(other);
    if (other != slot && value && !constantOf(value) &&
        parameterOf(op.def(), other).typeVar == own.typeVar)
      return true;
  }
  return false;
}

static Expression operandText(const Op &op, unsigned slot,
                              OperandText operand) {
  const Value &value = *op.operand(slot);
  const Constant *constant = constantOf(&value);
  if (!constant || !isInline(*constant))
    return operand(value);
  std::string text = literal(*constant);
  if (constant->dtype() == DType::Bool || isTypedByOthers(op, slot))
    return {text, text.front() == '-' ? Binding::Product : Binding::Atom};
  return {"(" + text + ": " + spelling(constant->dtype()).str() + ")"};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
struct Operator {
  const OpDef *op;
  llvm::StringLiteral text;
  Binding binding;
};
} // namespace

static constexpr Operator operators[] = {
    {&ops::Add, "+", Binding::Sum},
    {&ops::Sub, "-", Binding::Sum},
    {&ops::Mul, "*", Binding::Product},
    {&ops::RealDiv, "/", Binding::Product},
    {&ops::Matmul, "@", Binding::Product},
    {&ops::Less, "<", Binding::Comparison},
    {&ops::LessEqual, "<=", Binding::Comparison},
    {&ops::Greater, ">", Binding::Comparison},
    {&ops::GreaterEqual, ">=", Binding::Comparison},
    {&ops::Equal, "==", Binding::Comparison},
    {&ops::NotEqual, "!=", Binding::Comparison},
    {&ops::LogicalAnd, "and", Binding::And},
    {&ops::LogicalOr, "or", Binding::Or},
};

static Binding next(Binding binding) { return Binding(uint8_t(binding) + 1); }

/// The operator of an op; null when it is called by its name.
static const Operator *operatorOf(const Op &op) {
  if (op.is(ops::Matmul) &&
      (op.get(param::transposeX) || op.get(param::transposeY)))
    return nullptr;
  const Constant *left = nullptr, *right = nullptr;
  if (op.numOperands() == 2) {
    left = constantOf(op.operand(0u));
    right = constantOf(op.operand(1u));
  }
  // `and` and `or` take no lists.
  auto isList = [](const Constant *value) {
    return value && value->dtype() == DType::Bool && !value->type().isScalar();
  };
  for (const Operator &row : operators)
    if (op.is(*row.op))
      return (left && right) || isList(left) || isList(right) ? nullptr : &row;
  return nullptr;
}

/// Whether an operand is a vector that could be meant along another axis than
/// the last one: the language warns of it.
static bool isAmbiguous(const Op &op, unsigned slot) {
  const TensorType &own = op.operand(slot)->type,
                   &other = op.operand(1 - slot)->type;
  return own.rank() == 1 && other.rank() >= 2 && own.shape[0] > 1 &&
         own.shape[0] == other.shape.back() &&
         llvm::is_contained(llvm::ArrayRef(other.shape).drop_back(),
                            own.shape[0]);
}

static Expression operatorText(const Op &op, const Operator &row,
                               OperandText operand) {
  // Comparisons do not chain, and others associate to the left.
  bool chains = row.binding != Binding::Comparison;
  auto side = [&](unsigned slot) {
    Expression text = operandText(op, slot, operand);
    if (op.is(ops::Matmul) || !isAmbiguous(op, slot))
      return text.within(slot == 0 && chains ? row.binding : next(row.binding));
    const Constant *constant = constantOf(op.operand(slot));
    if (constant && isInline(*constant))
      text = {"[" + literal(*constant) + "]"};
    else
      text = {"reshape(" + text.text + ", shape = [1, " +
              std::to_string(op.operand(slot)->type.shape[0]) + "])"};
    return text.within(slot == 0 && chains ? row.binding : next(row.binding));
  };
  return {side(0) + " " + row.text.str() + " " + side(1), row.binding};
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  int64_t begin, end;
};
} // namespace

/// The range of each axis that an op takes; nothing when ranges do not say what
/// it takes.
static std::optional<llvm::SmallVector<Range, 4>> rangesOf(const Op &op) {
  if (op.numOperands() == 0 || !op.operand(0u))
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = op.operand(0u)->type.shape;
  llvm::SmallVector<Range, 4> ranges;
  if (op.is(ops::SliceBySize)) {
    llvm::SmallVector<int64_t, 4> begin(op.get(param::begin)),
        size(op.get(param::size));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t first = begin[axis] + (begin[axis] < 0 ? shape[axis] : 0);
      int64_t last = size[axis] < 0 ? shape[axis] : first + size[axis];
      ranges.push_back({first, last});
    }
  } else if (op.is(ops::SliceByIndex)) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      auto masked = [&](const ConstantParam &mask) {
        const Constant *value = op.constant(mask);
        return value && value->doubleAt(int64_t(axis)) != 0;
      };
      const Constant *stride = op.constant(param::stride);
      if ((stride && stride->intAt(int64_t(axis)) != 1) ||
          masked(param::squeezeMask))
        return std::nullopt;
      auto bound = [&](const ConstantParam &which) {
        int64_t at = op.constant(which)->intAt(int64_t(axis));
        return std::clamp<int64_t>(at + (at < 0 ? shape[axis] : 0), 0,
                                   shape[axis]);
      };
      ranges.push_back(
          {masked(param::beginMask) ? 0 : bound(param::begin),
           masked(param::endMask) ? shape[axis] : bound(param::end)});
    }
  } else {
    return std::nullopt;
  }
  bool isPart = llvm::all_of(
      ranges, [](const Range &range) { return range.begin < range.end; });
  return isPart && !ranges.empty() ? std::optional(ranges) : std::nullopt;
}

const Value *anec::frontend::partOf(const Op &op) {
  return rangesOf(op) ? op.operand(0u) : nullptr;
}

static std::string partText(const Op &op, llvm::ArrayRef<Range> ranges,
                            const std::string &whole) {
  llvm::ArrayRef<int64_t> shape = op.operand(0u)->type.shape;
  std::vector<std::string> parts;
  for (auto [range, extent] : llvm::zip_equal(ranges, shape)) {
    std::string text = ":";
    if (range.begin != 0)
      text = std::to_string(range.begin) + text;
    if (range.end != extent)
      text += std::to_string(range.end);
    parts.push_back(text);
  }
  while (parts.size() > 1 && parts.back() == ":")
    parts.pop_back();
  return whole + "[" + llvm::join(parts, ", ") + "]";
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Of the constant parameters of an op, those that are not their defaults.
static void addConstants(const Op &op, std::vector<std::string> &arguments) {
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  for (const ParamDef &parameter : op.def().parameters()) {
    if (!parameter.isConstant())
      continue;
    const Constant *value = op.constant(parameter.asConstant());
    if (!value)
      continue;
    ConstantRef usual = defaultConstant(op.def(), parameter, operands);
    if (usual && usual->equals(*value))
      continue;
    arguments.push_back(parameter.name.str() + " = " + literal(*value));
    // Where the op does not say which, a number has another type of its own.
    if (isFloat(value->dtype()) &&
        literalDType(op.def(), parameter, operands) != value->dtype())
      arguments.back() += ": " + spelling(value->dtype()).str();
  }
}

static std::string callText(const Op &op, OperandText operand) {
  std::vector<std::string> arguments;
  unsigned slot = 0;
  bool byName = false;
  for (const ParamDef &parameter : op.def().parameters()) {
    // Constants follow by name, and so does what comes after one.
    byName |= parameter.isConstant();
    if (parameter.isConstant())
      continue;
    if (parameter.kind == ParamKind::Variadic) {
      std::vector<std::string> values;
      for (; slot < op.numOperands(); ++slot)
        values.push_back(operandText(op, slot, operand).text);
      arguments.push_back((byName ? parameter.name.str() + " = " : "") + "[" +
                          llvm::join(values, ", ") + "]");
      break;
    }
    const Value *value = slot < op.numOperands() ? op.operand(slot) : nullptr;
    if (value)
      arguments.push_back((byName ? parameter.name.str() + " = " : "") +
                          operandText(op, slot, operand).text);
    byName |= !value;
    ++slot;
  }
  addConstants(op, arguments);
  return nameInLanguage(op.def()).str() + "(" + llvm::join(arguments, ", ") +
         ")";
}

Expression anec::frontend::expressionOf(const Op &op, OperandText operand) {
  if (std::optional<llvm::SmallVector<Range, 4>> ranges = rangesOf(op))
    return {partText(op, *ranges,
                     operandText(op, 0, operand).within(Binding::Atom))};
  if (const Operator *row = operatorOf(op))
    return operatorText(op, *row, operand);
  if (op.is(ops::LogicalNot))
    return {"not " + operandText(op, 0, operand).within(Binding::Not),
            Binding::Not};
  if (op.is(ops::Cast))
    return {"cast(" + operandText(op, 0, operand).text + ", " +
            spelling(op.get(param::dtype)).str() + ")"};
  return {callText(op, operand)};
}
