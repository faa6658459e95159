//===- OpenedModule.h - host functions with open kernels --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The passes that form kernels decide which op belongs to which kernel. Moving
/// an op across a call would change the signature of the callee and all of its
/// calls, so these passes first open the calls:
///
///   host @m(%x) { %h = rmsnorm(%x, %w); %y = call @k(%h) }
///   kernel @k(%h) { %a = exp(%h); %y = mul(%a, %a) }
///   ==> open
///   host @m(%x) { %h = rmsnorm(%x, %w); %a = exp(%h); %y = mul(%a, %a) }
///                                       \_____ group k _____/
///
/// then move ops between groups, and close the groups again: each group becomes
/// a kernel with the parameters and results that it needs. Equal groups share a
/// kernel. Successive passes get one opened module, whose groups are settled in
/// between.
///
/// Weights and constants are in the host function while groups are open, and
/// are copied into every kernel that uses them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_OPENEDMODULE_H
#define ANEC_LIB_PASSES_OPENEDMODULE_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace anec {

class KernelForms;

/// Values in order, each once. Every change takes constant time.
class ValueList {
public:
  /// Appends `value`; false when the list has it already.
  bool insert(Value *value) {
    bool isNew = places.try_emplace(value, slots.size()).second;
    if (isNew)
      slots.push_back(value);
    return isNew;
  }
  bool contains(const Value *value) const { return places.contains(value); }
  /// False when the list does not have `value`.
  bool remove(const Value *value) { return replace(value, nullptr); }
  /// Puts `by`, which is new to the list, in the place of `value`; false when
  /// the list does not have `value`.
  bool replace(const Value *value, Value *by) {
    auto it = places.find(value);
    if (it == places.end())
      return false;
    size_t place = it->second;
    places.erase(it);
    slots[place] = by;
    if (by)
      places[by] = place;
    return true;
  }
  auto values() const {
    return llvm::make_filter_range(slots, [](Value *value) { return value; });
  }

private:
  std::vector<Value *> slots; ///< null where a value was removed
  llvm::DenseMap<const Value *, size_t> places;
};

/// A set of ops that becomes a kernel.
struct Group {
  std::string name;
  /// The kind, role and owner of the function that it becomes.
  FunctionKind kind = FunctionKind::Kernel;
  FunctionRole role = FunctionRole::Forward;
  std::string owner;
  /// The inputs and outputs of the opened kernel, in order. New ones, such as
  /// taps, are added after these.
  ValueList inputs, outputs;
  /// Names of inputs in the kernel that differ from those in the host function.
  llvm::DenseMap<const Value *, std::string> names;
  /// The roles of inputs and outputs that are not the default.
  llvm::DenseMap<const Value *, ValueRole> inputRoles, outputRoles;
  /// Weights are inputs, passed by the host, instead of part of the kernel.
  bool weightsAreInputs = false;
  /// The sum of the bytes of `outputs`.
  uint64_t outputBytes = 0;

  // What settling finds out.

  /// The number of its form in KernelForms; groups of one form share a kernel.
  unsigned form = 0;
  bool isFirstOfForm = false;
  SourceRange range; ///< of its first op
  /// The instance whose weights it has; null for none.
  Value *instance = nullptr;
  /// The ops of its kernel, in order: also weights and constants.
  std::vector<Op *> kernelOps;

private:
  friend class OpenedBody;
  friend class BodySettler;
  llvm::DenseSet<Op *> members;
  /// The first and last of `members`; null when they have to be searched.
  mutable const Op *first = nullptr, *last = nullptr;
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
  void assign(Op *op, int group);
  /// Adds an empty group with the name, kind, role and owner of `callee`.
  int addGroup(const Function &callee);
  /// Adds an empty group for a part of group `whole`.
  int addPart(int whole, llvm::StringRef name);
  Group &group(int number) { return list[number]; }
  unsigned numGroups() const { return list.size(); }

