//===- ProgramSession.h - runs programs with named arrays -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a package or a single program with named arrays:
///
///   auto session = anec::ProgramSession::openFile("m.anepkg", {}, diags);
///   std::vector<float> x(768 * 256), y(768 * 256);
///   if (!session || !session->run("m", {{"x", x}}, {{"y", y}}, diags))
///     diags.print(llvm::errs());
///
/// Arrays are row-major, in the shape of the port. A port of a float type also
/// accepts and returns fp32, which is rounded to nearest on input. A session,
/// and everything opened on it, can be used by one thread at a time; several
/// sessions share nothing that changes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_PROGRAMSESSION_H
#define ANEC_API_PROGRAMSESSION_H

#include "anec/API/Compile.h"
#include "anec/Runtime/Backends.h"
#include "anec/Runtime/OutputFiles.h"
#include "anec/Runtime/Session.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

struct GeneratedText;
struct GenerateOptions;
class TextModel;
class Tokenizer;

struct ProgramSessionOptions {
  /// `cpu`, or `ane` on a Mac; empty for the default of `backends` on this
  /// machine.
  std::string backend = "cpu";
  /// The table of backends; null for Backends::builtin().
  const Backends *backends = nullptr;
  BackendSettings settings;
  Numerics numerics = Numerics::FP16;
  /// The number of threads, including the caller's; 0 for one per processor.
  unsigned threads = 0;
  /// Weights of a package. Missing values come from the package's own file;
  /// opening fails when a weight has no value at all.
  WeightOptions weights;
  /// Trains a package in less memory and more time; see SessionOptions.
  bool recompute = false;
  /// How openFile reads or compiles sources other than packages.
  CompileOptions compile;
};

/// The caller's elements for an input: fp32, or of the port's type. The memory
/// is not copied when this is created.
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
  /// If given, it must match the port's shape, ignoring axes of one element,
  /// which programs add and drop. Otherwise only the number of elements must
  /// match.
  std::optional<llvm::ArrayRef<int64_t>> shape;
};

/// The caller's memory for an output: fp32, or of the port's type.
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
  /// Opens a package and takes ownership of it. Returns null, with the reason
  /// reported, when weights are missing or the backend is not available.
  [[nodiscard]] static std::unique_ptr<ProgramSession>
  open(ModelPackage package, const ProgramSessionOptions &options,
       Diagnostics &diags);
  /// Opens a compiled kernel. It is written and read back in memory, so that
  /// the written program is the one that runs.
  [[nodiscard]] static std::unique_ptr<ProgramSession>
  open(const CompiledProgram &program, const ProgramSessionOptions &options,
       Diagnostics &diags);
  /// Opens a package, a MIL program, or any other source, which is compiled
  /// first.
  [[nodiscard]] static std::unique_ptr<ProgramSession>
  openFile(llvm::StringRef path, const ProgramSessionOptions &options,
           Diagnostics &diags);
  ~ProgramSession();

  /// The names of the entries of a package, or of the functions of a program.
  llvm::ArrayRef<std::string> entries() const;
  /// The entry that an empty name selects: the only entry or, among several,
  /// the only one that does not train. With `trains`, the only entry that
  /// trains. Empty when the choice is ambiguous.
  llvm::StringRef defaultEntry(bool trains = false) const;
  /// The entry of a package, with its role and those of its inputs and outputs,
  /// in order. Null for a function of a program, which has no roles.
  const PackagedEntry *findEntry(llvm::StringRef name) const;
  /// Whether running `entry` computes gradients.
  bool trains(llvm::StringRef entry) const;

  /// Loads everything that `entry` needs; the functions below do this on
  /// demand. Returns false, with the reason reported, on failure. Here and
  /// below, an empty name selects the default entry.
  [[nodiscard]] bool prepare(llvm::StringRef entry, Diagnostics &diags);
  /// The inputs and outputs of `entry`, valid as long as the session. Returns
  /// nothing, with the reason reported, when the entry cannot be prepared.
  [[nodiscard]] std::optional<llvm::ArrayRef<Port>>
  inputs(llvm::StringRef entry, Diagnostics &diags);
  [[nodiscard]] std::optional<llvm::ArrayRef<Port>>
  outputs(llvm::StringRef entry, Diagnostics &diags);

  /// Runs `entry` once. All inputs must be given, except the loss scale, which
  /// defaults to 1; outputs that are not requested are dropped. Returns false,
  /// with the reason reported, when an array does not fit or the machine
  /// failed.
  [[nodiscard]] bool run(llvm::StringRef entry,
                         llvm::ArrayRef<InputArray> inputs,
                         llvm::ArrayRef<OutputArray> outputs,
                         Diagnostics &diags,
                         Gradients gradients = Gradients::Replace);

  /// The gradients of the last run of a training entry, in fp32, sorted by
  /// name; empty before.
  llvm::ArrayRef<NamedFloats> gradients() const;
  /// The master weights of a package, in fp32, sorted by name. They can be
  /// changed in place, followed by a call of weightsChanged. Empty for a
  /// program, whose weights are its constants.
  llvm::ArrayRef<NamedFloats> weights() const;
  /// Those that training changes; see Session::trainedWeights.
  llvm::ArrayRef<NamedFloats> trainedWeights() const;
  [[nodiscard]] bool weightsChanged(Diagnostics &diags);
  /// Takes the adapters of a package from the file `adapter`, or takes them off
  /// when it is empty; see Session::takeAdapter. A program has none.
  [[nodiscard]] bool takeAdapter(llvm::StringRef adapter, Diagnostics &diags);
  /// Writes the weights as writeArrays does. Any session on the model can read
  /// them as `weights.source`.
  [[nodiscard]] bool saveWeights(llvm::StringRef path,
                                 Diagnostics &diags) const;

  /// Writes or reads a state of a program: memory that keeps its elements
  /// between runs. Returns false, with the reason reported, when there is no
  /// such state or the array does not fit.
  [[nodiscard]] bool setState(const InputArray &state, Diagnostics &diags);
  [[nodiscard]] bool getState(const OutputArray &state, Diagnostics &diags);

#ifndef ANEC_NO_LANGUAGE_MODELS
  /// The language model of a package, for a Generator; see anec::openTextModel.
  /// Returns null, with the reason reported, when there is none.
  [[nodiscard]] std::unique_ptr<TextModel> openTextModel(llvm::StringRef entry,
                                                         Diagnostics &diags);
  /// Continues `prompt` with a package that computes logits; see Generator.
  /// Returns nothing, with the reason reported, on failure.
  [[nodiscard]] std::optional<GeneratedText>
  generate(llvm::StringRef prompt, const Tokenizer &tokenizer,
           const GenerateOptions &options,
           llvm::function_ref<void(llvm::StringRef)> sink, Diagnostics &diags);
#endif

  /// The session of the package; null for a single program.
  Session *packageSession();
  llvm::StringRef backendName() const;
  /// The numerics that the session was opened with.
  Numerics numerics() const;
  /// The threads of the session.
  Executor &executor() const;

private:
  struct State;
  explicit ProgramSession(std::unique_ptr<State> state);
  [[nodiscard]] static std::unique_ptr<ProgramSession>
  openModule(std::unique_ptr<Module> module,
             const ProgramSessionOptions &options, Diagnostics &diags);
  [[nodiscard]] llvm::StringRef resolve(llvm::StringRef name,
                                        Diagnostics &diags) const;
  std::unique_ptr<State> state;
};

} // namespace anec

#endif // ANEC_API_PROGRAMSESSION_H
