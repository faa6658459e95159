//===- Compiler.h - the double's compiler and engine -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the double has behind its classes: it reads staged folders as the real
/// compiler does, and computes with the CPU backend. Knows nothing of the
/// backend that it tests.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_COMPILER_H
#define ANEC_TEST_ANE_COMPILER_H

#include "anec/Runtime/Backend.h"
#include <set>

namespace ane_double {

/// Where an input or output lies in a surface: planes of rows.
struct Placement {
  std::string name;
  anec::TensorType type;
  size_t rows, rowBytes, stride;
  size_t planeRows, planeStride;
  size_t offsetOf(size_t row) const {
    return row / planeRows * planeStride + row % planeRows * stride;
  }
  size_t bytes() const { return rows / planeRows * planeStride; }
};

/// A program that is loaded.
struct LoadedProgram {
  std::unique_ptr<anec::Executable> executable;
  /// In the engine's order, and the executable's port of each.
  std::vector<Placement> inputs, outputs;
  std::vector<unsigned> inputPorts, outputPorts;
  /// What ANE_DOUBLE_WRONG and ANE_DOUBLE_STALE make of it: the last row of
  /// each output is zeros; only the first run does anything. (ANE_DOUBLE_ALIAS
  /// has all weights read the first record of their file.)
  bool isWrong = false, isStale = false, hasRun = false;
  bool hasStats = false; ///< loaded with a mask of statistics
  /// What the traps `tile` and `decay` make of it.
  bool poisons = false;
  unsigned runs = 0;
};

/// What is to be compiled: a text with the weight files beside it. What comes
/// of it is left in `output`, or there if it is empty, as `net.plist` and
/// `data` with a tag before.
struct CompileJob {
  std::string folder, tag, output = {};
  std::string textFile = "model.mil";
  /// Weight files that may be named; null for all.
  const std::set<std::string> *knownPaths = nullptr;
};
/// The error, empty when there is none.
std::string compile(const CompileJob &job);
bool isCompiled(const std::string &folder, const std::string &tag);
/// Loads what was compiled: later changes of the folder's sources do nothing.
std::unique_ptr<LoadedProgram> load(const std::string &folder,
                                    const std::string &tag, std::string &error);

/// Runs with surfaces of `inputs` and `outputs`, in the engine's order.
void run(LoadedProgram &program, llvm::ArrayRef<const uint8_t *> inputs,
         llvm::ArrayRef<uint8_t *> outputs);
/// The same with contiguous arrays, in the order of the executable's ports, as
/// E5 runs programs: ANE_DOUBLE_ODD can keep it from computing.
void runDense(LoadedProgram &program, llvm::ArrayRef<const uint8_t *> inputs,
              llvm::ArrayRef<uint8_t *> outputs);

} // namespace ane_double

#endif // ANEC_TEST_ANE_COMPILER_H
