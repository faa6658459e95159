//===- GraphReader.h - graphs of nodes to ops -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_GRAPHREADER_H
#define ANEC_LIB_ONNX_GRAPHREADER_H

#include "FixedInputs.h"
#include "Node.h"
#include "lib/MIL/FlexibleShapes.h"
#include "lib/Support/Listing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec::onnx {

/// The version of each domain's operators; that of ONNX has the key ``.
using Opsets = llvm::StringMap<int64_t>;

/// Reads the graph of a model as a kernel.
class GraphReader : public Scope {
public:
  /// `model` must outlive the reader.
  GraphReader(const proto::Model &model, llvm::StringRef path,
              TensorReader &tensors, mil::RequestedShapes &shapes,
              FixedInputs &inputs, SourceWeights *weights, Diagnostics &diags);
  bool read(Function &function);

private:
  /// The values of a graph or of a function's body, and of those around it.
  struct Environment {
    llvm::StringMap<Val> values;
    const Environment *outer = nullptr;
    const Opsets *opsets = nullptr;
    unsigned depth = 0;

    std::optional<Val> find(llvm::StringRef name) const;
  };

  bool readParameters(const proto::Graph &graph, Function &function);
  bool readParameter(const proto::ValueInfo &info, Function &function);
  std::optional<Shape> chooseShape(const proto::ValueInfo &info);
  bool readInitializers(const proto::Graph &graph, Environment &environment);
  bool readNodes(llvm::ArrayRef<proto::Node> nodes, Environment &environment);
  bool readNode(const proto::Node &node, Environment &environment);
  bool readRow(const OpRow &row, const proto::Node &node,
               Environment &environment, SourceRange range);
  bool inlineFunction(const proto::Function &callee, const proto::Node &node,
                      Environment &environment, SourceRange range);
  bool findInputs(const proto::Node &node, const Environment &environment,
                  SourceRange range, Vals &inputs);
  bool bindOutput(StringRef name, Val value, Environment &environment,
                  SourceRange range);
  bool readResults(const proto::Graph &graph, Function &function);

  void needConstant(Val x, llvm::StringRef what, SourceRange range) override;
  void keepConstant(Val x) override;
  bool isAtHand(Val x) override;
  bool readBranch(const proto::Graph &graph, llvm::ArrayRef<Val> inputs,
                  Vals &outputs) override;
  TensorReader &tensors() override { return reader; }

  const proto::Model &model;
  /// By domain and name.
  llvm::DenseMap<std::pair<StringRef, StringRef>, const proto::Function *>
      functions;
  std::string path;
  TensorReader &reader;
  mil::RequestedShapes &shapes;
  FixedInputs &fixed;
  SourceWeights *weights;
  Diagnostics &diags;
  Listing listing;
  Emitter *emitter = nullptr;
  Opsets opsets;
  Environment main;
  Environment *current = nullptr;
  SourceRange graphRange;
};

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_GRAPHREADER_H
