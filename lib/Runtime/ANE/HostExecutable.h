//===- HostExecutable.h - a program with arrays of its own ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H
#define ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H

#include "../Apple/ArrayExecutable.h"
#include "Program.h"

namespace anec::ane {

/// An executable of a path that takes contiguous arrays instead of surfaces.
class HostExecutable : public ArrayExecutable {
public:
  HostExecutable(std::shared_ptr<Program> program, const ProgramPorts &ports,
                 uint64_t constantBytes);

protected:
  [[nodiscard]] bool compute(llvm::ArrayRef<HostArray> inputs,
                             llvm::MutableArrayRef<HostArray> outputs,
                             Diagnostics &diags) override;
  void reportUnwritten(llvm::StringRef output,
                       Diagnostics &diags) const override;

private:
  std::shared_ptr<Program> program;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_HOSTEXECUTABLE_H
