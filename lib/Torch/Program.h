//===- Program.h - exported programs ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What torch.export.save writes of a program: the dataclasses of PyTorch's
/// `torch/_export/serde/schema.py`, as far as they are read. Strings refer to
/// the JSON of the archive.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_PROGRAM_H
#define ANEC_LIB_TORCH_PROGRAM_H

#include "JsonTree.h"
#include "anec/IR/Type.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>

namespace anec::torch {

using llvm::StringRef;

/// Element types, by the numbers of PyTorch's schema.
enum class ScalarType : uint8_t {
  None = 0,
  UInt8 = 1,
  Int8 = 2,
  Int16 = 3,
  Int32 = 4,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Complex32 = 9,
  Complex64 = 10,
  Complex128 = 11,
  Bool = 12,
  BFloat16 = 13,
  UInt16 = 28,
  Float8E4M3FN = 29,
  Float8E5M2 = 30,
  UInt32 = 34,
  UInt64 = 35,
};
/// `float32`.
std::string spelling(ScalarType type);

/// An extent: a number, or an expression over symbols in the form of sympy's
/// `srepr`.
struct Extent {
  std::optional<int64_t> value;
  StringRef expression;
  std::optional<int64_t> hint; ///< what it was in the export
};
/// The extents, if all are known.
std::optional<Shape> numbersOf(llvm::ArrayRef<Extent> extents);

struct TensorMeta {
  ScalarType type = ScalarType::None;
  std::vector<Extent> sizes, strides;
  Extent offset;
  bool isStrided = true;
  bool requiresGrad =
      false; ///< of parameters; of what is computed, it is false
};

struct Graph;

/// An argument of a node or of an output.
struct Argument {
  enum class Kind : uint8_t {
    None,
    Value, ///< a tensor or a number of the graph, by name
    Int,
    Float,
    Bool,
    String,
    Type,      ///< an element type, as an integer
    Placement, ///< a device, a layout or a memory format
    Graph,
    List,
    Other, ///< a kind that is not read, which `text` names
  };
  Kind kind = Kind::None;
  StringRef text;      ///< of Value the name, of String and Other the words
  int64_t integer = 0; ///< of Int and Type; of Bool 0 or 1
  double number = 0;
  std::vector<Argument> list;
  std::shared_ptr<Graph> graph;

  static Argument value(StringRef name) {
    return {.kind = Kind::Value, .text = name};
  }
  static Argument ofInt(int64_t value) {
    return {.kind = Kind::Int, .integer = value};
  }
};

struct NamedArgument {
  StringRef name; ///< empty for operators of higher order
  Argument argument;
};

struct GraphNode {
  StringRef target; ///< `torch.ops.aten.add.Tensor`
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  StringRef stackTrace, moduleStack;
  bool isDetached = false; ///< in a region of `torch.no_grad`
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<GraphNode> nodes;
  llvm::StringMap<TensorMeta> tensors;
  /// What a pass adds has names of its own.
  std::vector<std::unique_ptr<std::string>> ownNames;
  StringRef keepName(std::string name) {
    ownNames.push_back(std::make_unique<std::string>(std::move(name)));
    return *ownNames.back();
  }
};

struct InputSpec {
  enum class Kind : uint8_t {
    User,
    Parameter,
    Buffer,
    Tensor,   ///< a constant
    Constant, ///< a Python number, which the nodes have themselves
    Token,
    Other, ///< `name` says which
  };
  Kind kind = Kind::Other;
  StringRef name;   ///< of the value in the graph
  StringRef target; ///< of a parameter, buffer or constant, in the model
  bool isPersistent = true;
};

struct OutputSpec {
  enum class Kind : uint8_t {
    User,
    Loss,
    Gradient,      ///< of the parameter `target`
    InputGradient, ///< of the input `target`
    BufferChange,  ///< the new contents of the buffer `target`
    InputChange,   ///< the same of an input
    Token,
    Other,
  };
  Kind kind = Kind::Other;
  Argument argument;
  StringRef target;
};

struct Range {
  int64_t least = 0;
  std::optional<int64_t> most;
};

struct Program {
  JsonTree json; ///< what the strings refer to
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  /// Of symbols, by name.
  std::map<StringRef, Range> ranges;
  /// The form of the outputs as a pytree, in JSON; may be empty.
  StringRef outSpec;
  StringRef torchVersion;

  /// Reads the JSON text, which must outlive the program. Returns false, with
  /// `error` set, if it is malformed, or of another version of the schema.
  bool read(StringRef text, std::string &error);
};

/// Reads a TensorMeta; false if it is malformed.
bool readTensorMeta(const JsonValue &json, TensorMeta &meta);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_PROGRAM_H
