//===- Roles.cpp - roles of functions and values --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/Roles.h"

using namespace anec;

static constexpr FunctionRoleDef functionTable[] = {
#define FUNCTION_ROLE(NAME, SPELLING, SUMMARY)                                 \
  {FunctionRole::NAME, SPELLING, SUMMARY},
#include "anec/IR/Roles.def"
};

static constexpr ValueRoleDef valueTable[] = {
#define VALUE_ROLE(NAME, SPELLING, PLACE, SUMMARY)                             \
  {ValueRole::NAME, SPELLING, RolePlace::PLACE, SUMMARY},
#include "anec/IR/Roles.def"
};

llvm::ArrayRef<FunctionRoleDef> anec::functionRoles() { return functionTable; }
llvm::ArrayRef<ValueRoleDef> anec::valueRoles() { return valueTable; }

llvm::StringRef anec::spelling(FunctionRole role) {
  return functionTable[unsigned(role)].spelling;
}

llvm::StringRef anec::spelling(ValueRole role) {
  return valueTable[unsigned(role)].spelling;
}

std::optional<FunctionRole> anec::parseFunctionRole(llvm::StringRef text) {
  for (const FunctionRoleDef &def : functionTable)
    if (def.spelling == text)
      return def.role;
  return std::nullopt;
}

std::optional<ValueRole> anec::parseValueRole(llvm::StringRef text,
                                              RolePlace place) {
  for (const ValueRoleDef &def : valueTable)
    if (def.spelling == text && def.fits(place))
      return def.role;
  return std::nullopt;
}
