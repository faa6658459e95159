//===- PipelineReader.h - pipelines of models to IR -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_PIPELINEREADER_H
#define ANEC_LIB_COREML_PIPELINEREADER_H

#include "ModelParts.h"
#include "ValueReader.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/IR/Clone.h"
#include "lib/Support/Listing.h"

namespace anec {
class OpTable;
class Builder;
} // namespace anec

namespace anec::coreml {

/// Reads the programs of a model. What `ValueReader` refers to, it does too.
struct PartReader {
  const OpTable &ops;
  ValueReader &values;
  Listing &listing;
  Diagnostics &diags;
  llvm::ArrayRef<InputValue> fixed = {}; ///< inputs that are constants

  /// Adds the functions of the program `part`, or only `function`, to `module`.
  /// `place` is as for ProgramReader.
  bool read(const ModelParts &part, llvm::StringRef function,
            llvm::StringRef place, llvm::ArrayRef<InputShape> shapes,
            bool reportUnused, Module &module,
            anec::ModelDescription &description);
};

/// Joins the programs of a pipeline to one function, as Core ML runs them: part
/// after part, which take by their names what the pipeline's inputs and the
/// outputs of earlier parts are.
class PipelineReader {
public:
  PipelineReader(PartReader &reader, const MILReadOptions &options,
                 const ModelParts &pipeline, Module &module);

  /// Adds the function `main`, and describes it in `options.description`. With
  /// separate parts, it adds a function for each instead.
  bool read();

private:
  /// The features that the parts of a pipeline can take.
  struct Scope {
    const ModelParts &pipeline;
    Scope *parent = nullptr;
    struct Feature {
      Value *value = nullptr;
      /// Of the part that gave it; null for inputs of the pipeline.
      const proto::FeatureType *type = nullptr;
    };
    llvm::StringMap<Feature> features = {};
  };
  const Scope::Feature *find(Scope &scope, llvm::StringRef name,
                             const TensorType *wanted);
  bool readParts(Scope &scope);
  bool readPart(const ModelParts &part, Scope &scope, bool isLast);
  bool readInner(const ModelParts &part, Scope &scope);
  bool readProgram(const ModelParts &part, Scope &scope);
  bool refuse(const ModelParts &part, Scope &scope, bool isLast);
  std::vector<InputShape> shapesFor(const ModelParts &part, Scope &scope);
  bool isDescribed(const Value &param, const Scope &scope, SourceRange range);
  bool addInput(llvm::StringRef name, Scope &scope, SourceRange range);
  Value *bind(const Value &param, const proto::FeatureDescription *described,
              Scope &scope, SourceRange range);
  Value *fit(Value *value, const Value &param, const Scope::Feature &feature,
             const proto::FeatureDescription *described, SourceRange range);
  Value *bindState(const Value &state, SourceRange range);
  Value *defaultOf(const Value &param, const proto::FeatureDescription &input,
                   SourceRange range);
  bool readSuppression(const ModelParts &part, Scope &scope);
  bool finish(Scope &scope);
  void addUnusedInputs();
  void reportUnusedShapes();
  SourceRange rangeOf(const ModelParts &part);

  PartReader &reader;
  const MILReadOptions &options;
  const ModelParts &pipeline;
  Module &module;
  Diagnostics &diags;
  bool isSeparate;
  bool isJoined = true; ///< false after a part that is no program
  std::unique_ptr<Function> joined;
  std::optional<BoxSuppression> suppression;
  llvm::StringMap<ConstantRef> classes; ///< of the labels, by output
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_PIPELINEREADER_H
