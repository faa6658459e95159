//===- OpenedModule.h - host functions with open kernels --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The passes that form kernels decide which op belongs to which kernel.
/// Moving an op across a call would change the signature of the callee and all
/// that call it. So these passes open the calls first:
///
///   host @m(%x) { %h = rmsnorm(%x, %w); %y = call @k(%h) }
///   kernel @k(%h) { %a = exp(%h); %y = mul(%a, %a) }
///   ==> open
///   host @m(%x) { %h = rmsnorm(%x, %w); %a = exp(%h); %y = mul(%a, %a) }
///                                       \_____ group k _____/
///
/// then move ops between groups, and close them again: each group becomes a
/// kernel with the parameters and results that it turns out to need. Groups
/// that come out equal share a kernel.
///
/// Weights and constants stand in the host function while groups are open, and
/// go into every kernel that uses them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_OPENEDMODULE_H
#define ANEC_LIB_PASSES_OPENEDMODULE_H

#include "anec/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace anec {

/// The ops that a kernel is to be made of.
struct Group {
  std::string name;
  /// The kind of function it becomes, its role and its owner.
  FunctionKind kind = FunctionKind::Kernel;
  FunctionRole role = FunctionRole::Forward;
  std::string owner;
  /// What the kernel took and gave before, in order. What it turns out to take
  /// or give besides, such as taps, comes after these.
  llvm::SetVector<Value *> inputs, outputs;
  /// What inputs were called in the kernel, when not as in the host function.
  llvm::DenseMap<const Value *, std::string> names;
  /// The roles of inputs and outputs that are not the default.
  llvm::DenseMap<const Value *, ValueRole> inputRoles, outputRoles;
  /// Its weights are inputs, passed by the host, rather than part of it.
  bool weightsAreInputs = false;
};

/// One host function while its groups are open.
class OpenedBody {
public:
  explicit OpenedBody(Function &host) : function(&host) {}

  Function &host() const { return *function; }

  static constexpr int onHost = -1;
  int groupOf(const Op *op) const {
    auto it = groups.find(op);
    return it == groups.end() ? onHost : it->second;
  }
  int groupOf(const Value *value) const {
    return value->definingOp() ? groupOf(value->definingOp()) : onHost;
  }
  void assign(const Op *op, int group) {
    if (group == onHost)
      groups.erase(op);
    else
      groups[op] = group;
  }
  /// Adds a group for a function like `callee`.
  int addGroup(const Function &callee);
  /// Adds a group for a part of what `whole` is to become.
  int addPart(int whole, llvm::StringRef name);
  Group &group(int number) { return list[number]; }
  unsigned numGroups() const { return list.size(); }

  /// Erases an op whose results are not used.
  void erase(Op &op);
  /// Makes the uses that `group` (or the host) has of the results of `op` use
  /// the values `with`.
  void replaceUses(Op &op, int group, llvm::ArrayRef<Value *> with);
  /// Computes `op` in `group` for the uses it has there.
  void computeIn(Op &op, int group);

  /// The ops of a group, in the order of the function.
  std::vector<Op *> ops(int group) const;
  /// Whether the two could be one: no path leads from one to the other through
  /// what belongs to neither, and they use the weights of one instance.
  bool canMerge(int lhs, int rhs) const;
  /// Whether the ops chosen by `inside` could be one kernel.
  bool isConvex(llvm::function_ref<bool(const Op &)> inside) const;
  /// Moves all of `from` into `into`.
  void merge(int into, int from);
  /// Makes the kernels of `group` give `value`, one of its own, as a tap.
  void giveTap(int group, Value *value);
  /// The same of a kernel that takes one.
  void takeTap(int group, const Value *value);
  bool hasWeights(int group) const;
  /// The instance that the weights of a group belong to; null when it has no
  /// weights, or weights that are not repeated.
  Value *instanceOf(int group) const;

private:
  friend class OpenedModule;
  /// Makes everything use `by`, what the groups know of `value` included.
  void replace(Value *value, Value *by);
  void open(Op &call, const Function &callee);
  Value *weightOfInstance(const Op &weight, Op &call);

  Function *function;
  std::vector<Group> list;
  llvm::DenseMap<const Op *, int> groups;
};

/// All host functions of a module while their groups are open.
class OpenedModule {
public:
  /// Opens the calls in all host functions, and removes what they called.
  explicit OpenedModule(Module &module);

  std::vector<OpenedBody> &bodies() { return opened; }
  OpenedBody *body(llvm::StringRef host);

  /// Makes kernels of the groups again, named after them.
  void close();

private:
  void close(OpenedBody &body);
  Function *addKernel(std::unique_ptr<Function> kernel);

  Module &module;
  std::vector<OpenedBody> opened;
};

/// Weights and constants: what goes into every kernel that uses it.
bool isRematerialized(const Op &op);

} // namespace anec

#endif // ANEC_LIB_PASSES_OPENEDMODULE_H
