//===- Session.h - runs a package ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the host schedule of a package: kernels on a backend, the ops between
/// them on the processor, weights and gradients in fp32 arrays by name. An
/// entry is prepared once, which gives a plan of steps; a run executes the
/// steps in order, and allocates nothing.
///
///   auto package = anec::readPackage("llama.anepkg", diags);
///   auto backend = anec::Backends::builtin().open("cpu", {}, diags);
///   std::string step =
///       package->findEntries(anec::FunctionRole::Train, "llama")[0]->name;
///   auto session = anec::Session::open(*package, *backend, {}, diags);
///   session->run(step, inputs, outputs, diags);
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
  /// Numerics and threads, of host ops as well.
  LoadOptions load;
  /// Where weights are from; what is not there the package's own file has.
  WeightOptions weights;
  /// Lets kernels work on the session's memory when the backend can. Without,
  /// inputs and outputs are copied, as on an engine.
  bool bindMemory = true;
  /// Computes the gradients of weights on a thread of their own while kernels
  /// run. Unset: where kernels leave the processor free.
  std::optional<bool> overlap;
};

/// An array of the session's.
struct NamedFloats {
  std::string name; ///< `attention.3.wq`
  TensorType type;  ///< fp32
  llvm::MutableArrayRef<float> elements;
};

/// Whether a run replaces the gradients, adds to those that are there, or ends
/// with the loss and computes none.
enum class Gradients : uint8_t { Replace, Add, None };

/// Called by the thread that runs an entry with each gradient that this run has
/// added its last to, in an order that is always the same.
using GradientReady = llvm::function_ref<void(llvm::MutableArrayRef<float>)>;

/// What a part of a run took, in the run before.
struct PartTime {
  enum Kind : uint8_t { Kernel, Host } kind;
  std::string name;        ///< of the kernel with its instance, or ops
  bool isBackward = false; ///< after the loss was there
  bool overlaps = false;   ///< ran beside the parts after it
  std::chrono::steady_clock::time_point begin;
  double seconds = 0;
};

class Session {
public:
  /// Null, with the reason reported, when weights are missing or a kernel does
  /// not load. Takes the package; `backend` has to outlive the session.
  [[nodiscard]] static std::unique_ptr<Session>
  open(ModelPackage package, Backend &backend, const SessionOptions &options,
       Diagnostics &diags);
  ~Session();

  const ModelPackage &package() const;

  /// Loads and places all that `entry` needs; `run` does it when it was not
  /// done. False, with the reason reported, when that fails.
  [[nodiscard]] bool prepare(llvm::StringRef entry, Diagnostics &diags);
  /// What a prepared entry takes and gives.
  llvm::ArrayRef<Port> inputs(llvm::StringRef entry) const;
  llvm::ArrayRef<Port> outputs(llvm::StringRef entry) const;

  /// Runs `entry` once. Arrays are as Executable::run takes them. False, with a
  /// diagnostic, when that fails.
  bool run(
      llvm::StringRef entry, llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
      llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
      Diagnostics &diags, Gradients gradients = Gradients::Replace,
      GradientReady ready = [](llvm::MutableArrayRef<float>) {});

  /// The master weights, to be changed in place and then announced.
  llvm::ArrayRef<NamedFloats> weights() const;
  /// Brings changed weights to where kernels and host ops read them. Programs
  /// that weights are constants of are loaded anew, in the background where the
  /// backend can: a run waits for each when it comes to it.
  [[nodiscard]] bool weightsChanged(Diagnostics &diags);
  /// How many programs that takes.
  unsigned programsPerUpdate() const;
  /// Whether the backend can load so many more in this process. If not, what
  /// remains is to save, and to go on in another process.
  bool canTakeWeights() const;
  /// The gradients of what entries have been prepared for, sorted by name.
  llvm::ArrayRef<NamedFloats> gradients() const;

  /// What the parts of the last run of `entry` took, in order.
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
