//===- KeptShapes.h - shapes that a rewritten model keeps -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An input of a package can have several shapes, and the IR has one. Where
/// only weights have changed, the operations of the source are right for all
/// shapes: they are written again as they were, and read the weights of the
/// program that was written of the IR.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_KEPTSHAPES_H
#define ANEC_LIB_COREML_KEPTSHAPES_H

#include "ModelParts.h"
#include "Package.h"
#include "ValueReader.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec::coreml {

class KeptShapes {
public:
  /// Opens the source at `path`. Returns nothing after an error, and null when
  /// its inputs have one shape each.
  [[nodiscard]] static std::optional<std::unique_ptr<KeptShapes>>
  open(llvm::StringRef path, Diagnostics &diags);

  /// The program of the source with the weights of `written`, a serialized
  /// `Program`. Nothing after an error.
  [[nodiscard]] std::optional<std::string> program(llvm::StringRef written);
  /// Gives the features of `description` the types that the source declares.
  void describe(proto::ModelDescription &description) const;

private:
  KeptShapes(llvm::StringRef path, ModelFiles files, Diagnostics &diags);

  /// The operations of a function by the names of their results.
  using Operations = llvm::StringMap<proto::Operation>;
  struct FunctionPlan;

  bool malformed();
  [[nodiscard]] bool collect(Bytes block, Operations &operations);
  [[nodiscard]] bool rewriteFunction(Bytes function, const Operations &written,
                                     std::string &out);
  [[nodiscard]] bool rewriteBlock(Bytes block, FunctionPlan &plan, bool isTop,
                                  std::string &out);
  [[nodiscard]] bool rewriteOperation(Bytes bytes, FunctionPlan &plan,
                                      bool isTop, std::string &out);
  [[nodiscard]] bool placeValue(proto::Value &value, const proto::Value *placed,
                                llvm::StringRef name);

  std::string path;
  MappedFile file;
  ModelParts parts;
  Diagnostics &diags;
  MILReadOptions reading;
  std::optional<ValueReader> values;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_KEPTSHAPES_H
