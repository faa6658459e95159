//===- Roles.h - roles of functions and values ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A function has a role (forward, training step, body of a repeat, ...) and an
/// owner, the model or layer it belongs to; its parameters and results have
/// roles too (target, loss scale, tap, loss, ...). Code finds functions and
/// values by their roles. Names are only for people: they have no meaning to
/// the compiler.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_ROLES_H
#define ANEC_IR_ROLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace anec {

enum class FunctionRole : uint8_t {
#define FUNCTION_ROLE(NAME, SPELLING, SUMMARY) NAME,
#include "anec/IR/Roles.def"
};

/// The role of a parameter or a result.
enum class ValueRole : uint8_t {
#define VALUE_ROLE(NAME, SPELLING, PLACE, SUMMARY) NAME,
#include "anec/IR/Roles.def"
};

/// What can have a role.
enum class RolePlace : uint8_t { Parameter, Result, Both };

/// A line of Roles.def.
struct FunctionRoleDef {
  FunctionRole role;
  llvm::StringLiteral spelling, summary;
};
struct ValueRoleDef {
  ValueRole role;
  llvm::StringLiteral spelling;
  RolePlace place;
  llvm::StringLiteral summary;

  bool fits(RolePlace wanted) const {
    return place == RolePlace::Both || place == wanted;
  }
};
/// All roles, in the order of Roles.def.
llvm::ArrayRef<FunctionRoleDef> functionRoles();
llvm::ArrayRef<ValueRoleDef> valueRoles();

/// The spelling in the IR and manifests: `train`, `loss-scale`.
llvm::StringRef spelling(FunctionRole role);
llvm::StringRef spelling(ValueRole role);
/// Returns nothing when no role has this spelling, or when a value at `place`
/// (Parameter or Result) cannot have it.
std::optional<FunctionRole> parseFunctionRole(llvm::StringRef text);
std::optional<ValueRole> parseValueRole(llvm::StringRef text, RolePlace place);

/// The role of a parameter or result without an explicit one.
constexpr ValueRole defaultRole(RolePlace place) {
  return place == RolePlace::Parameter ? ValueRole::Input : ValueRole::Output;
}

} // namespace anec

#endif // ANEC_IR_ROLES_H
