//===- Session.h - runs a package -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the host schedule of a package: kernels on a backend, the ops between
/// them on the processor, weights and gradients in fp32 arrays by name. An
/// entry is prepared once into a plan of steps; a run executes the steps in
/// order and allocates nothing.
///
///   auto package = anec::readPackage("llama.anepkg", diags);
///   auto backend = anec::Backends::builtin().open("cpu", {}, diags);
///   if (!package || !backend)
///     return diags.print(llvm::errs());
///   std::string step =
///       package->findEntries(anec::FunctionRole::Train, "llama")[0]->name;
///   auto session = anec::Session::open(*package, *backend, {}, diags);
///   if (!session || !session->run(step, inputs, outputs, diags))
///     return diags.print(llvm::errs());
///   for (const anec::NamedFloats &gradient : session->gradients()) ...
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_SESSION_H
#define ANEC_RUNTIME_SESSION_H

#include "anec/Package/ModelPackage.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <chrono>

namespace anec {

struct SessionOptions {
  /// Numerics and threads, also of host ops.
  LoadOptions load;
  /// The source of weights; missing values come from the package's own file.
  WeightOptions weights;
  /// Lets kernels work on the session's memory when the backend supports it.
  /// Otherwise inputs and outputs are copied, as on an engine.
  bool bindMemory = true;
  /// Computes the gradients of weights on a separate thread while kernels run.
  /// Unset: when kernels leave the processor free.
  std::optional<bool> overlap;
  /// Computes the forward of each layer again in the backward instead of
  /// keeping what the backward needs of it: a training step takes a forward
  /// longer, and gradients are the same, bit for bit. Kept are the values
  /// between turns of a `repeat`, or between kernels outside of one.
  bool recompute = false;
};

/// An array owned by the session.
struct NamedFloats {
  std::string name; ///< `attention.3.wq`
  TensorType type;  ///< fp32
  llvm::MutableArrayRef<float> elements;
  /// Of a gradient: it is what an update takes off the weight, whatever the
  /// optimizer.
  bool isChange = false;
};

/// Whether a run replaces the gradients, adds to the existing ones, or ends
/// with the loss and computes none.
enum class Gradients : uint8_t { Replace, Add, None };

/// Called by the thread that runs an entry with each gradient that is complete
/// for this run, in a deterministic order.
using GradientReady = llvm::function_ref<void(llvm::MutableArrayRef<float>)>;

/// The time of one part of the last run.
struct PartTime {
  enum Kind : uint8_t { Kernel, Host } kind;
  std::string name;        ///< of the kernel with its instance, or ops
  bool isBackward = false; ///< after the loss
  bool overlaps = false;   ///< ran beside the parts after it
  std::chrono::steady_clock::time_point begin;
  double seconds = 0;
};

class Session {
public:
  /// Returns null, with the reason reported, when weights are missing or a
  /// kernel does not load. Takes ownership of the package; `backend` must
  /// outlive the session.
  [[nodiscard]] static std::unique_ptr<Session>
  open(ModelPackage package, Backend &backend, const SessionOptions &options,
       Diagnostics &diags);
  ~Session();

  const ModelPackage &package() const;

  /// Loads and places everything that `entry` needs; `run` does this on demand.
  /// Returns false, with the reason reported, on failure.
  [[nodiscard]] bool prepare(llvm::StringRef entry, Diagnostics &diags);
  /// The inputs, without states, and the outputs of a prepared entry.
  llvm::ArrayRef<Port> inputs(llvm::StringRef entry) const;
  llvm::ArrayRef<Port> outputs(llvm::StringRef entry) const;

  /// Runs `entry` once. Arrays have the layout of Executable::run. Returns
  /// false, with a diagnostic, on failure.
  [[nodiscard]] bool run(
      llvm::StringRef entry, llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
      llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
      Diagnostics &diags, Gradients gradients = Gradients::Replace,
      GradientReady ready = [](llvm::MutableArrayRef<float>) {});

  /// The master weights, to be changed in place; announce changes afterwards.
  /// A package without a backward has none until this is called: its weights
  /// stay as they are stored, mapped from their file, and only those that
  /// kernels take as inputs have fp32 copies. The first call makes the masters
  /// of all weights, and prepared entries are prepared anew when they run next.
  llvm::ArrayRef<NamedFloats> weights() const;
  /// The masters of those that training changes: of a package with a backward,
  /// all that are not frozen. Frozen weights stay as they are stored, unless
  /// `weights` was called.
  llvm::ArrayRef<NamedFloats> trainedWeights() const;
  /// Copies changed weights to where kernels and host ops read them. Programs
  /// with these weights as constants are reloaded, in the background when the
  /// backend supports it: a run waits for each program when it needs it. An
  /// error for a package with quantized weights.
  [[nodiscard]] bool weightsChanged(Diagnostics &diags);
  /// The number of programs to reload for that.
  unsigned programsPerUpdate() const;
  /// Whether the backend can load that many more in this process. If not, save
  /// and continue in another process.
  bool canTakeWeights() const;
  /// Replaces the weights that are not frozen by those of the file `adapter`,
  /// without loading a program anew unless it has them as constants; an empty
  /// name takes adapters off, so that the base is left. What a TextModel has
  /// read stays as it was read, so that texts begin again (`keep` is 0). It is
  /// an error when weights are missing, or when they were trained beside others
  /// than the frozen ones here; the session then has what it had.
  [[nodiscard]] bool takeAdapter(llvm::StringRef adapter, Diagnostics &diags);
  /// The gradients of the prepared entries, sorted by name.
  llvm::ArrayRef<NamedFloats> gradients() const;

  /// The states of a prepared entry, in order: zeros at first, then as runs
  /// leave them. Elements are rounded to the type of the state, except with
  /// fp32 numerics. Entries of the same model whose states have the same
  /// types share them.
  llvm::ArrayRef<NamedFloats> states(llvm::StringRef entry) const;

  /// The times of the parts of the last run of `entry`, in order.
  std::vector<PartTime> times(llvm::StringRef entry) const;
  /// Bytes of weights, gradients and values of prepared entries.
  uint64_t memoryBytes() const;

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace anec

#endif // ANEC_RUNTIME_SESSION_H
