//===- Losses.cpp - losses of classes -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include "anec/Support/Words.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::onnx;

namespace {
/// Log-probabilities [N, C, D] and targets [N, D].
struct Scores {
  Val logs, targets;
  Shape shape; ///< of the targets in the model
};
} // namespace

namespace {
/// What the losses of targets become.
ANEC_ENUM(Reduction, (None, "none"), (Sum, "sum"), (Mean, "mean"))
} // namespace

/// The loss of log-probabilities, by the attributes of the node; `weights` may
/// be missing.
static void readLoss(Node &n, Scores scores, Val weights) {
  Emitter &e = n.e;
  Val targets = scores.targets;
  Val counts; // weight of each target; missing if all are 1
  if (n.hasAttr("ignore_index")) {
    Val ignored = e.make(
        ops::Equal,
        {targets, e.scalar(DType::Int32, double(n.attr("ignore_index", -1)))});
    targets = e.select(ignored, e.scalar(DType::Int32, 0), targets);
    counts = e.cast(e.make(ops::LogicalNot, {ignored}), scores.logs.dtype());
  }
  if (weights) {
    Val chosen = e.gather(weights, targets, 0);
    counts = counts ? e.mul(counts, chosen) : chosen;
  }
  Shape column = {targets.dim(0), 1, targets.dim(1)};
  Val picked =
      e.make(ops::GatherAlongAxis, {scores.logs, e.reshape(targets, column)},
             {{param::axis, 1}});
  Val losses = e.mul(e.reshape(picked, targets.shape()), -1);
  if (counts)
    losses = e.mul(losses, counts);

  auto reduction =
      parseWord<Reduction>(n.attrText("reduction", spelling(Reduction::Mean)));
  if (!reduction)
    return n.fail("`reduction` of `" + n.op() +
                  "` must be `none`, `sum` or `mean`");
  if (reduction == Reduction::None)
    return n.out(e.reshape(losses, scores.shape));
  Val sum = e.reduce(ops::ReduceSum, losses, {0, 1}, false);
  if (reduction == Reduction::Sum)
    return n.out(sum);
  if (!counts)
    return n.out(e.mul(sum, 1 / double(targets.size())));
  n.out(e.div(sum, e.reduce(ops::ReduceSum, counts, {0, 1}, false)));
}

/// The inputs as [N, C, D] and [N, D]; false if they do not match.
static bool readScores(Node &n, Scores &scores) {
  Val x = n.in(0), targets = n.in(1);
  if (!x || !targets)
    return false;
  Shape shape = x.shape();
  if (x.rank() < 2 || targets.rank() != x.rank() - 1) {
    n.fail("targets of rank " + llvm::Twine(targets.rank()) +
           " do not match scores of rank " + llvm::Twine(x.rank()));
    return false;
  }
  shape.erase(shape.begin() + 1);
  if (shape != targets.shape()) {
    n.fail("targets do not have the shape of the scores without classes");
    return false;
  }
  int64_t positions = targets.dim(0) ? targets.size() / targets.dim(0) : 0;
  scores.shape = shape;
  scores.logs = n.e.reshape(x, {x.dim(0), x.dim(1), positions});
  scores.targets = n.e.reshape(targets, {targets.dim(0), positions});
  return true;
}

static void readNegativeLogLikelihoodLoss(Node &n) {
  Scores scores;
  if (readScores(n, scores))
    readLoss(n, scores, n.maybe(2));
}

static void readSoftmaxCrossEntropyLoss(Node &n) {
  Scores scores;
  if (!readScores(n, scores))
    return;
  scores.logs = logSoftmax(n.e, scores.logs, 1);
  readLoss(n, scores, n.maybe(2));
  n.out(1, n.e.reshape(scores.logs, n.in(0).shape()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow lossTable[] = {
    {.name = "NegativeLogLikelihoodLoss",
     .read = readNegativeLogLikelihoodLoss,
     .since = 12},
    {.name = "SoftmaxCrossEntropyLoss",
     .read = readSoftmaxCrossEntropyLoss,
     .since = 12},
};

llvm::ArrayRef<OpRow> onnx::lossRows() { return lossTable; }
