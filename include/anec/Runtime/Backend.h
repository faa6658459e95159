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
#include "anec/IR/PackedLayout.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/Support/ErrorHandling.h"
#include <limits>

namespace anec {

namespace cpu {
struct Machine;
} // namespace cpu

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

/// A part of an input or output that is to be in memory of the caller's, who
/// keeps it as long as the executable: written there it needs no writeInput,
/// and what comes out there no readOutput. Floats are fp32 there, with the
/// values that the port's element type can hold, and integers int32.
struct Binding {
  bool output = false;
  unsigned port = 0;
  Region region;
  float *memory = nullptr; ///< [channels, columns] of the region
};

struct LoadOptions {
  Numerics numerics = Numerics::FP16;
  /// Threads to use, the caller's included; 0 is one per processor.
  unsigned threads = 0;
  /// Time each step of every run, for Executable::stepTimes.
  bool timeSteps = false;
  /// What the backend may take or not, see Executable::isBound.
  llvm::ArrayRef<Binding> bindings = {};
  /// What the cpu backend runs on, to share it with host programs; null for the
  /// backend's own with so many `threads`.
  std::shared_ptr<cpu::Machine> machine;
  /// The version of MIL that the function was read from, for backends that
  /// write it down again: `1.3` or `1.0`.
  std::string milVersion = "1.3";
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

/// A program as somebody wrote it, for backends that read MIL text themselves.
struct ProgramText {
  struct WeightFile {
    std::string path; ///< as the text names it
    std::vector<uint8_t> bytes;
  };
  std::string text;
  std::vector<WeightFile> weightFiles;
  /// What the text declares; that is not looked at.
  std::vector<Port> inputs, outputs;
  /// Binds them as who knows nothing of the engine would: in this order, with
  /// rows right behind each other. To see what comes of that.
  bool asDeclared = false;
};

/// A loaded program. Inputs and outputs are storage of its own: what is written
/// stays until something else is. One thread at a time may use the executables
/// of a backend.
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

  /// Whether the part of a port that `LoadOptions::bindings[index]` names is in
  /// the caller's memory. Where it is not, it has to be written or read.
  bool isBound(size_t index) const { return bound[index]; }

  /// Writes a part of an input from `elements`, row-major [channels, columns];
  /// reads one of an output. Elements are as in a Binding: they are converted
  /// from and to the port's type. Nothing is kept. False, with a diagnostic,
  /// when the machine failed.
  virtual bool writeInput(unsigned port, const Region &region,
                          const float *elements, Diagnostics &diags) = 0;
  virtual bool readOutput(unsigned port, const Region &region, float *elements,
                          Diagnostics &diags) = 0;
  /// Computes the outputs from the inputs as they are.
  virtual bool execute(Diagnostics &diags) = 0;

  /// Runs once, with whole arrays, row-major, little-endian, in the ports'
  /// types and sizes. False, with a diagnostic, when the machine failed.
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
  std::vector<bool> bound;
  std::vector<StepTime> times;
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual llvm::StringRef name() const = 0;
  /// Whether executables take bindings, so that loading a program once for
  /// each set of memory is worth it.
  virtual bool takesBindings() const { return false; }
  /// How many programs this process can still load, other than those that it
  /// has loaded before; nothing when there is no end to it.
  virtual std::optional<unsigned> loadsLeft() const { return std::nullopt; }
  /// Whether programs may be loaded by one thread while another one runs others
  /// of the same backend.
  virtual bool loadsAside() const { return false; }
  /// Whether running kernels keeps the processor busy, so that work beside them
  /// would only slow them down.
  virtual bool computesOnProcessor() const { return true; }
  /// Null, with a diagnostic, when the backend cannot run `function`.
  virtual std::unique_ptr<Executable> load(const Function &function,
                                           const LoadOptions &options,
                                           Diagnostics &diags) = 0;
  /// Whether it compiles MIL text, so that it matters how that is written.
  virtual bool takesText() const { return false; }
  /// Hands it `program` as it is, for those that take text. Ports whose
  /// elements no Binding has are for Executable::run alone.
  virtual std::unique_ptr<Executable> loadText(const ProgramText &,
                                               Diagnostics &) {
    llvm_unreachable("a backend that takes no text");
  }
};

/// The backend that runs anywhere.
std::unique_ptr<Backend> createCpuBackend();

} // namespace anec

#endif // ANEC_RUNTIME_BACKEND_H
