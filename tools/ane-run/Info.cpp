//===- Info.cpp - ane-run info PROGRAM ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "anec/IR/OpDef.h"
#include "anec/Ops/Cost.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

namespace {
struct OpCount {
  llvm::StringRef name;
  unsigned count;
};
} // namespace

/// Most frequent first, then by name.
static std::vector<OpCount> histogram(const Function &function) {
  llvm::MapVector<llvm::StringRef, unsigned> counts;
  for (const Op &op : function.body())
    if (!op.is(ops::Const))
      ++counts[op.def().name];
  std::vector<OpCount> result;
  for (auto [name, count] : counts)
    result.push_back({name, count});
  llvm::sort(result, [](const OpCount &lhs, const OpCount &rhs) {
    return lhs.count != rhs.count ? lhs.count > rhs.count : lhs.name < rhs.name;
  });
  return result;
}

static void printText(const LoadedProgram &program, llvm::raw_ostream &out) {
  const Function &function = *program.function;
  Cost cost = countCost(function);
  out << "program(" << program.module->version << ") " << function.name << '<'
      << function.opset << ">\n";
  for (const auto &param : function.parameters())
    out << "  input   " << param->name << ": " << param->type.str() << '\n';
  for (unsigned i = 0; i < function.numResults(); ++i)
    out << "  output  " << function.resultNames()[i] << ": "
        << function.result(i)->type.str() << '\n';
  out << llvm::format("  %u ops, %.4f GFLOP\n", cost.ops,
                      double(cost.flops) * 1e-9)
      << llvm::format("  constants %.3f MB, inputs %.3f MB, outputs %.3f MB\n",
                      double(cost.weightBytes) * 1e-6,
                      double(cost.inputBytes) * 1e-6,
                      double(cost.outputBytes) * 1e-6);
  for (const OpCount &row : histogram(function))
    out << llvm::format("  %6u ", row.count) << row.name << '\n';
}

static void printPort(llvm::StringRef name, const TensorType &type,
                      llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("dtype", spelling(type.dtype));
    json.attributeArray("shape", [&] {
      for (int64_t extent : type.shape)
        json.value(extent);
    });
  });
}

static void printJson(const LoadedProgram &program, llvm::raw_ostream &out) {
  const Function &function = *program.function;
  Cost cost = countCost(function);
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("version", program.module->version);
    json.attribute("function", function.name);
    json.attribute("opset", function.opset);
    json.attributeArray("inputs", [&] {
      for (const auto &param : function.parameters())
        printPort(param->name, param->type, json);
    });
    json.attributeArray("outputs", [&] {
      for (unsigned i = 0; i < function.numResults(); ++i)
        printPort(function.resultNames()[i], function.result(i)->type, json);
    });
    json.attribute("ops", int64_t(cost.ops));
    json.attribute("flop", cost.flops);
    json.attribute("constant_bytes", int64_t(cost.weightBytes));
    json.attribute("input_bytes", int64_t(cost.inputBytes));
    json.attribute("output_bytes", int64_t(cost.outputBytes));
    json.attributeObject("histogram", [&] {
      for (const OpCount &row : histogram(function))
        json.attribute(row.name, int64_t(row.count));
    });
  });
  out << '\n';
}

void anec::printInfo(const LoadedProgram &program, bool json,
                     llvm::raw_ostream &out) {
  if (json)
    printJson(program, out);
  else
    printText(program, out);
}
