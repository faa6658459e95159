//===- Entry.h - an entry, ready to run -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_ENTRY_H
#define ANEC_LIB_RUNTIME_SESSION_ENTRY_H

#include "KernelProgram.h"
#include "Segment.h"
#include "Slots.h"
#include "Surroundings.h"
#include "anec/Runtime/Session.h"
#include "llvm/Support/ThreadPool.h"
#include <future>
#include <map>
#include <set>

namespace anec::session {

/// Decides the memory of slots, loads kernels, compiles what is between them.
class Entry {
public:
  /// Null when that fails, with the reason reported.
  static std::unique_ptr<Entry>
  prepare(const Function &function, Surroundings &around, Diagnostics &diags);

  llvm::ArrayRef<Port> inputs() const { return inputPorts; }
  llvm::ArrayRef<Port> outputs() const { return outputPorts; }
  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Gradients gradients, GradientReady ready, Diagnostics &diags);
  /// Computes what follows from the weights alone.
  bool stage(Diagnostics &diags);
  /// Adds the programs that weights are constants of, in the order they run.
  void appendBaked(std::vector<std::shared_ptr<KernelProgram>> &programs) const;
  std::vector<PartTime> times() const;
  uint64_t bytes() const { return memoryBytes; }

private:
  /// A kernel call: the executable, and what has to be copied around it.
  struct Call {
    struct Transfer {
      unsigned port;
      Region region;
      Slot *slot;
    };
    std::shared_ptr<KernelProgram> program;
    std::vector<Transfer> staged, writes, reads;
  };
  /// Items that run as one.
  struct Group {
    std::vector<const Item *> items;
    /// Nothing but gradients comes of it, so it may run beside what follows.
    bool overlaps = false;

    bool isCall() const { return items.front()->kind == Item::Call; }
  };
  /// What runs at a time: a call or a segment of host ops.
  struct Part {
    PartTime time;
    std::optional<Call> call;
    std::unique_ptr<Segment> segment;
    std::vector<bool> beginsGradient; ///< of each accumulation
    /// Gradients that begin as zeros.
    std::vector<llvm::MutableArrayRef<float>> zeroed;
    /// For Gradients::Begin and Gradients::Add; made when needed.
    std::unique_ptr<cpu::HostProgram> programs[2];
    std::shared_future<void> done; ///< of a part that overlaps others
    /// Gradients that no later part adds to.
    std::vector<llvm::MutableArrayRef<float>> finished;
  };
  /// How many parts may wait or run beside the kernels. What they read has to
  /// stay that long.
  static constexpr size_t maxBeside = 4;

  explicit Entry(Surroundings &around) : around(around) {}
  bool build(const Function &function, Diagnostics &diags);
  void group();
  void separateGradients();
  void findLifetimes();
  void prolongLifetimes();
  void placeSlots();
  bool addParts(Diagnostics &diags);
  bool findGradients(Diagnostics &diags);
  bool checkPorts(const Function &function, Diagnostics &diags);
  bool buildCall(const Item &item, Part &part, Diagnostics &diags);
  std::shared_ptr<KernelProgram> load(const Item &item,
                                      const PackagedKernel &kernel,
                                      llvm::ArrayRef<Binding> bindings,
                                      Diagnostics &diags);
  bool buildSegment(llvm::ArrayRef<const Item *> items, Part &part,
                    Diagnostics &diags);
  cpu::HostProgram &program(Part &part, Gradients gradients);
  void runSegment(Part &part, cpu::HostProgram &program, Gradients gradients);
  uint32_t *allocate(uint64_t words);
  void findFinished();
  bool runPart(Part &part, Gradients gradients, Diagnostics &diags);
  bool runParts(Gradients gradients, GradientReady ready, Diagnostics &diags);
  void waitBeside(size_t most, GradientReady ready);
  Slot *weightSlot(const Op &op, std::optional<int64_t> instance);

  Surroundings &around;
  FlatSchedule schedule;
  /// The items of each part, in order, and those that are staged.
  std::vector<Group> groups;
  std::vector<const Item *> stagedItems;
  std::vector<Part> parts;
  Part staging;
  std::vector<Port> inputPorts, outputPorts;
  std::vector<cpu::AlignedArray> memory;
  uint64_t memoryBytes = 0;
  std::map<std::pair<std::string, bool>, Slot *> slotOfWeight;
  std::map<std::string, std::shared_ptr<Module>> kernels;
  std::map<std::vector<const void *>, std::shared_ptr<KernelProgram>> programs;
  std::set<std::string> begun; ///< gradients that an item before began
  std::deque<Item> weightItems;
  size_t lastForwardGroup = 0;
  std::deque<Part *> beside; ///< submitted, in order, and not waited for
  /// One thread, so that sums have one order.
  std::unique_ptr<llvm::DefaultThreadPool> worker;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_ENTRY_H