  /// Erases an op whose results are not used.
  void erase(Op &op);
  /// Replaces the uses of the results of `op` in `group` (or on the host) by
  /// the values `with`.
  void replaceUses(Op &op, int group, llvm::ArrayRef<Value *> with);
  /// Copies `op` into `group`, for the group's uses of its results.
  void computeIn(Op &op, int group);

  /// The ops of groups, in the order of the function.
  std::vector<Op *> ops(llvm::ArrayRef<int> groups) const;
  /// Whether two groups can become one: no path between them leads through
  /// other ops, and they use the weights of at most one instance.
  bool canMerge(int lhs, int rhs) const;
  /// Whether the ops of `groups` and the op `extra` (null: none) of the host
  /// can be one kernel.
  bool isConvex(llvm::ArrayRef<int> groups, const Op *extra = nullptr) const;
  /// Moves all ops of group `from` to group `into`.
  void merge(int into, int from);
  /// Adds `value`, a result of `group`, to the outputs of the group as a tap.
  void giveTap(int group, Value *value);
  /// Gives input `value` of `group` the role of a tap.
  void takeTap(int group, const Value *value);
  bool hasWeights(int group) const;
  /// The instance that the weights of a group belong to; null when it has no
  /// weights, or weights that are not repeated.
  Value *instanceOf(int group) const;

private:
  friend class BodySettler;
  friend class OpenedModule;
  /// Replaces `value` by `by`, including in the inputs, names and roles of
  /// groups.
  void replace(Value *value, Value *by);
  /// Replaces `value` by `by` in the inputs, names and roles of groups.
  void replaceKnown(const Value *value, Value *by);
  void open(Op &call, const Function &callee);
  Value *weightOfInstance(const Op &weight, Op &call);
  void addOutput(int group, Value *value);
  /// Records that the inputs, outputs, names or roles of `group` include
  /// `value`.
  void know(const Value *value, int group);
  /// The positions of the first and last op of a group; (max, 0) without ops.
  std::pair<uint64_t, uint64_t> extent(int group) const;

  Function *function;
  std::deque<Group> list;
  llvm::DenseMap<const Op *, int> groups;
  llvm::DenseMap<const Value *, llvm::SmallVector<int, 2>> known;
  /// By name, the weights of the host that precede the call being opened.
  llvm::StringMap<llvm::SmallVector<Op *, 1>> weights;
};

/// All host functions of a module while their groups are open.
class OpenedModule {
public:
  /// Opens the calls in all host functions, and removes the called functions,
  /// when a pass first asks for what is inside.
  explicit OpenedModule(Module &module) : all(module) {}

  /// The module while nothing has been opened; null otherwise.
  const Module *unopened() const { return isOpen ? nullptr : &all; }
  Module &module() {
    open();
    return all;
  }
  std::vector<OpenedBody> &bodies() {
    open();
    return opened;
  }
  OpenedBody *body(llvm::StringRef host);

  /// Gives the groups what they would have if they were closed and opened
  /// again: those without ops are gone; each can run as a unit, has the inputs
  /// and outputs that it needs, and constants of its own; booleans pass as
  /// fp16; and equal groups have the same name. If nothing `changed`, they have
  /// it since they were settled last.
  void settle(bool changed);
  /// Makes kernels of the groups, named after them.
  void close();

  /// Checks the host functions. Of groups that are the same, only the first is
  /// checked.
  [[nodiscard]] bool verify(Diagnostics &diags);

private:
  void open();
  bool settle(KernelForms &forms, bool staysOpen);
  void close(OpenedBody &body, KernelForms &forms);

  Module &all;
  bool isOpen = false, isSettled = false;
  std::vector<OpenedBody> opened;
};

/// Whether an engine program can have `op`, by the types of its values: fp16,
/// and booleans, which comparisons produce.
bool hasEngineTypes(const Op &op);

/// Whether `op` is copied into every kernel that uses it: weights and
/// constants.
bool isRematerialized(const Op &op);

} // namespace anec

#endif // ANEC_LIB_PASSES_OPENEDMODULE_H
