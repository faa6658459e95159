//===- Statement.cpp - MIL statements before binding ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Statement.h"

using namespace anec::mil;

Statement::Statement() = default;
Statement::~Statement() = default;
Statement::Statement(Statement &&) noexcept = default;
Statement &Statement::operator=(Statement &&) noexcept = default;

const Argument *Statement::argument(llvm::StringRef name) const {
  for (const Argument &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

void Statement::clear() {
  results.clear();
  opName = "";
  arguments.clear();
  attributes.clear();
  blocks.clear();
}
