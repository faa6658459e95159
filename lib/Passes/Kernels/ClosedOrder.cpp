//===- ClosedOrder.cpp - an order in which groups run ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ClosedOrder.h"
#include <queue>

using namespace anec;

namespace {

/// The nodes of a host function whose groups are closed: an op, or all ops of
/// a group.
class ClosedOrder {
public:
  explicit ClosedOrder(const OpenedBody &body) {
    for (Op &op : body.host().body()) {
      int group = body.groupOf(&op);
      size_t node = nodes.size();
      if (group != OpenedBody::onHost)
        node = ofGroup.insert({group, node}).first->second;
      if (node == nodes.size())
        nodes.emplace_back();
      nodes[node].push_back(&op);
      ofOp[&op] = node;
    }
  }

  /// The nodes sorted topologically, otherwise in their original order.
  std::vector<std::vector<Op *>> sorted() {
    std::vector<llvm::SmallVector<size_t, 4>> users(nodes.size());
    std::vector<unsigned> missing(nodes.size());
    std::vector<size_t> userOf(nodes.size(), nodes.size()); ///< the last found
    for (size_t node = 0; node < nodes.size(); ++node) {
      userOf[node] = node;
      for (const Op *op : nodes[node])
        for (unsigned slot = 0; slot < op->numOperands(); ++slot) {
          const Op *def =
              op->operand(slot) ? op->operand(slot)->definingOp() : nullptr;
          size_t other = def ? ofOp.lookup(def) : node;
          if (userOf[other] == node)
            continue;
          userOf[other] = node;
          users[other].push_back(node);
          ++missing[node];
        }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t node = 0; node < nodes.size(); ++node)
      if (missing[node] == 0)
        ready.push(node);
    std::vector<std::vector<Op *>> order;
    while (!ready.empty()) {
      size_t node = ready.top();
      ready.pop();
      order.push_back(nodes[node]);
      for (size_t user : users[node])
        if (--missing[user] == 0)
          ready.push(user);
    }
    assert(order.size() == nodes.size() && "groups depend on each other");
    return order;
  }

private:
  std::vector<std::vector<Op *>> nodes;
  llvm::DenseMap<int, size_t> ofGroup;
  llvm::DenseMap<const Op *, size_t> ofOp;
};

} // namespace

std::vector<std::vector<Op *>> anec::closedOrder(const OpenedBody &body) {
  return ClosedOrder(body).sorted();
}
