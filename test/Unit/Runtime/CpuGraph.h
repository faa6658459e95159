//===- CpuGraph.h - functions that the CPU backend runs ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds functions, and compares what the backend makes of them with the
/// interpreter.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_UNIT_CPUGRAPH_H
#define ANEC_TEST_UNIT_CPUGRAPH_H

#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gtest/gtest.h>

namespace anec {

/// A function under construction.
struct Graph {
  Graph() : builder(*function(), &diags) {}

  Value *input(DType dtype, llvm::ArrayRef<int64_t> shape) {
    return function()->addParameter(
        {dtype, shape}, "in" + std::to_string(function()->parameters().size()));
  }
  Value *input(llvm::ArrayRef<int64_t> shape) {
    return input(DType::FP16, shape);
  }
  Value *op(const OpDef &def, llvm::ArrayRef<Value *> operands,
            llvm::ArrayRef<Attr> attrs = {}) {
    return builder.build(def, operands, attrs);
  }
  Value *constant(TensorType type, uint64_t seed) {
    return op(ops::Const, {},
              Attr(param::val,
                   Constant::fromDoubles(type, randomTensor(type, seed).data)));
  }
  Value *reshape(Value *x, llvm::ArrayRef<int64_t> shape) {
    return op(ops::Reshape, {x}, Attr(param::shape, shape));
  }
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> perm) {
    return op(ops::Transpose, {x}, Attr(param::perm, perm));
  }

  void results(llvm::ArrayRef<Value *> values) {
    std::vector<std::string> names;
    for (size_t i = 0; i < values.size(); ++i)
      names.push_back("out" + std::to_string(i));
    std::vector<llvm::StringRef> views(names.begin(), names.end());
    function()->setResults(values, views);
  }
  std::string text() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printIR(*function(), stream);
    return text;
  }

  Function *function() {
    if (module.functions.empty())
      module.addFunction(FunctionKind::Kernel, "main");
    return module.functions.front().get();
  }

  Diagnostics diags;
  Module module;
  Builder builder;
};

inline ConstantRef toConstant(const RefTensor &tensor) {
  return Constant::fromDoubles(tensor.type, tensor.data);
}

/// What the backend makes of `inputs`, after a first run on other ones (whose
/// traces in memory must not show).
inline std::vector<std::vector<double>>
runBackend(Graph &graph, llvm::ArrayRef<RefTensor> inputs,
           const LoadOptions &options) {
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(*graph.function(), options, graph.diags);
  EXPECT_TRUE(executable);
  if (!executable)
    return {};
  std::vector<std::vector<uint8_t>> bytes;
  for (const Port &port : executable->outputs())
    bytes.emplace_back(port.type.numBytes());
  std::vector<llvm::MutableArrayRef<uint8_t>> out(bytes.begin(), bytes.end());
  for (bool last : {false, true}) {
    std::vector<ConstantRef> constants;
    for (auto [index, input] : llvm::enumerate(inputs))
      constants.push_back(
          toConstant(last ? input : randomTensor(input.type, 1000 + index)));
    std::vector<llvm::ArrayRef<uint8_t>> in;
    for (const ConstantRef &constant : constants)
      in.push_back(constant->bytes());
    EXPECT_TRUE(executable->run(in, out, graph.diags));
  }
  std::vector<std::vector<double>> results;
  for (auto [port, array] : llvm::zip_equal(executable->outputs(), bytes))
    results.push_back(Constant::copy(port.type, array)->asDoubles());
  return results;
}

/// Compares the backend with the interpreter, in both numerics, and runs with
/// one and with two threads bit by bit.
inline void check(Graph &graph) {
  ASSERT_FALSE(graph.diags.hasErrors()) << graph.diags.all()[0].message;
  std::vector<RefTensor> inputs;
  for (const auto &parameter : graph.function()->parameters()) {
    RefTensor input = randomTensor(parameter->type, inputs.size() + 1);
    for (double &element : input.data)
      element = roundToDType(element, parameter->type.dtype);
    inputs.push_back(std::move(input));
  }
  for (Numerics numerics : {Numerics::FP32, Numerics::FP16}) {
    bool half = numerics == Numerics::FP16;
    SCOPED_TRACE(half ? "fp16 numerics" : "fp32 numerics");
    InterpreterOptions options;
    options.roundToDType = half;
    std::vector<RefTensor> expected;
    ASSERT_TRUE(
        interpret(*graph.function(), inputs, expected, graph.diags, options));
    std::vector<std::vector<double>> alone;
    for (unsigned threads : {1u, 2u}) {
      auto results = runBackend(
          graph, inputs, {numerics, std::make_shared<Workspace>(threads)});
      if (threads == 1)
        alone = results;
      for (auto [one, two] : llvm::zip_equal(alone, results))
        EXPECT_TRUE(one.empty() ||
                    !std::memcmp(one.data(), two.data(), one.size() * 8))
            << "threads change bits of " << graph.text();
      ASSERT_EQ(results.size(), expected.size());
      for (auto [result, reference] : llvm::zip_equal(results, expected)) {
        // A sum that fp32 and fp64 round to different neighbours is one unit of
        // fp16 off, and so is what follows from it.
        bool exact = !isFloat(reference.type.dtype);
        double limit = exact ? 0 : half ? 2e-3 : 2e-5;
        EXPECT_LE(relativeError(result, reference.data), limit) << graph.text();
      }
    }
  }
}

} // namespace anec

#endif // ANEC_TEST_UNIT_CPUGRAPH_H
