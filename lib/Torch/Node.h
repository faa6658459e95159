//===- Node.h - a node that becomes ops -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_NODE_H
#define ANEC_LIB_TORCH_NODE_H

#include "Program.h"
#include "Schema.h"
#include "SchemaNames.h"
#include "Weights.h"
#include "lib/Onnx/Node.h"

namespace anec::torch {

using onnx::Emitter;
using onnx::Val;
using onnx::Vals;

/// A value of the graph.
struct Item {
  Val val;
  ScalarType type = ScalarType::Float32;
  /// A Python number: it adapts to the element type of tensors.
  bool isNumber = false;
  bool isList = false;
  std::vector<Item> list;

  explicit operator bool() const { return bool(val); }
};

/// The element type that ops have for `type`; fp32 for complex ones.
DType nativeType(ScalarType type);
bool isFloating(ScalarType type);
bool isIntegral(ScalarType type);
/// The type of the result of operators that take tensors and numbers.
ScalarType promote(llvm::ArrayRef<Item> operands);

/// What a node needs of the graph around it.
class Scope : public onnx::Scope {
public:
  /// The value of the graph with this name; empty if there is none.
  virtual Item find(StringRef name) = 0;
  /// Reads a graph whose inputs are `inputs`.
  virtual bool readBody(const Graph &graph, llvm::ArrayRef<Item> inputs,
                        std::vector<Item> &outputs) = 0;
  /// What PyTorch says of a value; null if nothing.
  virtual const TensorMeta *metaOf(StringRef name) = 0;
  /// The extents, with symbols as they were chosen.
  virtual std::optional<Shape> shapeOf(const TensorMeta &meta) = 0;
};

/// A node: what the function of a row reads, and gives results to. After an
/// error, accessors return something harmless.
class Node {
public:
  Node(const GraphNode &message, StringRef op, SourceRange range, Emitter &e,
       Scope &scope);

  Emitter &e;

  /// `aten.add.Tensor`.
  StringRef op() const { return name; }

  // Arguments, by the name of the parameter. One that is not given has its
  // default; one that nothing asks for must have it.
  /// Whether it is neither None nor missing.
  bool has(StringRef parameter);
  const Argument &argument(StringRef parameter);
  void ignore(StringRef parameter) { argument(parameter); }

  /// A tensor or a number.
  Item item(StringRef parameter);
  /// The same of an argument.
  Item itemOf(const Argument &argument);
  /// A tensor, in an element type that ops have.
  Val in(StringRef parameter) { return e.native(item(parameter).val); }
  Val maybe(StringRef parameter) {
    return has(parameter) ? in(parameter) : Val();
  }
  std::vector<Item> items(StringRef parameter);
  ScalarType typeOf(StringRef parameter) { return item(parameter).type; }
  int64_t integer(StringRef parameter);
  Shape ints(StringRef parameter);
  double number(StringRef parameter);
  std::vector<double> numbers(StringRef parameter);
  bool flag(StringRef parameter);
  llvm::SmallVector<bool> flags(StringRef parameter);
  StringRef text(StringRef parameter);
  /// An element type; `fallback` if it is None.
  ScalarType type(StringRef parameter, ScalarType fallback);
  /// The elements, which must be known; an error if they are not.
  ConstantRef known(Val x, StringRef what);
  /// An axis, not negative.
  int64_t axis(StringRef parameter, int64_t rank);
  int64_t normalized(int64_t axis, int64_t rank);
  /// Axes without order; all if there are none.
  Shape axes(StringRef parameter, int64_t rank);
  /// A number for each of `count` axes; one stands for all.
  Shape spatial(StringRef parameter, size_t count);
  /// The arguments of an operator of higher order.
  size_t numArguments() const { return message.inputs.size(); }
  const Argument &argumentAt(size_t index);

  // Results.
  size_t numOutputs() const { return outputs.size(); }
  const Argument &outputAt(size_t index) const {
    return message.outputs[index];
  }
  bool wants(size_t index) const {
    return index < outputs.size() &&
           message.outputs[index].kind != Argument::Kind::None;
  }
  /// What PyTorch says of a result.
  ScalarType outType(size_t index = 0);
  Shape outShape(size_t index = 0);
  /// The result, converted to the element type that PyTorch says.
  void out(Val value) { out(0, value); }
  void out(size_t index, Val value);
  void outItem(size_t index, Item item) { outputs[index] = std::move(item); }
  void outList(llvm::ArrayRef<Val> values);
  llvm::ArrayRef<Item> results() const { return outputs; }

  // What most rows need.
  /// `x` converted as PyTorch does it: numbers to bool by whether they are 0,
  /// wide integers to narrow ones modulo their range.
  Val cast(Val x, ScalarType from, ScalarType to);
  Val cast(const Item &x, ScalarType to) { return cast(x.val, x.type, to); }
  Val number(ScalarType type, double value) {
    return e.scalar(nativeType(type), value);
  }

  SourceRange sourceRange() const { return range; }
  Scope &around() { return scope; }
  StringRef outputName(size_t index) const;
  /// Reports why the node cannot be read, the first time.
  void fail(const llvm::Twine &why);
  bool failed() const { return hasFailed; }
  /// The same without a report: there was one, or the program is read again.
  void stop() { hasFailed = true; }
  /// Reports a given argument that nothing has asked for.
  bool checkAllRead();

private:
  bool isDefault(const Argument &given, StringRef parameter) const;

  const GraphNode &message;
  StringRef name;
  SourceRange range;
  Scope &scope;
  const std::vector<Parameter> *parameters;
  std::vector<Item> outputs;
  llvm::SmallVector<bool> wasRead;
  bool hasFailed = false;
};

/// A node of ONNX with the same meaning, whose row makes the ops.
class OnnxNode {
public:
  OnnxNode(Node &node, llvm::StringLiteral op, int64_t opset = 21)
      : node(node), opset(opset) {
    message.opType = op;
  }
  OnnxNode &in(Val x) {
    inputs.push_back(x);
    return *this;
  }
  OnnxNode &attr(llvm::StringLiteral name, int64_t value);
  OnnxNode &attr(llvm::StringLiteral name, llvm::ArrayRef<int64_t> values);
  OnnxNode &attr(llvm::StringLiteral name, llvm::StringRef value);
  OnnxNode &number(llvm::StringLiteral name, double value);
  /// The results; missing ones after an error.
  Vals run(size_t numOutputs);
  Val run() { return run(1).front(); }

private:
  onnx::proto::Attribute &add(llvm::StringLiteral name);

  Node &node;
  int64_t opset;
  onnx::proto::Node message;
  Vals inputs;
};

// Never defined: a constant row cannot call it, so the compiler's error names
// what the row lacks. test/World/_torch_schemas.py writes the schemas.
void rowNeedsSchema();

constexpr bool isDeclared(llvm::StringLiteral op) {
  if (!hasSchema({op.data(), op.size()}))
    rowNeedsSchema();
  return true;
}

/// A row of the table of operators. Its parameters are in Schemas.def.
struct OpRow {
  llvm::StringLiteral name;
  void (*read)(Node &node) = nullptr;
  /// What is not supported; empty for nothing.
  llvm::StringLiteral limits = "";
  /// Whether tensors can be complex, which have an axis more.
  bool takesComplex = false;
  /// Computed, so that a row without a schema is an error where it is compiled.
  bool checked = isDeclared(name);
};

/// An operator without a counterpart.
struct RefusedOp {
  llvm::StringLiteral name, reason;
};

/// All rows, by name.
llvm::ArrayRef<OpRow> opRows();
llvm::ArrayRef<RefusedOp> refusedOps();

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_NODE_H
