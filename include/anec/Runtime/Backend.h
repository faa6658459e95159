//===- Backend.h - what runs a program -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A backend turns a function of MIL ops into something that can be run again
/// and again. The function may go away after loading.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_BACKEND_H
#define ANEC_RUNTIME_BACKEND_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/Support/ErrorHandling.h"
#include <limits>

namespace anec {

/// How a backend computes. A real engine has no choice.
enum class Numerics : uint8_t {
  FP32, ///< in fp32 throughout; fp16 results come out unrounded, as fp32
  FP16, ///< in fp32 inside an op, rounded to the declared type after each
  M1,   ///< as is published of the engine of that chip, see docs/numerics.md
  M3,
  M4,
};

/// Whether a chip's engine is emulated.
inline bool isEmulated(Numerics numerics) {
  return numerics != Numerics::FP32 && numerics != Numerics::FP16;
}

struct LoadOptions {
  Numerics numerics = Numerics::FP16;
  /// Threads to use, the caller's included; 0 is one per processor.
  unsigned threads = 0;
  /// Time each step of every run, for Executable::stepTimes.
  bool timeSteps = false;
};

/// An input or output of a program.
struct Port {
  std::string name;
  TensorType type;
};

/// A part of a program that a backend runs as one, and what it took.
struct StepTime {
  std::string ops;    ///< names of the ops, in order: `mul, add`
  std::string result; ///< name of the last op's first result
  TensorType type;    ///< and its type
  double seconds = 0; ///< in all runs together
  double fastest = std::numeric_limits<double>::infinity();
};

/// What an emulated engine got wrong in one op, counted in elements, in all
/// runs together.
struct OpHazards {
  std::string op;     ///< its name: `matmul`
  std::string result; ///< name of its first result
  TensorType type;    ///< and its type
  SourceRange range;
  uint64_t partialSums = 0; ///< results with a partial sum of 2^15 or more
  uint64_t products = 0;    ///< products that were taken for zero, and are not
  uint64_t overflows = 0;   ///< finite results that fp16 cannot hold
};

/// A loaded program. One thread may run it at a time.
class Executable {
public:
  virtual ~Executable() = default;

  llvm::ArrayRef<Port> inputs() const { return inputPorts; }
  llvm::ArrayRef<Port> outputs() const { return outputPorts; }
  /// Memory that keeps its elements from run to run; zeros after loading.
  llvm::ArrayRef<Port> states() const { return statePorts; }
  virtual void setState(unsigned, llvm::ArrayRef<uint8_t>) {
    llvm_unreachable("a backend without states");
  }
  virtual void getState(unsigned, llvm::MutableArrayRef<uint8_t>) {
    llvm_unreachable("a backend without states");
  }

  /// Runs once. Arrays are row-major, little-endian, in the ports' types and
  /// sizes. False, with a diagnostic, when the machine failed.
  virtual bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                   llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                   Diagnostics &diags) = 0;

  /// Bytes held for constants and for values during a run.
  virtual uint64_t constantBytes() const = 0;
  virtual uint64_t activationBytes() const = 0;

  /// The ops that had any, with emulated numerics.
  virtual std::vector<OpHazards> hazards() const { return {}; }

  /// What took how long since loading; empty without LoadOptions::timeSteps.
  llvm::ArrayRef<StepTime> stepTimes() const { return times; }

protected:
  std::vector<Port> inputPorts, outputPorts, statePorts;
  std::vector<StepTime> times;
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual llvm::StringRef name() const = 0;
  /// Null, with a diagnostic, when the backend cannot run `function`.
  virtual std::unique_ptr<Executable> load(const Function &function,
                                           const LoadOptions &options,
                                           Diagnostics &diags) = 0;
};

/// The backend that runs anywhere.
std::unique_ptr<Backend> createCpuBackend();

} // namespace anec

#endif // ANEC_RUNTIME_BACKEND_H
