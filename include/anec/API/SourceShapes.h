//===- SourceShapes.h - shapes that a written package keeps -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_SOURCESHAPES_H
#define ANEC_API_SOURCESHAPES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

class Diagnostics;
struct CompileOptions;
struct CoreMLOptions;
struct ModelDescription;
struct SourceFormat;

/// The shapes that inputs of a source can have, where a program has one. A
/// package that is written keeps them if only weights have changed.
class SourceShapes {
public:
  SourceShapes() = default;
  /// Of the source at `path`, of which `description` was read, and which was
  /// compiled with `options`, and with passes or without.
  SourceShapes(llvm::StringRef path, const SourceFormat &format,
               const CompileOptions &options, bool hasPasses,
               const ModelDescription &description);

  /// Sets `shapesOf` of the options of a package, or warns that it has one
  /// shape, and why.
  void keep(CoreMLOptions &options, bool isCompiled, Diagnostics &diags) const;

private:
  std::string source;
  std::string inputs; ///< "`x`, `y`": those that can have several shapes
  std::string lost;   ///< why a package has one shape; empty when it has all
};

} // namespace anec

#endif // ANEC_API_SOURCESHAPES_H
