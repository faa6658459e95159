//===- PlanBuilder.h - makes the plan of an entry ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_PLANBUILDER_H
#define ANEC_LIB_RUNTIME_SESSION_PLANBUILDER_H

#include "Context.h"
#include "Plan.h"
#include "Segment.h"
#include "Slots.h"
#include <limits>
#include <map>
#include <set>

namespace anec::session {

/// Decides what runs together and where values are, loads kernels, and compiles
/// the host ops between them.
class PlanBuilder {
public:
  explicit PlanBuilder(SessionContext &context) : context(context) {}

  /// Null when that fails, with the reason reported. A builder builds once.
  [[nodiscard]] std::unique_ptr<const Plan> build(const Function &entry,
                                                  Diagnostics &diags);

private:
  /// Items that run as one.
  struct Group {
    std::vector<const Item *> items;
    /// Only gradients depend on it, so it may run beside what follows.
    bool overlaps = false;

    bool isCall() const { return items.front()->kind == Item::Call; }
    bool isUpdate() const { return items.front()->kind == Item::Update; }
  };
  /// How many steps may wait or run beside the kernels. What they read has to
  /// stay that long.
  static constexpr size_t mostOverlapping = 4;

  // Values and their places: PlanPlacing.cpp.
  Slot *weightSlot(const Op &op, std::optional<int64_t> instance);
  void expandWeights();
  [[nodiscard]] bool hasWeights(Diagnostics &diags) const;
  [[nodiscard]] bool findGradients(Diagnostics &diags);
  void group();
  void separateGradients();
  void findLifetimes();
  void prolongLifetimes();
  void placeSlots();
  uint32_t *allocate(uint64_t words);

  // Steps: PlanBuilder.cpp.
  [[nodiscard]] bool addPorts(const Function &entry, Diagnostics &diags);
  [[nodiscard]] bool addSteps(Diagnostics &diags);
  [[nodiscard]] bool addKernel(const Item &item, PlanStep &step,
                               Diagnostics &diags);
  [[nodiscard]] std::shared_ptr<KernelProgram>
  load(const Item &item, const PackagedKernel &kernel,
       llvm::ArrayRef<Binding> bindings, Diagnostics &diags);
  [[nodiscard]] bool addHostOps(llvm::ArrayRef<const Item *> items,
                                bool overlaps, HostStep &step,
                                std::string &names, Diagnostics &diags);
  std::unique_ptr<cpu::HostProgram> compile(const Segment &segment,
                                            llvm::ArrayRef<bool> startsGradient,
                                            bool overlaps, Gradients gradients);
  static void addUpdates(llvm::ArrayRef<const Item *> items, PlanStep &step);
  void findFinished();
  void addPlaces();

  SessionContext &context;
  std::unique_ptr<Plan> plan = std::make_unique<Plan>();
  FlatSchedule schedule;
  std::map<std::pair<std::string, bool>, Slot *> slotOfWeight;
  std::deque<Item> weightItems;
  /// The items of each step, in order, and those that follow from the weights
  /// alone.
  std::vector<Group> groups;
  std::vector<const Item *> stagedItems;
  /// The last group with the loss or a metric; without a loss, every group is
  /// the forward's.
  size_t lastForwardGroup = std::numeric_limits<size_t>::max();
  std::map<std::string, std::shared_ptr<Module>> kernels;
  std::map<std::vector<const void *>, std::shared_ptr<KernelProgram>> programs;
  std::set<std::string> startedGradients; ///< by an earlier step
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_PLANBUILDER_H
