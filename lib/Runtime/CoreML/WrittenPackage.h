//===- WrittenPackage.h - a function as a package on disk -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_WRITTENPACKAGE_H
#define ANEC_LIB_RUNTIME_COREML_WRITTENPACKAGE_H

#include "anec/Runtime/Backend.h"
#include "lib/Support/TemporaryFolder.h"

namespace anec::coreml {

/// An input, output or state, and the element type that the package has for it:
/// Core ML has no bool, for example.
struct PackagedPort {
  Port port;
  DType elements;
};

/// A package with one function, `main`, in a temporary folder.
struct WrittenPackage {
  /// Returns nothing, with the reason reported, on failure.
  [[nodiscard]] static std::optional<WrittenPackage>
  write(const Function &function, Executor &executor, Diagnostics &diags);

  std::shared_ptr<TemporaryFolder> folder; ///< removed with the package
  std::string path;                        ///< `.mlpackage`
  std::string digest;                      ///< of its files
  std::vector<PackagedPort> inputs, outputs, states;
};

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_WRITTENPACKAGE_H
