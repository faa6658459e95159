//===- ModelCost.h - what a package costs on a target ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_MODELCOST_H
#define ANEC_PACKAGE_MODELCOST_H

#include "anec/Package/ModelPackage.h"
#include "anec/Target/Predict.h"

namespace anec {

/// The programs of a package, and what running each of its entries costs.
struct ModelCost {
  std::vector<std::unique_ptr<Module>> programs; ///< that `runs` point into
  std::vector<RunCost> runs; ///< the entry with the most dispatches first
};

/// Loads the programs of `package`. Returns nothing when one cannot be read.
[[nodiscard]] std::optional<ModelCost> predictModel(const ModelPackage &package,
                                                    const Target &target,
                                                    Diagnostics &diags);

} // namespace anec

#endif // ANEC_PACKAGE_MODELCOST_H
