//===- Backend.h - what runs a program -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A backend turns a function of MIL ops into something that can be run again
/// and again. The function may go away after loading. Runtime/Backends.h lists
/// the backends of a program and opens them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_BACKEND_H
#define ANEC_RUNTIME_BACKEND_H

#include "anec/IR/IR.h"
#include "anec/IR/PackedLayout.h"
#include "anec/Runtime/Workspace.h"
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
  /// Threads and memory for backends that compute on the processor, and for
  /// host programs; null for the backend's own, with a thread per processor.
  std::shared_ptr<Workspace> workspace = nullptr;
  /// Time each step of every run, for Executable::stepTimes.
  bool timeSteps = false;
  /// What the backend may take or not, see Executable::isBound.
  llvm::ArrayRef<Binding> bindings = {};
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
  /// Binds inputs and outputs in this order with contiguous rows, even where
  /// the engine asks for another order or row stride: for tests of what the
  /// engine does then.
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
  [[nodiscard]] virtual bool writeInput(unsigned port, const Region &region,
                                        const float *elements,
                                        Diagnostics &diags) = 0;
  [[nodiscard]] virtual bool readOutput(unsigned port, const Region &region,
                                        float *elements,
                                        Diagnostics &diags) = 0;
  /// Computes the outputs from the inputs as they are.
  [[nodiscard]] virtual bool execute(Diagnostics &diags) = 0;

  /// Runs once, with whole arrays, row-major, little-endian, in the ports'
  /// types and sizes. False, with a diagnostic, when the machine failed.
  [[nodiscard]] virtual bool
  run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
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

/// What a backend can do, for those that choose one or prepare programs for it.
struct BackendCapabilities {
  /// Element types of inputs and outputs.
  DTypeSet portTypes;
  /// Programs may have weights as inputs, packed with others or alone, so that
  /// new values need no new program.
  bool takesWeightsAsInputs = false;
  /// Programs may keep states between runs.
  bool hasStates = false;
  /// Loads MIL text as it is written (`loadText`), so that its form matters.
  bool takesText = false;
  /// One text may have several functions, each of which can be run.
  bool takesSeveralFunctions = false;
  /// Executables take bindings, so that loading a program once for each set of
  /// memory is worth it.
  bool bindsMemory = false;
  /// One thread may load programs while another runs others.
  bool loadsInBackground = false;
  /// Running kernels keeps the processor busy, so that work beside them would
  /// slow them down.
  bool computesOnProcessor = false;
  /// Programs run on the Neural Engine of this machine.
  bool runsOnEngine = false;
  /// `LoadOptions::numerics` makes a difference.
  bool hasNumerics = false;
  /// `LoadOptions::timeSteps` makes a difference.
  bool timesSteps = false;
  /// Programs that a process may compile; 0 for any number.
  unsigned loadLimit = 0;
};

class Backend {
public:
  Backend(llvm::StringRef name, const BackendCapabilities &capabilities)
      : ownName(name), ownCapabilities(capabilities) {}
  virtual ~Backend() = default;
  llvm::StringRef name() const { return ownName; }
  const BackendCapabilities &capabilities() const { return ownCapabilities; }

  /// How many programs this process can still load, other than those that it
  /// has loaded before; nothing without a limit.
  virtual std::optional<unsigned> loadsLeft() const { return std::nullopt; }
  /// Null, with a diagnostic, when the backend cannot run `function`.
  [[nodiscard]] virtual std::unique_ptr<Executable>
  load(const Function &function, const LoadOptions &options,
       Diagnostics &diags) = 0;
  /// Loads `program` as it is; of backends that take text. Ports whose elements
  /// no Binding has are for Executable::run alone.
  [[nodiscard]] virtual std::unique_ptr<Executable>
  loadText(const ProgramText &, Diagnostics &) {
    llvm_unreachable("a backend that takes no text");
  }

protected:
  /// Whether inputs and outputs are what the capabilities say; reports those
  /// that are not.
  [[nodiscard]] bool checkPorts(const Function &function,
                                Diagnostics &diags) const;

private:
  std::string ownName;
  BackendCapabilities ownCapabilities;
};

} // namespace anec

#endif // ANEC_RUNTIME_BACKEND_H
