//===- KernelForms.h - which kernels are the same ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The kernels of a module and of its groups, each form once.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_KERNELFORMS_H
#define ANEC_LIB_PASSES_KERNELFORMS_H

#include "OpenedModule.h"
#include "llvm/ADT/StringSet.h"

namespace anec {

/// A kernel: that of a function, or that which a group becomes.
struct KernelForm {
  static KernelForm of(Function &function);
  static KernelForm of(const Group &group);

  FunctionKind kind;
  FunctionRole role;
  std::string name, owner;
  /// Null for a group that has not become one.
  Function *function = nullptr;
  std::vector<const Value *> inputs, outputs;
  std::vector<std::string> inputNames;
  std::vector<ValueRole> inputRoles, outputRoles;
  std::vector<Op *> ops;

  /// Whether both are the same except for names and owners.
  bool isSame(const KernelForm &other) const;
  /// The same for forms that are the same.
  uint64_t hash() const;
};

class KernelForms {
public:
  /// Those of the functions of `module` which are no host functions.
  explicit KernelForms(Module &module);

  /// The number of the form that is the same as `form`. If there is none, adds
  /// it with a name that no other has.
  unsigned add(KernelForm form);
  unsigned size() const { return forms.size(); }
  KernelForm &operator[](unsigned number) { return forms[number]; }

private:
  unsigned append(uint64_t hash, KernelForm form);

  std::vector<KernelForm> forms;
  llvm::StringSet<> names; ///< of all functions, too
  llvm::DenseMap<uint64_t, llvm::SmallVector<unsigned, 1>> hashed;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_KERNELFORMS_H
