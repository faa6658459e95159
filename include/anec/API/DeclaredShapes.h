//===- DeclaredShapes.h - shapes as a source declares them ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_DECLAREDSHAPES_H
#define ANEC_API_DECLAREDSHAPES_H

#include "anec/IR/IR.h"

namespace anec {

/// The shapes of a kernel's inputs and results as its source declares them. The
/// engine's programs have others, of rank 4, and callers of Core ML expect the
/// declared ones.
class DeclaredShapes {
public:
  DeclaredShapes() = default;
  explicit DeclaredShapes(const Function &function);

  /// Gives `function`, which passes made of that kernel, the declared shapes,
  /// with reshapes in the program.
  void restore(Function &function) const;

private:
  struct Port {
    std::string name;
    Shape shape;
  };
  std::vector<Port> inputs, results;
};

} // namespace anec

#endif // ANEC_API_DECLAREDSHAPES_H
