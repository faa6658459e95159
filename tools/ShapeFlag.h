//===- ShapeFlag.h - --shape of both tools ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_SHAPEFLAG_H
#define ANEC_TOOLS_SHAPEFLAG_H

#include "lib/MIL/ShapeArgument.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// `--shape=x=1x3x64`, once for each input.
class ShapeFlag {
public:
  explicit ShapeFlag(llvm::StringRef description =
                         "The shape of an input of MIL with unknown extents")
      : shapes("shape", llvm::cl::value_desc("NAME=1x3x64"),
               llvm::cl::desc(description)) {}

  /// The error in the values; empty when they are valid.
  std::string check() const {
    for (const std::string &shape : shapes)
      if (!parseInputShape(shape))
        return "--shape takes NAME=1x3x64, not `" + shape + "`";
    return "";
  }
  /// The shapes, after `check`.
  std::vector<InputShape> values() const {
    std::vector<InputShape> values;
    for (const std::string &shape : shapes)
      values.push_back(*parseInputShape(shape));
    return values;
  }

private:
  llvm::cl::list<std::string> shapes;
};

} // namespace anec

#endif // ANEC_TOOLS_SHAPEFLAG_H
