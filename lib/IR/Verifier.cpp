//===- Verifier.cpp - checks well-formedness ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Verifier.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

/// Reports operands that are not `defined` before `op`.
static bool verifyOrder(const Op &op,
                        const llvm::DenseSet<const Value *> &defined,
                        Diagnostics &diags) {
  bool ok = true;
  for (const Value *value : op.operandValues())
    if (value && !defined.contains(value)) {
      diags.report(op.range(), diag::UseBeforeDefinition, value->name,
                   op.def().name);
      ok = false;
    }
  return ok;
}

/// Checks what `op` says that it computes.
static bool verifyOp(const Op &op, Diagnostics &diags) {
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  bool ok = true;
  llvm::SmallVector<ConstantRef, 4> slots(op.constants());
  InferContext ctx(op.def(), operands, op.constants(), op.range(), &diags);
  if (!checkAndInfer(ctx, slots))
    return false;
  if (ctx.results.size() != op.numResults()) {
    diags.report(op.range(), diag::ResultCount, op.def().name,
                 ctx.results.size(), op.numResults());
    return false;
  }
  for (unsigned index = 0; index < op.numResults(); ++index) {
    const Value &result = *op.result(index);
    if (result.type == ctx.results[index])
      continue;
    diags.report(op.range(), diag::ResultType, result.name, result.type.str(),
                 op.def().name, ctx.results[index].str());
    ok = false;
  }
  for (const auto &block : blocksOf(op))
    ok &= verify(*block, diags);
  return ok;
}

static bool isNever(const Op &) { return false; }

static bool verify(const Function &function,
                   llvm::function_ref<bool(const Op &)> isKnown,
                   Diagnostics &diags) {
  llvm::DenseSet<const Value *> defined;
  llvm::StringSet<> names;
  bool ok = true;
  for (const auto &param : function.parameters()) {
    defined.insert(param.get());
    if (!names.insert(param->name).second) {
      diags.report(param->range(), diag::DuplicateName, param->name,
                   function.name);
      ok = false;
    }
  }
  ok &= verifyRoles(function, diags);
  for (const Op &op : function.body()) {
    ok &= verifyOrder(op, defined, diags);
    if (!isKnown(op))
      ok &= verifyOp(op, diags);
    for (const Value *result : op.resultValues())
      defined.insert(result);
  }
  names.clear();
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    llvm::StringRef name = function.resultNames()[index];
    if (!value || (!function.isDeclaration() && !defined.contains(value))) {
      diags.report(function.range, diag::UndefinedResult, name, function.name);
      ok = false;
    } else if (value->holder == Holder::State) {
      diags.report(function.range, diag::ResultHolder, name,
                   describe(value->holder));
      ok = false;
    }
    if (!names.insert(name).second) {
      diags.report(function.range, diag::DuplicateName, name, function.name);
      ok = false;
    }
  }
  return ok;
}

bool anec::verify(const Function &function, Diagnostics &diags) {
  return ::verify(function, isNever, diags);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
struct Signature {
  llvm::SmallVector<TensorType, 4> parameters, results;
  bool operator==(const Signature &) const = default;
  std::string str() const;
};
} // namespace

std::string Signature::str() const {
  auto list = [](llvm::ArrayRef<TensorType> types) {
    std::string text;
    for (const TensorType &type : types)
      text += (text.empty() ? "" : ", ") + type.str();
    return "(" + text + ")";
  };
  return list(parameters) + " -> " + list(results);
}

static Signature signatureOf(const Function &function) {
  Signature signature;
  for (const auto &parameter : function.parameters())
    signature.parameters.push_back(parameter->type);
  for (const Value *result : function.resultValues())
    signature.results.push_back(result->type);
  return signature;
}

using Functions = llvm::StringMap<const Function *>;

