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
           Gradients gradients, Diagnostics &diags);
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
  };

  explicit Entry(Surroundings &around) : around(around) {}
  bool build(const Function &function, Diagnostics &diags);
  void group();
  void findLifetimes();
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
  uint32_t *allocate(uint64_t words);
  bool runPart(Part &part, Gradients gradients, Diagnostics &diags);
  Slot *weightSlot(const Op &op, std::optional<int64_t> instance);

  Surroundings &around;
  FlatSchedule schedule;
  /// The items of each part, in order, and those that are staged.
  std::vector<std::vector<const Item *>> groups;
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
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_ENTRY_H
