//===- ProbeSubject.h - a program of a rule, ready to run ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_PROBESUBJECT_H
#define ANEC_TOOLS_ANE_RUN_PROBESUBJECT_H

#include "ProbeProgram.h"
#include "ProbeSetting.h"
#include "ProbeWeights.h"

namespace anec {

/// How far results are off.
struct ProbeError {
  double relative = 0; ///< norm of the difference, to that of the reference
  double largest = 0;  ///< of an element
};

/// A program as its text has it, with what it is given.
class ProbeSubject {
public:
  /// A text that anec cannot read means what `meaning` says, and has its ports.
  ProbeSubject(const ProbeProgram &program, const ProbeProgram &meaning);

  /// Draws inputs and weights. The reason why it cannot be tried, otherwise.
  std::string prepare();
  /// Null, with the reason reported, when `backend` refuses it.
  std::unique_ptr<Executable> load(Backend &backend, Diagnostics &diags);
  bool run(Executable &executable, std::vector<std::vector<uint8_t>> &outputs,
           Diagnostics &diags) const;
  /// Compares `outputs` with what the processor computes. Nothing, with the
  /// reason reported, when it cannot.
  std::optional<ProbeError> compare(std::vector<std::vector<uint8_t>> outputs,
                                    Diagnostics &diags);

  const ProbeSetting &setting() const { return how; }
  /// Memory that it could not be given: states.
  bool hasStates() const { return states; }
  /// Floating-point operations of a run.
  double operations() const;

private:
  const Function &function() const { return *module->functions.front(); }

  const ProbeProgram &program, &meaning;
  ProbeSetting how;
  Diagnostics sources;
  std::unique_ptr<Module> module;
  bool isReadable = false, states = false;
  std::string unreadable;
  ProbeWeights weights;
  std::vector<Port> inputPorts, outputPorts;
  std::vector<std::vector<uint8_t>> inputs;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_PROBESUBJECT_H
