//===- LossPlot.h - a loss curve as SVG, or as text -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_LOSSPLOT_H
#define ANEC_LIB_TRAIN_LOSSPLOT_H

#include "anec/Train/TrainLog.h"

namespace llvm {
class raw_ostream;
}

namespace anec {

/// Draws the losses of a log over its steps: the loss of each step, the running
/// mean, and the validation loss, with axes, ticks and a legend.
void drawLosses(const LossHistory &history, llvm::raw_ostream &out);

/// The same without a drawing program, for a terminal: rows of characters, of
/// at most 80 columns.
void printLosses(const LossHistory &history, llvm::raw_ostream &out);

/// A run among others.
struct NamedHistory {
  std::string name;
  LossHistory history;
};
/// Draws several runs, each in a color of its own: the running mean, and dots
/// for the validation loss.
void drawLosses(llvm::ArrayRef<NamedHistory> runs, llvm::raw_ostream &out);

/// Writes the drawing of one run or several to `path`, whole or not at all.
[[nodiscard]] bool writeLossPlot(llvm::ArrayRef<NamedHistory> runs,
                                 llvm::StringRef path, Diagnostics &diags);
/// The same for the file `name` in `folder`, which must be none but a file.
[[nodiscard]] bool writeLossPlot(const LossHistory &history,
                                 std::shared_ptr<const Folder> folder,
                                 llvm::StringRef name, Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_TRAIN_LOSSPLOT_H
