//===- Node.h - a node that becomes ops -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_NODE_H
#define ANEC_LIB_ONNX_NODE_H

#include "Emitter.h"
#include "Messages.h"
#include "TensorReader.h"

namespace anec::onnx {

/// What a node needs of the graph around it.
class Scope {
public:
  virtual ~Scope() = default;
  /// Reports that `x` is needed now; `what` is what it says in the message.
  /// Nothing is reported if the graph can be read again with inputs fixed.
  virtual void needConstant(Val x, llvm::StringRef what, SourceRange range) = 0;
  /// Keeps the weights that `x` is computed from constants: it is no parameter.
  virtual void keepConstant(Val x) = 0;
  /// Whether `needConstant` reports nothing.
  virtual bool isAtHand(Val x) = 0;
  /// Reads a graph of the node, whose inputs are `inputs`; its outputs go to
  /// `outputs`.
  virtual bool readBranch(const proto::Graph &graph, llvm::ArrayRef<Val> inputs,
                          Vals &outputs) = 0;
  virtual TensorReader &tensors() = 0;
};

/// A node: what the function of a row reads, and gives results to. After an
/// error, accessors return something harmless.
class Node {
public:
  Node(const proto::Node &message, int64_t opset, SourceRange range,
       llvm::ArrayRef<Val> inputs, Emitter &e, Scope &scope)
      : e(e), message(message), version(opset), range(range), inputs(inputs),
        scope(scope), outputs(message.output.size()),
        wasRead(message.attribute.size()) {}

  Emitter &e;

  /// See Scope.
  void keepConstant(Val x) { scope.keepConstant(x); }

  llvm::StringRef op() const { return message.opType; }
  /// The version of ONNX's operators; 1 if the node is of another domain.
  int64_t opset() const { return version; }

  // Inputs.
  size_t numInputs() const { return inputs.size(); }
  bool has(size_t index) const {
    return index < inputs.size() && inputs[index];
  }
  /// The input in an element type that ops have; an error if it is not there.
  Val in(size_t index);
  /// The same; missing if it is not there.
  Val maybe(size_t index);
  /// The input as it is: constants keep their element type.
  Val raw(size_t index);
  /// The elements of an input; an error if they are not known. Null then.
  ConstantRef known(size_t index);
  /// An error if one takes more than 32 bits.
  Shape ints(size_t index);
  Shape wideInts(size_t index);
  int64_t integer(size_t index);
  double number(size_t index);
  std::vector<double> numbers(size_t index);

  // Attributes, which the schema of the operator has (Attributes.def). One that
  // is not given has the schema's value, or `fallback` if there is none.
  bool hasAttr(llvm::StringRef name) const { return find(name) != nullptr; }
  /// An error if it takes more than 32 bits.
  int64_t attr(llvm::StringRef name, int64_t fallback);
  /// Any number.
  int64_t wideAttr(llvm::StringRef name, int64_t fallback) const;
  double attrNumber(llvm::StringRef name, double fallback) const;
  StringRef attrText(llvm::StringRef name, llvm::StringRef fallback) const;
  /// One of `choices`; an error, and the first of them, if it is another.
  StringRef attrChoice(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringLiteral> choices);
  /// Empty when it is not there; an error if one takes more than 32 bits.
  Shape attrInts(llvm::StringRef name);
  Shape wideAttrInts(llvm::StringRef name) const;
  std::vector<double> attrNumbers(llvm::StringRef name) const;
  std::vector<StringRef> attrTexts(llvm::StringRef name) const;
  /// Null, with an error reported, when it is not there.
  ConstantRef attrTensor(llvm::StringRef name);
  const proto::Attribute *find(llvm::StringRef name) const;
  /// Allows an attribute that says nothing about results, or only of forms of
  /// the operator that are refused.
  void ignore(llvm::StringRef name);
  /// Whether the schema has the attribute.
  bool knows(llvm::StringRef name) const;
  /// Which attributes of the node were asked for.
  llvm::ArrayRef<bool> readAttributes() const { return wasRead; }
  /// Reads the graph of an attribute.
  bool branch(llvm::StringRef name, Vals &results,
              llvm::ArrayRef<Val> inputs = {});
  /// Whether `known` reports nothing.
  bool isAtHand(size_t index) { return scope.isAtHand(raw(index)); }
  /// The same of a value that a graph of the node computes.
  bool isAtHand(Val x) { return scope.isAtHand(x); }
  /// Reports that `x`, which a graph of the node computes, must be known.
  void need(Val x, llvm::StringRef what);
  /// The attribute `axis`, not negative; an error if there is no such axis.
  int64_t axis(int64_t fallback, int64_t rank);
  int64_t normalized(int64_t axis, int64_t rank);
  /// Of an attribute in earlier versions, and of an input since `since`; all
  /// axes when there are none.
  Shape axes(size_t input, int64_t since, int64_t rank,
             bool emptyMeansAll = true);

  // Outputs.
  size_t numOutputs() const { return outputs.size(); }
  bool wants(size_t index) const {
    return index < outputs.size() && !message.output[index].empty();
  }
  void out(Val value) { out(0, value); }
  void out(size_t index, Val value);
  llvm::ArrayRef<Val> results() const { return outputs; }

  /// Whether a table of these extents may be computed now; an error if not.
  bool affords(llvm::ArrayRef<int64_t> extents);
  /// Reports why the node cannot be read, the first time.
  void fail(const llvm::Twine &why);
  /// The node is right, and has no counterpart.
  void refuse(const llvm::Twine &why);
  bool failed() const { return hasFailed; }

private:
  bool isNarrow(llvm::StringRef what, llvm::ArrayRef<int64_t> values);
  void tooLarge(llvm::ArrayRef<int64_t> extents);

  const proto::Node &message;
  int64_t version;
  SourceRange range;
  llvm::ArrayRef<Val> inputs;
  Scope &scope;
  Vals outputs;
  mutable llvm::SmallVector<bool> wasRead;
  bool hasFailed = false;
};

/// A row of the table of operators. Its inputs, outputs and attributes are in
/// Signatures.def and Attributes.def, which test/World/_onnx_schemas.py writes;
/// test/Onnx/rows.test refuses one that is not there. Headers do not read
/// those tables, so that a new operator does not compile all others again.
struct OpRow {
  llvm::StringLiteral name;
  void (*read)(Node &node) = nullptr;
  /// The first version of the operator set that has it.
  int since = 1;
  /// What is not supported; empty for nothing.
  llvm::StringLiteral limits = "";
  /// Whether inputs can be sequences and optional values.
  bool takesSequences = false;
};

/// An operator without a counterpart.
struct RefusedOp {
  llvm::StringLiteral name, reason;
};

/// All rows of a domain by name; none of one that is not known.
llvm::ArrayRef<OpRow> opRows(llvm::StringRef domain);
llvm::ArrayRef<RefusedOp> refusedOps(llvm::StringRef domain);
/// The newest version of the operator set whose operators are known.
inline constexpr int64_t newestOpset = 28;
inline constexpr int64_t oldestOpset = 1;

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_NODE_H
