//===- ProbeSubject.h - a program with inputs, ready to run -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBESUBJECT_H
#define ANEC_PROBE_PROBESUBJECT_H

#include "ProbeSetting.h"
#include "ProbeWeights.h"

namespace anec {

/// The error of outputs.
struct ProbeError {
  double relative = 0; ///< norm of the difference / norm of the reference
  double largest = 0;  ///< largest difference of an element
  /// The same of each output, in the order of the ports.
  std::vector<ProbeError> ofOutputs = {};
};

/// A program, with its inputs and weights.
class ProbeSubject {
public:
  /// A text that is loaded as it is. `meaning` replaces a text that anec cannot
  /// read: it computes the same, with the same inputs and outputs. Both must
  /// outlive this.
  ProbeSubject(llvm::StringRef text, llvm::StringRef meaning,
               const ProbeSetting &how, std::shared_ptr<Workspace> workspace);
  /// A compiled program of one function, which has its weights.
  ProbeSubject(std::unique_ptr<Module> compiled, const ProbeSetting &how,
               std::shared_ptr<Workspace> workspace);

  /// Draws inputs and weights. Returns why the program cannot be tried; empty
  /// when it can.
  std::string prepare();
  /// Returns null, with the reason reported, when `backend` refuses it.
  [[nodiscard]] std::unique_ptr<Executable> load(Backend &backend,
                                                 Diagnostics &diags);
  [[nodiscard]] bool run(Executable &executable,
                         std::vector<std::vector<uint8_t>> &outputs,
                         Diagnostics &diags) const;
  /// Compares `outputs` with those of the CPU backend. Returns nothing, with
  /// the reason reported, on failure.
  [[nodiscard]] std::optional<ProbeError>
  compare(std::vector<std::vector<uint8_t>> outputs, Diagnostics &diags);

  /// Whether the error of each output is as small as the setting asks for.
  bool isRight(const ProbeError &error) const;
  llvm::ArrayRef<Port> outputs() const { return outputPorts; }
  const ProbeSetting &setting() const { return how; }
  /// Whether it has states, which programs loaded as text do not support.
  bool hasStates() const { return states; }
  /// Floating-point operations of a run.
  double operations() const;

private:
  const Function &function() const { return *module->functions.front(); }

  llvm::StringRef text, meaning; ///< empty for a compiled program
  ProbeSetting how;
  std::shared_ptr<Workspace> workspace;
  Diagnostics sources;
  std::unique_ptr<Module> module;
  bool isReadable = false, states = false;
  std::string unreadable;
  ProbeWeights weights;
  std::vector<Port> inputPorts, outputPorts;
  std::vector<std::vector<uint8_t>> inputs;
};

} // namespace anec

#endif // ANEC_PROBE_PROBESUBJECT_H
