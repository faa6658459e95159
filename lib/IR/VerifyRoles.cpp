//===- VerifyRoles.cpp - checks roles and owners --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/Verifier.h"
#include <map>

using namespace anec;

//===----------------------------------------------------------------------===//
// Within a function
//===----------------------------------------------------------------------===//

/// The type that a role requires, in words; null when `type` matches.
static const char *wantedType(ValueRole role, const TensorType &type) {
  switch (role) {
  case ValueRole::LossScale:
  case ValueRole::Loss:
  case ValueRole::Metric:
    return type == TensorType(DType::FP32) ? nullptr : "an `fp32` scalar";
  case ValueRole::Position:
    // A layout has axes of one element in addition.
    return type.dtype == DType::Int32 &&
                   llvm::count_if(type.shape, [](auto n) { return n != 1; }) <=
                       1
               ? nullptr
               : "an `int32` scalar or vector";
  case ValueRole::Wanted:
    return type.dtype == DType::Int32 ? nullptr : "a value of type `int32`";
  case ValueRole::Weight:
  case ValueRole::FrozenWeight:
    return type.isScalar() ? "a tensor that is not a scalar" : nullptr;
  case ValueRole::Gradient:
  case ValueRole::RandomMask:
    return isFloat(type.dtype) ? nullptr : "a value of a float type";
  case ValueRole::Logits:
    return isFloat(type.dtype) && !type.isScalar() ? nullptr
                                                   : "a tensor of a float type";
  default:
    return nullptr;
  }
}

/// Whether a function can have at most one value with the role, since code
/// looks it up.
static bool isUnique(ValueRole role) {
  return role == ValueRole::LossScale || role == ValueRole::Loss ||
         role == ValueRole::Logits;
}

namespace {

class RoleVerifier {
public:
  RoleVerifier(const Function &function, Diagnostics &diags)
      : function(function), diags(diags) {}

  bool verify() {
    checkFunction();
    for (const auto &param : function.parameters()) {
      check(param->role(), RolePlace::Parameter, param->name, param->type,
            param->range());
      checkMask(*param);
    }
    first.clear();
    for (unsigned index = 0; index < function.numResults(); ++index)
      if (const Value *value = function.result(index))
        check(function.resultRoles()[index], RolePlace::Result,
              function.resultNames()[index], value->type, function.range);
    return ok;
  }

private:
  void checkFunction() {
    bool hostOnly = function.role == FunctionRole::Train ||
                    function.role == FunctionRole::Body;
    if (!hostOnly || function.kind == FunctionKind::Host)
      return;
    diags.report(function.range, diag::RoleOfKind, function.name,
                 spelling(function.kind), spelling(function.role));
    ok = false;
  }

  /// Whoever runs an entry draws its masks.
  void checkMask(const Value &param) {
    if (param.role() != ValueRole::RandomMask || param.mask ||
        !function.isEntry())
      return;
    diags.report(param.range(), diag::MaskWithoutKeep, param.name,
                 function.name);
    ok = false;
  }

  void check(ValueRole role, RolePlace place, llvm::StringRef name,
             const TensorType &type, SourceRange range) {
    if (!valueRoles()[unsigned(role)].fits(place)) {
      diags.report(range, diag::MisplacedRole, name, spelling(role),
                   place == RolePlace::Parameter ? "parameter" : "result");
      ok = false;
    }
    if (const char *wanted = wantedType(role, type)) {
      diags.report(range, diag::RoleType, name, spelling(role), wanted,
                   type.str());
      ok = false;
    }
    if (role == ValueRole::LossScale && function.role != FunctionRole::Train) {
      diags.report(range, diag::LossScaleRole, name, function.name,
                   spelling(function.role));
      ok = false;
    }
    if (!isUnique(role))
      return;
    auto [previous, isFirst] = first.insert({role, name.str()});
    if (isFirst)
      return;
    diags.report(range, diag::RepeatedRole, previous->second, name,
                 function.name, spelling(role));
    ok = false;
  }

  const Function &function;
  Diagnostics &diags;
  bool ok = true;
  std::map<ValueRole, std::string> first;
};

} // namespace

bool anec::verifyRoles(const Function &function, Diagnostics &diags) {
  return RoleVerifier(function, diags).verify();
}

//===----------------------------------------------------------------------===//
// Across functions
//===----------------------------------------------------------------------===//

/// Whether a model can have several entries with the role: programs for blocks
/// and contexts of several sizes.
static bool hasSizes(FunctionRole role) {
  return role == FunctionRole::Prefill || role == FunctionRole::Decode;
}

/// The owner of a host function is a model. It need not be in the program; the
/// layers that kernels come from are not, either.
static bool verifyOwner(const Function &function, const Function &owner,
                        Diagnostics &diags) {
  if (owner.of() == owner.name && owner.kind == FunctionKind::Host)
    return true;
  std::string what = owner.of() == owner.name
                         ? "a " + spelling(owner.kind).str()
                         : "of `" + owner.of().str() + "`";
  diags.report(function.range, diag::OwnerKind, function.name, owner.name, what)
      .note(owner.range, diag::PreviousDefinition, owner.name);
  return false;
}

bool anec::verifyOwners(const Module &module, Diagnostics &diags) {
  bool ok = true;
  std::map<std::pair<std::string, FunctionRole>, const Function *> entries;
  for (const auto &function : module.functions) {
    if (function->kind != FunctionKind::Host)
      continue;
    if (const Function *owner = module.findFunction(function->of()))
      ok &= verifyOwner(*function, *owner, diags);
    if (!function->isEntry() || hasSizes(function->role))
      continue;
    auto [it, isFirst] = entries.insert(
        {{function->of().str(), function->role}, function.get()});
    if (isFirst)
      continue;
    diags
        .report(function->range, diag::SameEntry, it->second->name,
                function->name, spelling(function->role), function->of())
        .note(it->second->range, diag::PreviousDefinition, it->second->name);
    ok = false;
  }
  return ok;
}
