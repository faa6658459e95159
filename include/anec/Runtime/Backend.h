//===- Backend.h - interface of backends ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A backend turns a function of MIL ops into an executable that can be run
/// repeatedly. The function can be destroyed after loading. Runtime/Backends.h
/// lists the backends of a program and opens them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_BACKEND_H
#define ANEC_RUNTIME_BACKEND_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/Runtime/Workspace.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/Words.h"
#include "llvm/Support/ErrorHandling.h"
#include <limits>

namespace anec {

/// How a backend computes. A real engine has no choice.
/// - `FP32`: in fp32 throughout; fp16 results come out unrounded, as fp32
/// - `FP16`: in fp32 inside an op, rounded to the declared type after each
/// - `M1` ... `M4`: as published for that chip's engine, see
///   docs/use/numerics.md
ANEC_ENUM(Numerics, (FP32, "fp32"), (FP16, "fp16"), (M1, "m1"), (M2, "m2"),
          (M3, "m3"), (M4, "m4"))

/// Whether a chip's engine is emulated.
inline bool isEmulated(Numerics numerics) {
  return numerics != Numerics::FP32 && numerics != Numerics::FP16;
}

/// A part of an input or output placed in the caller's memory, which must live
/// as long as the executable. Inputs written there need no writeInput, and
/// outputs there no readOutput. Floats are fp32 with values representable in
/// the port's element type, and integers are int32.
struct Binding {
  bool output = false;
  unsigned port = 0;
  Region region;
  float *memory = nullptr; ///< [channels, columns] of the region
};

struct LoadOptions {
  Numerics numerics = Numerics::FP16;
  /// Threads and memory for backends that compute on the processor, and for
  /// host programs; null for the backend's own, with a thread per processor.
  std::shared_ptr<Workspace> workspace = nullptr;
  /// Time each step of every run, for Executable::stepTimes.
  bool timeSteps = false;
  /// Requested bindings; the backend can decline each, see Executable::isBound.
  llvm::ArrayRef<Binding> bindings = {};
  /// Memory for each state, in order, that several executables can share: fp32
  /// elements, or int32 for integers, as in a Binding. Only for backends that
  /// bind memory; without it, each executable has states of its own.
  llvm::ArrayRef<float *> states = {};
  /// The version of MIL that the function was read from, for backends that
  /// print it again: `1.3` or `1.0`.
  std::string milVersion = "1.3";
};

/// An input or output of a program.
struct Port {
  std::string name;
  TensorType type;
  /// Nothing reads the values: those of an input that decided what the program
  /// is.
  bool isUnused = false;
};

/// A part of a program that a backend runs as one step, and its time.
struct StepTime {
  std::string ops;    ///< names of the ops, in order: `mul, add`
  std::string result; ///< name of the last op's first result
  TensorType type;    ///< and its type
  double seconds = 0; ///< in all runs together
  double fastest = std::numeric_limits<double>::infinity();
};

/// Wrong results of an emulated engine in one op, counted in elements over all
/// runs.
struct OpHazards {
  std::string op;     ///< its name: `matmul`
  std::string result; ///< name of its first result
  TensorType type;    ///< and its type
  SourceRange range;
  uint64_t partialSums = 0; ///< results with a partial sum of 2^15 or more
  uint64_t products = 0;    ///< nonzero products that were treated as zero
  uint64_t overflows = 0;   ///< finite results that fp16 cannot hold
};

/// A program as written, for backends that read MIL text themselves.
struct ProgramText {
  struct WeightFile {
    std::string path; ///< as the text names it
    std::vector<uint8_t> bytes;
  };
  std::string text;
  std::vector<WeightFile> weightFiles;
  /// The ports that the text declares; the text itself is not parsed.
  std::vector<Port> inputs, outputs;
  /// Binds inputs and outputs in this order with contiguous rows, even when the
  /// engine requires another order or row stride: for tests of the engine's
  /// behavior.
  bool asDeclared = false;
};

/// A loaded program. It owns the storage of inputs and outputs: written values
/// stay until overwritten. Only one thread at a time can use the executables of
/// a backend.
class Executable {
public:
  virtual ~Executable() = default;

  llvm::ArrayRef<Port> inputs() const { return inputPorts; }
  llvm::ArrayRef<Port> outputs() const { return outputPorts; }
  /// Memory that keeps its elements between runs; zeros after loading.
  llvm::ArrayRef<Port> states() const { return statePorts; }
  /// Copies a whole state, in its type. Returns false, with a diagnostic, when
  /// the machine failed.
  [[nodiscard]] virtual bool setState(unsigned, llvm::ArrayRef<uint8_t>,
                                      Diagnostics &) {
    llvm_unreachable("a backend without states");
  }
  [[nodiscard]] virtual bool getState(unsigned, llvm::MutableArrayRef<uint8_t>,
                                      Diagnostics &) {
    llvm_unreachable("a backend without states");
  }

