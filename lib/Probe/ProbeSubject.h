//===- ProbeSubject.h - a program of a rule, ready to run -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBESUBJECT_H
#define ANEC_PROBE_PROBESUBJECT_H

#include "ProbeSetting.h"
#include "ProbeWeights.h"
#include "anec/Target/RuleProgram.h"

namespace anec {

/// The error of outputs.
struct ProbeError {
  double relative = 0; ///< norm of the difference / norm of the reference
  double largest = 0;  ///< largest difference of an element
};

/// A program of a rule, with its inputs and weights.
class ProbeSubject {
public:
  /// `meaning` replaces a text that anec cannot read: it computes the same,
  /// with the same inputs and outputs.
  ProbeSubject(const RuleProgram &program, const RuleProgram &meaning,
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

  const ProbeSetting &setting() const { return how; }
  /// Whether it has states, which programs loaded as text do not support.
  bool hasStates() const { return states; }
  /// Floating-point operations of a run.
  double operations() const;

private:
  const Function &function() const { return *module->functions.front(); }

  const RuleProgram &program, &meaning;
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
