//===- FlexibleShapes.h - shapes for unknown extents -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An input may be declared with unknown extents; the function's attribute
/// FlexibleShapeInformation says which shapes it takes. All of anec works on
/// known shapes, so the reader chooses one for each such input, and what
/// follows from them has known shapes, too.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_FLEXIBLESHAPES_H
#define ANEC_LIB_MIL_FLEXIBLESHAPES_H

#include "ValueReader.h"
#include "anec/MIL/Reader.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec::mil {

/// A parameter whose type has unknown extents until a shape is chosen.
struct FlexibleParameter {
  Value *value;
  TensorType declared;
  SourceRange typeRange;
};

/// The shapes that the reader was asked for, and which of them had an input.
class RequestedShapes {
public:
  explicit RequestedShapes(llvm::ArrayRef<InputShape> shapes)
      : shapes(shapes) {}

  /// The shape asked for `name`; null when there is none.
  const InputShape *find(llvm::StringRef name);
  /// Reports the shapes for inputs that no function has.
  void reportUnused(Diagnostics &diags) const;

private:
  llvm::ArrayRef<InputShape> shapes;
  llvm::StringSet<> used;
};

/// What FlexibleShapeInformation says about the inputs of a function.
class FlexibleShapes {
public:
  /// Reads the attribute's value; false when it is none, which is not reported.
  bool read(const Literal &literal);

  /// Gives `parameter` the shape that was asked for, or its default one. False
  /// after an error.
  [[nodiscard]] bool choose(const FlexibleParameter &parameter,
                            const InputShape *requested,
                            Diagnostics &diags) const;

private:
  struct Input {
    std::optional<Shape> byDefault;
    /// The least and the most elements of each axis; -1 is any number.
    std::vector<std::pair<int64_t, int64_t>> range;
    std::vector<Shape> enumerated;
  };
  bool readEntry(llvm::StringRef key, const Literal &dictionary);
  bool readEnumerated(llvm::StringRef name, const Literal &value);
  [[nodiscard]] bool allows(const FlexibleParameter &parameter,
                            llvm::ArrayRef<int64_t> shape,
                            Diagnostics &diags) const;

  llvm::StringMap<Input> inputs;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_FLEXIBLESHAPES_H
