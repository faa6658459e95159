//===- FlexibleShapes.h - shapes for unknown extents -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An input can be declared with unknown extents; the program says which shapes
/// it allows, in text in the attribute FlexibleShapeInformation of the
/// function. anec needs known shapes, so the reader chooses one for each such
/// input, and all values computed from it have known shapes, too.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_FLEXIBLESHAPES_H
#define ANEC_LIB_MIL_FLEXIBLESHAPES_H

#include "anec/MIL/Reader.h"
#include "lib/MIL/Statement.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace anec::mil {

/// A parameter whose type has unknown extents until a shape is chosen.
struct FlexibleParameter {
  Value *value;
  TensorType declared;
  SourceRange typeRange;
};

/// The requested shapes and fixed inputs, and which of them matched an input.
class RequestedShapes {
public:
  explicit RequestedShapes(llvm::ArrayRef<InputShape> shapes,
                           llvm::ArrayRef<InputValue> values = {})
      : shapes(shapes), values(values) {}

  /// The shape requested for `name`; null when there is none.
  const InputShape *find(llvm::StringRef name);
  /// The numbers that are fixed for `name`; null when it is not fixed.
  const InputValue *findFixed(llvm::StringRef name);
  /// The same as a value of `type`. Null, with the reason reported, when they
  /// do not fit it.
  [[nodiscard]] static ConstantRef fit(const InputValue &fixed,
                                       const TensorType &type,
                                       SourceRange range, Diagnostics &diags);
  /// The numbers of an input that are at hand without being fixed, as a value
  /// of `type`; null when there are none, or they do not fit it.
  ConstantRef findAtHand(llvm::StringRef name, const TensorType &type) const;
  /// Reports requested shapes and fixed inputs that no function has.
  void reportUnused(Diagnostics &diags) const;

private:
  llvm::ArrayRef<InputShape> shapes;
  llvm::ArrayRef<InputValue> values;
  llvm::StringSet<> used;
};

/// What a program says about the shapes of a function's inputs.
class FlexibleShapes {
public:
  struct Input {
    std::optional<Shape> byDefault;
    /// The minimum and maximum extent of each axis; -1 is unbounded.
    std::vector<std::pair<int64_t, int64_t>> range;
    std::vector<Shape> enumerated;
    /// [1, channels, height, width]; files have [height, width, channels].
    bool isImage = false;

    /// What a shape of the same rank has to be for the list or the range;
    /// nothing where it is.
    std::optional<std::string> limitOn(llvm::ArrayRef<int64_t> shape) const;
  };
  /// The shapes of the input `name`, to be filled in.
  Input &operator[](llvm::StringRef name) { return inputs[name]; }

  /// Sets the requested or the default shape of `parameter`. Returns false
  /// after an error.
  [[nodiscard]] bool choose(const FlexibleParameter &parameter,
                            const InputShape *requested,
                            Diagnostics &diags) const;

private:
  [[nodiscard]] bool allows(const FlexibleParameter &parameter,
                            llvm::ArrayRef<int64_t> shape,
                            Diagnostics &diags) const;

  llvm::StringMap<Input> inputs;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_FLEXIBLESHAPES_H
