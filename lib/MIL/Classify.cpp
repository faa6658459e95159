//===- Classify.cpp - labels of classifiers -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// `string label, dict<string, fp64> p = classify(probabilities, classes)`:
/// `label` becomes the index of the most probable class, and `p` the
/// probabilities in the order of the classes. The description of the model
/// keeps the classes.
bool FunctionBinder::bindClassify(const Statement &statement) {
  if (!hasResults(statement, 2))
    return false;
  Value *probabilities = operand(statement, "probabilities");
  const ArgumentValue *argument = single(statement, "classes");
  if (!probabilities || !argument)
    return false;
  ConstantRef classes = argument->constant;
  if (!argument->name.empty())
    if (Symbol *symbol = lookup(argument->name, argument->range))
      classes = symbol->constant;
  int64_t count = probabilities->type.numElements();
  if (!classes || classes->type().rank() != 1 ||
      (classes->dtype() != DType::String && classes->dtype() != DType::Int64))
    return unsupported(argument->range,
                       "a list of classes other than strings or 64-bit "
                       "integers");
  if (classes->numElements() != count || count == 0) {
    diags.report(statement.range, diag::ClassCount, classes->numElements(),
                 spellType(*probabilities));
    return false;
  }
  const ResultDeclaration &label = statement.results[0];
  const ResultDeclaration &all = statement.results[1];
  Op *flat = builder->create(ops::Reshape, {probabilities},
                             {Attr(param::shape, {count})}, all.name);
  Op *index = flat ? builder->create(
                         ops::ReduceArgmax, {flat->result()},
                         {Attr(param::axis, 0), Attr(param::keepDims, false)},
                         label.name)
                   : nullptr;
  if (!index)
    return false;
  define(label.name, label.range, index->result()).classes = classes;
  define(all.name, all.range, flat->result());
  return true;
}
