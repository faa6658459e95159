//===- Published.cpp - what others measured -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Published figures of the same kernels, with chip and source. None was
/// measured by anec, and none with checked outputs.
///
//===----------------------------------------------------------------------===//

#include "lib/Bench/Suite.h"

using namespace anec;

static constexpr llvm::StringLiteral maderix = "maderix/ANE";
static constexpr llvm::StringLiteral devErik = "dev-erik/ANE";
static constexpr llvm::StringLiteral articles = "maderix, articles";
static constexpr KernelForm Wide = KernelForm::ConvFp32;
static constexpr KernelForm Conv = KernelForm::Conv;

static constexpr PublishedFigure figures[] = {
    {"peak", "128x512 sp64", Wide, "M3 Pro", 0, 9.98, maderix},
    {"peak", "128x512 sp64", Wide, "M3 Ultra", 0.531, 8.08, maderix},
    {"peak", "128x512 sp64", Wide, "M4", 0, 11.74, "maderix/ANE, an issue"},
    {"peak", "128x512 sp64", Wide, "M4 Pro", 0, 12.57, maderix},
    {"peak", "128x512 sp64", Wide, "M4 Max", 0.385, 11.14, devErik},
    {"peak", "128x512 sp64", Wide, "M5", 0, 12.17, maderix},
    {"peak", "128x512 sp2048", Wide, "M3 Pro", 0, 16.77, maderix},
    {"peak", "32x512 sp64", Wide, "M4 Max", 0.408, 2.63, devErik},
    {"peak", "48x512 sp64", Wide, "M4 Max", 0.262, 6.15, devErik},
    {"peak", "64x512 sp64", Wide, "M4 Max", 0.244, 8.80, devErik},
    {"peak", "96x512 sp64", Wide, "M4 Max", 0.326, 9.89, devErik},
    {"peak", "64x256 sp64", Wide, "M4 Max", 0.365, 1.47, devErik},
    {"peak", "128x256 sp64", Wide, "M4 Max", 0.454, 2.37, devErik},
    {"peak", "256x256 sp64", Wide, "M4 Max", 0.351, 6.11, devErik},
    {"peak", "64x384 sp64", Wide, "M4 Max", 0.429, 2.82, devErik},
    {"peak", "128x384 sp64", Wide, "M4 Max", 0.354, 6.82, devErik},

    {"sram", "256ch sp64", Conv, "M4 Max", 0.378, 0.02, devErik},
    {"sram", "512ch sp64", Conv, "M4 Max", 0.431, 0.08, devErik},
    {"sram", "1024ch sp64", Conv, "M4 Max", 0.411, 0.33, devErik},
    {"sram", "1536ch sp64", Conv, "M4 Max", 0.493, 0.61, devErik},
    {"sram", "2048ch sp64", Conv, "M4 Max", 0.410, 1.31, devErik},
    {"sram", "2560ch sp64", Conv, "M4 Max", 0.237, 3.53, devErik},
    {"sram", "3072ch sp64", Conv, "M4 Max", 0.335, 3.60, devErik},
    {"sram", "3584ch sp64", Conv, "M4 Max", 0.414, 3.97, devErik},
    {"sram", "4096ch sp64", Conv, "M4 Max", 1.134, 1.89, devErik},
    {"sram", "4608ch sp64", Conv, "M4 Max", 0.563, 4.83, devErik},
    {"sram", "5120ch sp64", Conv, "M4 Max", 0.659, 5.09, devErik},
    {"sram", "6144ch sp64", Conv, "M4 Max", 0.844, 5.73, devErik},
    {"sram", "8192ch sp64", Conv, "M4 Max", 4.203, 1.02,
     "dev-erik/ANE; another program of it gives sp32 for the same time"},

    {"dispatch", "64x32", Conv, "M4 Max", 0.175, 0, devErik},
    {"dispatch", "64x32", Conv, "M4 Max", 0.225, 0, devErik, "direct"},
    {"dispatch", "64x32", Conv, "M4 Max", 0.093, 0, devErik, "real-time"},
    {"dispatch", "64x32", Conv, "M4 Max", 0.131, 0, devErik, "process-request"},
    {"dispatch", "768x256", Conv, "M4 Max", 0.205, 0, devErik},
    {"dispatch", "768x256", Conv, "M4 Max", 0.246, 0, devErik, "real-time"},
    {"dispatch", "768x256", Conv, "M4 Max", 0.185, 0, devErik,
     "process-request"},
    {"dispatch", "256x64", Conv, "M5", 0.07, 0.12, "maderix/ANE, mean of 10"},
    {"dispatch", "12 times 768x256", Conv, "M4 Max", 12 * 0.177, 0, devErik},

    {"conv-vs-matmul", "2048x2048 by 2048x2048", KernelForm::Matmul, "M4", 0,
     5.7, articles},
    {"conv-vs-matmul", "4096x4096 by 4096x4096", KernelForm::Matmul, "M4", 0,
     4.0, articles},

    {"int8", "128x512 64x64", Conv, "M4", 14.8, 18.6, maderix},
    {"int8", "128x512 64x64", KernelForm::Int8, "M4", 7.8, 35.1, maderix},
    {"int8", "64x512 64x64", Conv, "M4", 7.5, 18.4, maderix},
    {"int8", "64x512 64x64", KernelForm::Int8, "M4", 4.0, 34.1, maderix},
};

std::vector<const PublishedFigure *> anec::publishedFor(const Suite &suite,
                                                        const SuiteRow &row) {
  std::vector<const PublishedFigure *> found;
  for (const PublishedFigure &figure : figures)
    if (figure.suite == suite.name && figure.label == row.label &&
        figure.form == row.form())
      found.push_back(&figure);
  return found;
}
