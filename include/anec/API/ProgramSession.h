//===- ProgramSession.h - runs a program by names --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a package or a single program with arrays by name:
///
///   auto session = anec::ProgramSession::openFile("m.anepkg", {}, diags);
///   std::vector<float> x(768 * 256), y(768 * 256);
///   session->run("m", {{"x", x}}, {{"y", y}}, diags);
///
/// Arrays are row-major, in the shape of the port. A port of any float type
/// takes and gives fp32, too, which is rounded to the nearest on the way in.
/// One thread at a time may use a session and what was opened on it; sessions
/// are independent of each other.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_PROGRAMSESSION_H
#define ANEC_API_PROGRAMSESSION_H

#include "anec/API/Compile.h"
#include "anec/Runtime/Backends.h"
#include "anec/Runtime/Session.h"
#include "anec/Train/Generate.h"

namespace anec {

struct ProgramSessionOptions {
  /// `cpu`, or `ane` on a Mac; empty for what `backends` has for the machine.
  std::string backend = "cpu";
  /// Where it is looked for; null for Backends::builtin().
  const Backends *backends = nullptr;
  BackendSettings settings;
  Numerics numerics = Numerics::FP16;
  /// The caller's included; 0 is one per processor.
  unsigned threads = 0;
  /// Weights of a package; what is not there its own file has. Without any
  /// values at all, opening fails.
  WeightOptions weights;
  /// How openFile reads, or compiles, what is no package.
  CompileOptions compile;
};

/// Elements of the caller's for an input: fp32, or of the port's type.
class InputArray {
public:
  InputArray(llvm::StringRef name, llvm::ArrayRef<float> elements)
      : InputArray(name, DType::FP32, elements.data(),
                   elements.size() * sizeof(float)) {}
  InputArray(llvm::StringRef name, llvm::ArrayRef<int32_t> elements)
      : InputArray(name, DType::Int32, elements.data(),
                   elements.size() * sizeof(int32_t)) {}
  InputArray(llvm::StringRef name, DType dtype, const void *elements,
             size_t bytes)
      : name(name), dtype(dtype),
        bytes(static_cast<const uint8_t *>(elements), bytes) {}

  llvm::StringRef name;
  DType dtype;
  llvm::ArrayRef<uint8_t> bytes;
  /// Checked where it is given, but for axes of one element, which programs
  /// add and drop; else the number of elements alone has to fit.
  std::optional<llvm::ArrayRef<int64_t>> shape;
};

/// Memory of the caller's for an output.
class OutputArray {
public:
  OutputArray(llvm::StringRef name, llvm::MutableArrayRef<float> elements)
      : OutputArray(name, DType::FP32, elements.data(),
                    elements.size() * sizeof(float)) {}
  OutputArray(llvm::StringRef name, llvm::MutableArrayRef<int32_t> elements)
      : OutputArray(name, DType::Int32, elements.data(),
                    elements.size() * sizeof(int32_t)) {}
  OutputArray(llvm::StringRef name, DType dtype, void *elements, size_t bytes)
      : name(name), dtype(dtype),
        bytes(static_cast<uint8_t *>(elements), bytes) {}

  llvm::StringRef name;
  DType dtype;
  llvm::MutableArrayRef<uint8_t> bytes;
  std::optional<llvm::ArrayRef<int64_t>> shape;
};

class ProgramSession {
public:
  /// Opens a package, which the session takes. Null, with the reason reported,
  /// when weights are missing or the backend is.
  static std::unique_ptr<ProgramSession>
  open(ModelPackage package, const ProgramSessionOptions &options,
       Diagnostics &diags);
  /// Opens a compiled kernel. It is written to a temporary folder and read back
  /// from there: what runs is what was written.
  static std::unique_ptr<ProgramSession>
  open(const CompiledProgram &program, const ProgramSessionOptions &options,
       Diagnostics &diags);
  /// Opens a package, a MIL program, or any other source, which is compiled
  /// first.
  static std::unique_ptr<ProgramSession>
  openFile(llvm::StringRef path, const ProgramSessionOptions &options,
           Diagnostics &diags);
  ~ProgramSession();

