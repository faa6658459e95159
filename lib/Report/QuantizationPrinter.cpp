//===- QuantizationPrinter.cpp - what quantization changed ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/QuantizationPrinter.h"
#include "lib/Support/ShownText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace anec;

static std::pair<uint64_t, uint64_t> totals(const QuantizationReport &report) {
  uint64_t before = 0, after = 0;
  for (const QuantizedWeightRow &row : report.weights) {
    before += row.bytesBefore;
    after += row.bytesAfter;
  }
  return {before, after};
}

/// The columns about the product's input.
static void printInput(const std::optional<QuantizedInput> &input,
                       llvm::raw_ostream &out) {
  if (!input)
    out << "   float";
  else if (input->outputError)
    out << llvm::format("   %.6f     %.6f  %.6f", *input->relativeError,
                        *input->clipped, *input->outputError);
}

void anec::printQuantization(const QuantizationReport &report,
                             llvm::raw_ostream &out) {
  size_t width = sizeof("weight") - 1, shapes = sizeof("shape") - 1;
  bool hasOutputs = false;
  for (const QuantizedWeightRow &row : report.weights) {
    width = std::max(width, row.name.size());
    shapes = std::max(shapes, shapeToString(row.type.shape).size());
    hasOutputs |= row.outputError.has_value();
  }
  out << llvm::left_justify("weight", width) << "  "
      << llvm::left_justify("shape", shapes)
      << "  form              bits  error"
      << (hasOutputs || report.hasActivations ? "     output error, to nearest"
                                              : "")
      << (report.hasActivations ? "  input error  clipped   of outputs" : "")
      << '\n';
  for (const QuantizedWeightRow &row : report.weights) {
    out << llvm::left_justify(showText(row.name), width) << "  "
        << llvm::left_justify(shapeToString(row.type.shape), shapes) << "  "
        << llvm::left_justify(row.form, 16)
        << llvm::format("  %4.2f  %.6f", row.bitsPerWeight(),
                        row.relativeError);
    if (row.outputError)
      out << llvm::format("  %.6f      %.6f", *row.outputError,
                          *row.plainOutputError);
    else if (report.hasActivations)
      out << "  -             -       ";
    if (report.hasActivations)
      printInput(row.input, out);
    out << '\n';
  }
  for (const std::string &name : report.skipped)
    out << llvm::left_justify(showText(name), width) << "  kept\n";
  auto [before, after] = totals(report);
  out << llvm::format("%zu weights: %.3f MB, before %.3f MB\n",
                      report.weights.size(), double(after) * 1e-6,
                      double(before) * 1e-6);
}

static void printInput(const QuantizedInput &input, llvm::json::OStream &json) {
  json.attribute("scales", input.scales);
  json.attribute("least_scale", input.leastScale);
  json.attribute("most_scale", input.mostScale);
  json.attribute("largest", input.largest);
  if (input.outputError) {
    json.attribute("clipped", *input.clipped);
    json.attribute("relative_error", *input.relativeError);
    json.attribute("output_error", *input.outputError);
  }
}

void anec::printQuantizationJson(const QuantizationReport &report,
                                 llvm::raw_ostream &out) {
  auto bytes = totals(report);
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("weights", [&] {
      for (const QuantizedWeightRow &row : report.weights)
        json.object([&] {
          json.attribute("name", row.name);
          json.attribute("form", row.form);
          json.attribute("dtype", spelling(row.type.dtype));
          json.attributeArray("shape", [&] {
            for (int64_t extent : row.type.shape)
              json.value(extent);
          });
          json.attribute("bytes_before", int64_t(row.bytesBefore));
          json.attribute("bytes", int64_t(row.bytesAfter));
          json.attribute("bits_per_weight", row.bitsPerWeight());
          json.attribute("relative_error", row.relativeError);
          if (row.outputError) {
            json.attribute("output_error", *row.outputError);
            json.attribute("output_error_to_nearest", *row.plainOutputError);
          }
          if (row.input)
            json.attributeObject("input",
                                 [&] { printInput(*row.input, json); });
        });
    });
    if (!report.skipped.empty())
      json.attributeArray("skipped", [&] {
        for (const std::string &name : report.skipped)
          json.value(name);
      });
    json.attribute("bytes_before", int64_t(bytes.first));
    json.attribute("bytes", int64_t(bytes.second));
  });
  out << '\n';
}