  /// Whether the part of a port that `LoadOptions::bindings[index]` names is in
  /// the caller's memory. If not, it must be written or read.
  bool isBound(size_t index) const { return bound[index]; }

  /// Writes a part of an input from `elements`, row-major [channels, columns];
  /// reads one of an output. Elements are as in a Binding: they are converted
  /// from and to the port's type. Pointers are not kept. Returns false, with a
  /// diagnostic, when the machine failed.
  [[nodiscard]] virtual bool writeInput(unsigned port, const Region &region,
                                        const float *elements,
                                        Diagnostics &diags) = 0;
  [[nodiscard]] virtual bool readOutput(unsigned port, const Region &region,
                                        float *elements,
                                        Diagnostics &diags) = 0;
  /// Computes the outputs from the inputs as they are.
  [[nodiscard]] virtual bool execute(Diagnostics &diags) = 0;

  /// Runs once, with whole arrays, row-major, little-endian, in the ports'
  /// types and sizes. Returns false, with a diagnostic, when the machine
  /// failed.
  [[nodiscard]] virtual bool
  run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
      llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
      Diagnostics &diags) = 0;

  /// Bytes held for constants and for values during a run.
  virtual uint64_t constantBytes() const = 0;
  virtual uint64_t activationBytes() const = 0;

  /// The engine's own time of the last run, if it reports one.
  virtual std::optional<double> engineSeconds() const { return std::nullopt; }

  /// The ops with wrong results, with emulated numerics.
  virtual std::vector<OpHazards> hazards() const { return {}; }

  /// Times of the steps since loading; empty without LoadOptions::timeSteps.
  llvm::ArrayRef<StepTime> stepTimes() const { return times; }

protected:
  std::vector<Port> inputPorts, outputPorts, statePorts;
  std::vector<bool> bound;
  std::vector<StepTime> times;
};

/// Capabilities of a backend, for choosing one and for preparing programs.
struct BackendCapabilities {
  /// Element types of inputs and outputs.
  DTypeSet portTypes;
  /// Programs can have weights as inputs, packed with others or separate, so
  /// that new values need no new program.
  bool takesWeightsAsInputs = false;
  /// Programs can keep states between runs.
  bool hasStates = false;
  /// Loads MIL text as it is written (`loadText`), so that its form matters.
  bool takesText = false;
  /// One text can have several functions, each of which can be run.
  bool takesSeveralFunctions = false;
  /// Executables support bindings, so that loading a program once for each set
  /// of memory pays off.
  bool bindsMemory = false;
  /// One thread can load programs while another runs others.
  bool loadsInBackground = false;
  /// Running kernels keeps the processor busy, so that concurrent work would
  /// slow them down.
  bool computesOnProcessor = false;
  /// Programs run on the Neural Engine of this machine.
  bool runsOnEngine = false;
  /// `LoadOptions::numerics` makes a difference.
  bool hasNumerics = false;
  /// `LoadOptions::timeSteps` makes a difference.
  bool timesSteps = false;
  /// Programs that a process can compile; 0 for any number.
  unsigned loadLimit = 0;
};

class Backend {
public:
  Backend(llvm::StringRef name, const BackendCapabilities &capabilities)
      : ownName(name), ownCapabilities(capabilities) {}
  virtual ~Backend() = default;
  llvm::StringRef name() const { return ownName; }
  const BackendCapabilities &capabilities() const { return ownCapabilities; }

  /// The number of programs this process can still load, not counting those
  /// loaded before; nothing without a limit.
  virtual std::optional<unsigned> loadsLeft() const { return std::nullopt; }
  /// Returns null, with a diagnostic, when the backend cannot run `function`.
  [[nodiscard]] virtual std::unique_ptr<Executable>
  load(const Function &function, const LoadOptions &options,
       Diagnostics &diags) = 0;
  /// Loads `program` as it is; only for backends that accept text. Ports with
  /// element types that Binding does not support work only with
  /// Executable::run.
  [[nodiscard]] virtual std::unique_ptr<Executable>
  loadText(const ProgramText &, Diagnostics &) {
    llvm_unreachable("a backend that takes no text");
  }

protected:
  /// Whether inputs and outputs conform to the capabilities; reports those that
  /// do not.
  [[nodiscard]] bool checkPorts(const Function &function,
                                Diagnostics &diags) const;

private:
  std::string ownName;
  BackendCapabilities ownCapabilities;
};

} // namespace anec

#endif // ANEC_RUNTIME_BACKEND_H
