//===- Builder.cpp - creates checked ops ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Builder.h"
#include "lib/IR/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

DType anec::literalDType(const OpDef &def, const ParamDef &param,
                         llvm::ArrayRef<Value *> operands) {
  unsigned slot = 0;
  for (const ParamDef &other : def.parameters()) {
    if (other.isConstant())
      continue;
    bool bound = param.typeVar == 0 || param.typeVar == other.typeVar;
    if (bound && slot < operands.size() && operands[slot] &&
        param.dtypes.contains(operands[slot]->type.dtype))
      return operands[slot]->type.dtype;
    ++slot;
  }
  // Without an operand that determines it: the kind of the default, or the
  // usual width.
  if (param.fallback.contains('.') && param.dtypes.contains(DType::FP32))
    return DType::FP32;
  if (param.dtypes.contains(DType::Int32))
    return DType::Int32;
  for (unsigned dtype = 0; dtype < numDTypes; ++dtype)
    if (param.dtypes.contains(DType(dtype)))
      return DType(dtype);
  return DType::FP32;
}

ConstantRef anec::defaultConstant(const OpDef &def, const ParamDef &param,
                                  llvm::ArrayRef<Value *> operands) {
  llvm::StringRef text = param.fallback;
  if (text.empty())
    return nullptr;
  if (param.dtypes == DTypeSet{DType::String})
    return Constant::string(text);
  if (text == "true" || text == "false")
    return Constant::boolean(text == "true");
  unsigned rank =
      !operands.empty() && operands[0] ? operands[0]->type.rank() : 0;
  if (text == "all")
    return Constant::int32s(llvm::to_vector<4>(llvm::seq<int64_t>(0, rank)));
  if (text == "channels")
    return Constant::int32(rank > 2 ? 1 : 0);
  if (text.starts_with("ones(") || text.starts_with("zeros(")) {
    unsigned spatial = rank > 2 ? rank - 2 : 0;
    unsigned count = text.contains("2*spatial") ? 2 * spatial : spatial;
    return Constant::int32s(Shape(count, text.starts_with("ones") ? 1 : 0));
  }
  if (text.consume_front("[")) {
    text.consume_back("]");
    Shape values;
    while (!text.empty()) {
      int64_t value = 0;
      auto [head, tail] = text.split(',');
      [[maybe_unused]] bool failed = head.trim().getAsInteger(10, value);
      assert(!failed && "a row's default is not a list of integers");
      values.push_back(value);
      text = tail;
    }
    return Constant::int32s(values);
  }
  double number = 0;
  [[maybe_unused]] bool failed = text.getAsDouble(number);
  assert(!failed && "a row's default is not a number");
  return Constant::scalar(literalDType(def, param, operands), number);
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static std::string article(const char *one, unsigned count) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

static bool checkOperandCount(InferContext &ctx) {
  const OpDef &def = ctx.def;
  unsigned params = def.numValueParams(), given = ctx.operands.size();
  if (def.isVariadic() ? given >= params : given <= params)
    return true;
  return ctx.fail(diag::OperandCount(ctx.opName(),
                                     (def.isVariadic() ? "at least " : "") +
                                         article("operand", params),
                                     given));
}

/// Binds type letters to the first parameter that has them.
class TypeVars {
public:
  /// Returns false when `param`'s letter is bound to another element type;
  /// `other` is then the parameter that bound it.
  bool bind(const ParamDef &param, DType dtype, llvm::StringRef &other,
            DType &otherDType) {
    if (param.typeVar == 0)
      return true;
    for (const Binding &binding : bindings) {
      if (binding.letter != param.typeVar)
        continue;
      other = binding.param;
      otherDType = binding.dtype;
      return binding.dtype == dtype;
    }
    bindings.push_back({param.typeVar, dtype, param.name});
    return true;
  }

private:
  struct Binding {
    char letter;
    DType dtype;
    llvm::StringRef param;
  };
  llvm::SmallVector<Binding, 4> bindings;
};

static bool checkDType(InferContext &ctx, const ParamDef &param, DType dtype,
                       TypeVars &vars, llvm::ArrayRef<unsigned> blamed) {
  if (!param.dtypes.contains(dtype))
    return ctx.fail(
        (param.isConstant() ? diag::ConstantDType : diag::OperandDType)(
            ctx.opName(), param.name, spelling(dtype), param.dtypes.str()),
        blamed);
  llvm::StringRef other;
  DType otherDType;
  if (!vars.bind(param, dtype, other, otherDType))
    return ctx.fail(diag::DTypeMismatch(ctx.opName(), other.str(), param.name,
                                        spelling(otherDType), spelling(dtype)),
                    blamed);
  return true;
}

static bool checkHolder(InferContext &ctx, const ParamDef &param,
                        unsigned slot) {
  Holder given = ctx.operands[slot]->holder;
  return given == param.holder ||
         ctx.fail(diag::OperandHolder(ctx.opName(), param.name,
                                      describe(param.holder), describe(given)),
                  {slot});
}

static bool checkOperands(InferContext &ctx, TypeVars &vars) {
  bool ok = true;
  unsigned slot = 0;
  for (const ParamDef &param : ctx.def.parameters()) {
    if (param.isConstant())
      continue;
    unsigned end =
        param.kind == ParamKind::Variadic ? ctx.operands.size() : slot + 1;
    for (; slot < end; ++slot) {
      if (!ctx.hasOperand(slot)) {
        if (param.kind != ParamKind::OptionalValue)
          ok = ctx.fail(diag::MissingOperand(ctx.opName(), param.name));
        continue;
      }
      ok &= checkHolder(ctx, param, slot) &&
            checkDType(ctx, param, ctx.type(slot).dtype, vars, {slot});
    }
  }
  return ok;
}

static bool checkConstant(InferContext &ctx, const ParamDef &param,
                          const Constant *constant, TypeVars &vars) {
  if (!constant) {
    if (param.kind == ParamKind::OptionalConstant)
      return true;
    return ctx.fail(diag::MissingConstant(ctx.opName(), param.name));
  }
  if (!checkDType(ctx, param, constant->dtype(), vars, {}))
    return false;
  if (param.rank < 0 || constant->type().rank() == unsigned(param.rank))
    return true;
  return ctx.fail(
      diag::ConstantRank(ctx.opName(), param.name, constant->type().str(),
                         param.rank == 0 ? "a scalar" : "a tensor of rank 1"));
}

/// Extents are at least 1 and fit in 32 bits, as MIL's shape parameters do;
/// inference can add and multiply two of them without overflow.
static bool checkExtents(InferContext &ctx) {
  for (unsigned slot = 0; slot < ctx.operands.size(); ++slot) {
    if (!ctx.hasOperand(slot))
      continue;
    for (int64_t extent : ctx.type(slot).shape)
      if (extent < 1 || extent > INT32_MAX)
        return ctx.fail(
            diag::OperandExtent(ctx.opName(), ctx.describeOperand(slot)),
            {slot});
  }
  return true;
}

bool anec::checkAndInfer(InferContext &ctx,
                         llvm::SmallVectorImpl<ConstantRef> &slots) {
  if (!checkOperandCount(ctx))
    return false;
  TypeVars vars;
  if (!checkOperands(ctx, vars) || !checkExtents(ctx))
    return false;
  slots.resize(ctx.def.numConstantParams());
  bool ok = true;
  unsigned slot = 0;
  for (const ParamDef &param : ctx.def.parameters()) {
    if (!param.isConstant())
      continue;
    if (!slots[slot])
      slots[slot] = defaultConstant(ctx.def, param, ctx.operands);
    ok &= checkConstant(ctx, param, slots[slot].get(), vars);
    ++slot;
  }
  if (!ok)
    return false;
  ctx.constants = slots;
  if (!ctx.def.infer(ctx))
    return false;
  for (const TensorType &result : ctx.results)
    if (!checkedNumElements(result.shape))
      return ctx.fail(diag::TypeTooLarge(result.str()));
  return true;
}

//===----------------------------------------------------------------------===//
// Builder
//===----------------------------------------------------------------------===//

void Builder::setInsertionPoint(Op *op) {
  before = op;
  if (op)
    range = op->range();
}

/// Converts number literals (held as fp64, or int32 where a float is expected)
/// to the element type of their parameter.
static ConstantRef convertLiteral(const OpDef &def, const ParamDef &param,
                                  ConstantRef constant,
                                  llvm::ArrayRef<Value *> operands) {
  if (!constant || param.dtypes.contains(constant->dtype()) ||
      !(isFloat(constant->dtype()) || isInteger(constant->dtype())))
    return constant;
  DType wanted = literalDType(def, param, operands);
  bool toFloat = isFloat(wanted);
  bool toInt = isInteger(wanted) && isInteger(constant->dtype());
  if (!toFloat && !toInt)
    return constant;
  return Constant::fromDoubles(TensorType(wanted, constant->type().shape),
                               constant->asDoubles());
}

Op *Builder::createWithSlots(const OpDef &def, llvm::ArrayRef<Value *> operands,
                             llvm::ArrayRef<ConstantRef> constants,
                             llvm::ArrayRef<llvm::StringRef> names) {
  llvm::SmallVector<Value *, 4> operandSlots(operands);
  if (!def.isVariadic() && operandSlots.size() < def.numValueParams())
    operandSlots.resize(def.numValueParams());
  llvm::SmallVector<ConstantRef, 4> slots(constants);
  slots.resize(def.numConstantParams());
  unsigned slot = 0;
  for (const ParamDef &param : def.parameters())
    if (param.isConstant()) {
      slots[slot] = convertLiteral(def, param, slots[slot], operandSlots);
      ++slot;
    }
  InferContext ctx(def, operandSlots, slots, range, diags,
                   describe ? &describe : nullptr);
  ctx.writtenAs = writtenAs;
  if (!checkAndInfer(ctx, slots)) {
    assert(diags && "a pass built an op that its row rejects");
    return nullptr;
  }
  Op *op = Op::create(def, operandSlots, slots, ctx.results, names, range);
  function->insert(op, before);
  return op;
}

Op *Builder::create(const OpDef &def, llvm::ArrayRef<Value *> operands,
                    llvm::ArrayRef<Attr> attrs, llvm::StringRef name) {
  llvm::SmallVector<ConstantRef, 4> slots(def.numConstantParams());
  for (const Attr &attr : attrs) {
    int slot = def.constantSlot(attr.param);
    assert(slot >= 0 && "no such constant parameter");
    slots[slot] = attr.value;
  }
  llvm::SmallVector<llvm::StringRef, 3> names;
  if (!name.empty())
    names.push_back(name);
  return createWithSlots(def, operands, slots, names);
}

Value *Builder::build(const OpDef &def, llvm::ArrayRef<Value *> operands,
                      llvm::ArrayRef<Attr> attrs, llvm::StringRef name) {
  Op *op = create(def, operands, attrs, name);
  return op ? op->result() : nullptr;
}
