//===- FlexibleShapes.h - shapes for unknown extents -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An input can be declared with unknown extents; the function's attribute
/// FlexibleShapeInformation lists its allowed shapes. anec needs known shapes,
/// so the reader chooses one for each such input, and all values computed from
/// it have known shapes, too.
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

/// The requested shapes, and which of them matched an input.
class RequestedShapes {
public:
  explicit RequestedShapes(llvm::ArrayRef<InputShape> shapes)
      : shapes(shapes) {}

  /// The shape requested for `name`; null when there is none.
  const InputShape *find(llvm::StringRef name);
  /// Reports requested shapes for inputs that no function has.
  void reportUnused(Diagnostics &diags) const;

private:
  llvm::ArrayRef<InputShape> shapes;
  llvm::StringSet<> used;
};

/// The FlexibleShapeInformation of a function's inputs.
class FlexibleShapes {
public:
  /// Reads the attribute's value; returns false when it is invalid, which is
  /// not reported.
  bool read(const Literal &literal);

  /// Sets the requested or the default shape of `parameter`. Returns false
  /// after an error.
  [[nodiscard]] bool choose(const FlexibleParameter &parameter,
                            const InputShape *requested,
                            Diagnostics &diags) const;

private:
  struct Input {
    std::optional<Shape> byDefault;
    /// The minimum and maximum extent of each axis; -1 is unbounded.
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
