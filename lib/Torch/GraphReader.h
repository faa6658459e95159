//===- GraphReader.h - graphs of ATen nodes to ops --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_GRAPHREADER_H
#define ANEC_LIB_TORCH_GRAPHREADER_H

#include "Node.h"
#include "Shapes.h"
#include "lib/Onnx/GraphReader.h"

namespace anec::torch {

/// Reads a program as a kernel.
class GraphReader : public Scope {
public:
  /// `program` must outlive the reader; `inputs` are those that are read now.
  GraphReader(const Program &program, StringRef path, Weights &weights,
              mil::RequestedShapes &requested, onnx::FixedInputs &inputs,
              size_t fileSize, SourceWeights *trained, Diagnostics &diags);
  /// Whether checksums of weights are compared only where the program depends
  /// on their elements.
  bool defersChecksums = false;
  bool read(Function &function);

private:
  /// The values of a graph.
  struct Environment {
    const Graph *graph = nullptr;
    llvm::StringMap<Item> values;
  };

  bool readInputs(Function &function);
  void noteWeights();
  bool readUserInput(const InputSpec &spec, Function &function);
  bool readState(const InputSpec &spec, Function &function);
  bool readNodes(const Graph &graph);
  bool readNode(const GraphNode &message);
  bool readRow(const OpRow &row, const GraphNode &message, StringRef op,
               SourceRange range);
  bool refuseNode(const GraphNode &message, StringRef op, SourceRange range);
  bool bindResults(const GraphNode &message, Node &node);
  bool bind(StringRef name, Item item, Node &node);
  bool checkResult(StringRef name, const Item &item, Node &node);
  bool readResults(Function &function);
  bool readChanges(Function &function);
  /// Reports the errors that ops and rows had as those of the node.
  bool takeErrors(SourceRange range, const GraphNode *message);
  Item readConstant(const InputSpec &spec);
  void checkElements(const Constant &constant);
  Item outputItem(const Argument &argument);

  Item find(StringRef name) override;
  bool readBody(const Graph &graph, llvm::ArrayRef<Item> inputs,
                std::vector<Item> &outputs) override;
  const TensorMeta *metaOf(StringRef name) override;
  std::optional<Shape> shapeOf(const TensorMeta &meta) override;
  void needConstant(Val x, StringRef what, SourceRange range) override;
  void keepConstant(Val x) override;
  bool isAtHand(Val x) override;
  bool readBranch(const onnx::proto::Graph &, llvm::ArrayRef<Val>,
                  Vals &) override {
    return false;
  }
  onnx::TensorReader &tensors() override { return reader; }

  const Program &program;
  std::string path;
  Weights &weights;
  mil::RequestedShapes &requested;
  onnx::FixedInputs &fixed;
  size_t fileSize;
  SourceWeights *sourceWeights;
  Diagnostics &diags;
  Diagnostics found; ///< errors of the emitter and of rows
  Listing listing;
  onnx::TensorReader reader;
  Shapes shapes;
  Emitter *emitter = nullptr;
  bool isDetached = false; ///< no gradient passes through the node's results
  Environment main;
  Environment *current = nullptr;
  SourceRange graphRange;
  /// Inputs that are tensors of the archive, until they are used.
  llvm::StringMap<const InputSpec *> unread;
  struct State {
    Value *parameter = nullptr;
    ConstantRef initial; ///< null if it is 0
    ScalarType type = ScalarType::Float32;
  };
  llvm::StringMap<State> states; ///< by the buffer
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_GRAPHREADER_H