  /// What can be run: the entries of a package, the functions of a program.
  llvm::ArrayRef<std::string> entries() const;
  /// The entry that an empty name stands for: the only one, or the only one
  /// that trains if `trains`, and that does not otherwise. Empty when that is
  /// not clear.
  llvm::StringRef defaultEntry(bool trains = false) const;
  /// The roles of an entry of a package, and of its inputs and outputs in their
  /// order; null for a function of a program, which has none.
  const PackagedEntry *findEntry(llvm::StringRef name) const;
  /// Whether running `entry` computes gradients.
  bool trains(llvm::StringRef entry) const;

  /// Loads all that `entry` needs; what follows does it when it was not done.
  /// False, with the reason reported, when that fails. An empty name is the
  /// default entry, here and below.
  bool prepare(llvm::StringRef entry, Diagnostics &diags);
  /// What `entry` takes and gives; nothing, with the reason reported, when it
  /// cannot be prepared. Valid as long as the session.
  std::optional<llvm::ArrayRef<Port>> inputs(llvm::StringRef entry,
                                             Diagnostics &diags);
  std::optional<llvm::ArrayRef<Port>> outputs(llvm::StringRef entry,
                                              Diagnostics &diags);

  /// Runs `entry` once. Every input has to be given, but for the scale of a
  /// loss, which is 1 otherwise; outputs that are not asked for are dropped.
  /// False, with the reason reported, when an array does not fit or the machine
  /// failed.
  bool run(llvm::StringRef entry, llvm::ArrayRef<InputArray> inputs,
           llvm::ArrayRef<OutputArray> outputs, Diagnostics &diags,
           Gradients gradients = Gradients::Replace);

  /// What the last run of a training entry left, in fp32, sorted by name; empty
  /// before.
  llvm::ArrayRef<NamedFloats> gradients() const;
  /// The master weights of a package, in fp32, sorted by name, to be changed in
  /// place and then announced. Empty for a program, whose weights are constants
  /// of it.
  llvm::ArrayRef<NamedFloats> weights() const;
  bool weightsChanged(Diagnostics &diags);
  /// Writes the weights to a .safetensors file, which any session on the model
  /// takes as `weights.source`.
  bool saveWeights(llvm::StringRef path, Diagnostics &diags) const;

  /// The memory of a program that keeps its elements from run to run, as its
  /// inputs are given. False, with the reason reported, when there is no such
  /// state or the array does not fit.
  bool setState(const InputArray &state, Diagnostics &diags);
  bool getState(const OutputArray &state, Diagnostics &diags);

  /// Continues `prompt` with a package that gives logits; see Generator.
  std::optional<GenerateStats> generate(llvm::StringRef prompt,
                                        const Tokenizer &tokenizer,
                                        const GenerateOptions &options,
                                        TextSink sink, Diagnostics &diags);

  /// What runs the package; null for a single program.
  Session *packageSession();
  llvm::StringRef backendName() const;
  /// What was asked for when it was opened.
  Numerics numerics() const;
  /// The threads that it runs with.
  Executor &executor() const;

private:
  struct State;
  explicit ProgramSession(std::unique_ptr<State> state);
  static std::unique_ptr<ProgramSession>
  openModule(std::unique_ptr<Module> module,
             const ProgramSessionOptions &options, Diagnostics &diags);
  llvm::StringRef resolve(llvm::StringRef name, Diagnostics &diags) const;
  std::unique_ptr<State> state;
};

/// Writes arrays to a .safetensors file, or to a folder of .npy files if `path`
/// does not end so: all or, after an error, none.
bool writeArrays(llvm::ArrayRef<NamedFloats> arrays, llvm::StringRef path,
                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_API_PROGRAMSESSION_H
