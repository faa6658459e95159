//===- Classifier.h - classifiers that are written --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_CLASSIFIER_H
#define ANEC_LIB_COREML_CLASSIFIER_H

#include "anec/MIL/ModelDescription.h"
#include "lib/MIL/ProgramSink.h"
#include "llvm/ADT/StringMap.h"

namespace anec::coreml {

/// The op `classify` that ends a function: in the IR, the index of the most
/// probable class and the probabilities.
struct Classifier {
  std::string label, probabilities; ///< names of results
  ConstantRef classes;

  bool has(llvm::StringRef name) const {
    return name == label || name == probabilities;
  }
  bool hasStrings() const { return classes->dtype() == DType::String; }
};

/// The classifier of a function whose description has the classes. Its two
/// results become copies of the probabilities that the op takes. Nothing if the
/// function does not end in a classifier.
std::optional<Classifier> takeClassifier(Function &function,
                                         const FunctionDescription &described);

/// The statement refers to the names in `classifier`.
mil::WrittenStatement classifyStatement(const Classifier &classifier,
                                        llvm::StringRef probabilities);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_CLASSIFIER_H
