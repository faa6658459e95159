//===- DescriptionWriter.h - features of functions --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_DESCRIPTIONWRITER_H
#define ANEC_LIB_COREML_DESCRIPTIONWRITER_H

#include "Classifier.h"
#include "Messages.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace anec::coreml {

/// The key of the version of anec in the metadata of models.
inline constexpr llvm::StringLiteral versionKey = "anec.version";

/// Notes the inputs and outputs of each function that is written, and passes it
/// on to another sink, classifiers as `classify`.
class DescriptionWriter : public mil::ProgramSink {
public:
  /// `known` says what else is known of the functions; `classifiers` has those
  /// of functions that end in one, by their names.
  DescriptionWriter(mil::ProgramSink &next, const ModelDescription &known,
                    const llvm::StringMap<Classifier> &classifiers)
      : next(next), known(known), classifiers(classifiers) {}

  void
  beginFunction(llvm::StringRef name, llvm::StringRef opset,
                llvm::ArrayRef<mil::WrittenDeclaration> parameters) override;
  void addStatement(const mil::WrittenStatement &statement) override;
  void endFunction(llvm::ArrayRef<llvm::StringRef> results) override;

  /// The description of a model with these functions.
  proto::ModelDescription describe() const;

private:
  void describeClassifier(proto::FunctionDescription &function);

  mil::ProgramSink &next;
  const ModelDescription &known;
  const llvm::StringMap<Classifier> &classifiers;
  std::vector<proto::FunctionDescription> functions;
  /// The types of the values of the function, by name.
  llvm::StringMap<TensorType> types;
  const Classifier *classifier = nullptr;
  std::string probabilities; ///< that the classifier takes
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_DESCRIPTIONWRITER_H
