//===- Executable.h - a program with surfaces of its own --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_EXECUTABLE_H
#define ANEC_LIB_RUNTIME_ANE_EXECUTABLE_H

#include "../Apple/Retained.h"
#include "Program.h"
#include "Surface.h"
#include "Symbols.h"
#include "anec/Runtime/Backend.h"

namespace anec::ane {

class AneExecutable : public Executable {
public:
  /// Returns null, with the reason reported, on failure. `asDeclared` is that
  /// of ProgramText.
  [[nodiscard]] static std::unique_ptr<AneExecutable>
  make(std::shared_ptr<Program> program, std::vector<Port> inputs,
       std::vector<Port> outputs, uint64_t constantBytes, Diagnostics &diags,
       bool asDeclared = false);

  [[nodiscard]] bool writeInput(unsigned port, const Region &region,
                                const float *elements,
                                Diagnostics &diags) override;
  [[nodiscard]] bool readOutput(unsigned port, const Region &region,
                                float *elements, Diagnostics &diags) override;
  [[nodiscard]] bool execute(Diagnostics &diags) override;
  [[nodiscard]] bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                         llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                         Diagnostics &diags) override;
  std::optional<double> engineSeconds() const override { return lastSeconds; }
  uint64_t constantBytes() const override { return weightBytes; }
  /// The bytes of the surfaces; the engine's other memory is not known.
  uint64_t activationBytes() const override;

private:
  AneExecutable() = default;
  [[nodiscard]] bool makeRequest(bool asDeclared, Diagnostics &diags);

  // Destroyed in reverse order: the request before what it refers to.
  std::shared_ptr<Program> program;
  std::vector<Surface> inputSurfaces, outputSurfaces;
  SymbolOrder inputOrder, outputOrder;
  Retained<id> request;
  uint64_t weightBytes = 0;
  std::optional<double> lastSeconds;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_EXECUTABLE_H
