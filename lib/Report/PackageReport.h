//===- PackageReport.h - the contents of a package --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_PACKAGEREPORT_H
#define ANEC_LIB_REPORT_PACKAGEREPORT_H

#include "anec/Package/ModelPackage.h"

namespace anec {

/// Prints the kernel calls of each entry, the kernels with their tensors,
/// operations and predicted times, and the number of parameters.
void printReport(const ModelPackage &package, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_PACKAGEREPORT_H