/// The arguments of a `repeat`'s body: the index, and a slice of each sliced
/// operand.
static Signature repeatSignature(const Op &op) {
  Signature signature;
  auto slice = [](const TensorType &type) {
    return TensorType(type.dtype, llvm::ArrayRef(type.shape).drop_front());
  };
  unsigned whole = op.numOperands() - op.get(param::sliced);
  signature.parameters.push_back(DType::Int32);
  for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
    const TensorType &type = op.operand(slot)->type;
    signature.parameters.push_back(slot < whole ? type : slice(type));
  }
  unsigned carried = op.get(param::carried);
  for (unsigned index = 0; index < op.numResults(); ++index) {
    const TensorType &type = op.result(index)->type;
    signature.results.push_back(index < carried ? type : slice(type));
  }
  return signature;
}

/// The arguments of a `call`'s callee, without the index, which only selects
/// weights.
static Signature callSignature(const Op &op) {
  Signature signature;
  for (unsigned slot = 1; slot < op.numOperands(); ++slot)
    signature.parameters.push_back(op.operand(slot)->type);
  for (const Value *result : op.resultValues())
    signature.results.push_back(result->type);
  return signature;
}

/// Checks that `op`, a `call` or a `repeat`, fits the function it names.
static bool verifyCall(const Op &op, const Functions &functions,
                       Diagnostics &diags) {
  bool isRepeat = op.def().has(trait::Repeat);
  llvm::StringRef name = op.get(isRepeat ? param::body : param::callee);
  const Function *callee = functions.lookup(name);
  if (!callee) {
    diags.report(op.range(), diag::UnknownCallee, op.def().name, name);
    return false;
  }
  if ((callee->kind == FunctionKind::Host) != isRepeat) {
    diags.report(op.range(), diag::CalleeKind, op.def().name,
                 isRepeat ? "a host function" : "a kernel or layer", name,
                 spelling(callee->kind));
    return false;
  }
  if (isRepeat && callee->role != FunctionRole::Body) {
    diags.report(op.range(), diag::RepeatBody, name, spelling(callee->role));
    return false;
  }
  if (isRepeat && !callee->owner.empty() &&
      callee->owner != op.parent()->of()) {
    diags.report(op.range(), diag::BodyOwner, op.parent()->name,
                 op.parent()->of(), name, callee->owner);
    return false;
  }
  Signature wanted = isRepeat ? repeatSignature(op) : callSignature(op);
  Signature actual = signatureOf(*callee);
  if (wanted == actual)
    return true;
  diags.report(op.range(), diag::CallSignature, op.def().name, wanted.str(),
               name, actual.str());
  return false;
}

/// Whether the op names one of a repeated layer's weights.
static bool isIndexedWeight(const Op &op) {
  return op.def().has(trait::Stored) && op.def().valueSlot(param::index) >= 0 &&
         op.operand(param::index);
}

bool anec::verifyCalls(const Module &module, Diagnostics &diags) {
  Functions functions;
  for (const auto &function : module.functions)
    functions[function->name] = function.get();
  bool ok = true;
  for (const auto &function : module.functions) {
    bool isHost = function->kind == FunctionKind::Host;
    for (const Op &op : function->body()) {
      if (op.def().has(trait::Call) || op.def().has(trait::Repeat)) {
        if (isHost) {
          ok &= verifyCall(op, functions, diags);
          continue;
        }
        diags.report(op.range(), diag::HostOp, op.def().name, function->name,
                     spelling(function->kind));
        ok = false;
      }
      if (isHost || !isIndexedWeight(op))
        continue;
      diags.report(op.range(), diag::IndexedWeight, function->name,
                   spelling(function->kind));
      ok = false;
    }
  }
  return verifyRepeats(module, diags) && ok;
}

bool anec::verify(const Module &module, Diagnostics &diags) {
  return verify(module, isNever, diags);
}

bool anec::verify(const Module &module,
                  llvm::function_ref<bool(const Op &)> isKnown,
                  Diagnostics &diags) {
  llvm::StringSet<> names;
  bool ok = true;
  for (const auto &function : module.functions) {
    if (!names.insert(function->name).second) {
      diags.report(function->range, diag::DuplicateFunction, function->name);
      ok = false;
    }
    ok &= ::verify(*function, isKnown, diags);
  }
  return ok && verifyCalls(module, diags) && verifyOwners(module, diags);
}
