//===- OpNames.cpp - the names of ops in the language ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpNames.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::frontend;

namespace {
/// A name in the language for an op with another name in MIL.
struct Alias {
  llvm::StringLiteral name;
  const OpDef *op;
};
} // namespace

static constexpr Alias aliases[] = {
    {"gather", &ops::Embed},      {"max", &ops::ReduceMax},
    {"mean", &ops::ReduceMean},   {"min", &ops::ReduceMin},
    {"slice", &ops::SliceBySize}, {"sum", &ops::ReduceSum},
    {"take", &ops::Gather},       {"where", &ops::Select},
};

const OpDef *anec::frontend::findCallable(const OpTable &ops,
                                          llvm::StringRef name) {
  for (const Alias &alias : aliases)
    if (alias.name == name)
      return alias.op;
  const OpDef *def = ops.find(name);
  return def && !def->has(trait::NotCallable) ? def : nullptr;
}

llvm::StringRef anec::frontend::nameInLanguage(const OpDef &op) {
  for (const Alias &alias : aliases)
    if (alias.op == &op)
      return alias.name;
  return op.name;
}
