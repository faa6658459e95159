//===- QuantizationPrinter.h - what quantization changed --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_QUANTIZATIONPRINTER_H
#define ANEC_LIB_REPORT_QUANTIZATIONPRINTER_H

#include "anec/Quantize/QuantizationReport.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

/// Prints a table of the weights, with totals.
void printQuantization(const QuantizationReport &report,
                       llvm::raw_ostream &out);
/// Prints the same as a JSON object; docs/use/quantization.md describes it.
void printQuantizationJson(const QuantizationReport &report,
                           llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_QUANTIZATIONPRINTER_H
