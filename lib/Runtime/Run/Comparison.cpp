//===- Comparison.cpp - outputs beside their reference --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Comparison.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

double anec::defaultTolerance(const Backend &backend, Numerics numerics) {
  if (!backend.capabilities().hasNumerics || isEmulated(numerics))
    return 5e-2;
  return numerics == Numerics::FP32 ? 1e-4 : 1e-2;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// The largest finite magnitude.
static double largestMagnitude(llvm::ArrayRef<double> values) {
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

/// The difference of two elements; 0 for equal infinities, and NaN where one of
/// them is NaN and that is wrong.
static double differenceOf(double value, double reference, bool equalNaN) {
  if (value == reference ||
      (equalNaN && std::isnan(value) && std::isnan(reference)))
    return 0;
  return std::fabs(value - reference);
}

/// How bad a difference is: by how much it exceeds what is allowed, and NaN
/// most.
static double excess(double difference, double allowed) {
  return std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                : difference - allowed;
}

OutputComparison anec::compareOutput(const Port &port,
                                     llvm::ArrayRef<double> values,
                                     llvm::ArrayRef<double> reference,
                                     const Tolerance &tolerance) {
  OutputComparison result;
  result.name = port.name;
  result.type = port.type;
  result.relativeError = relativeError(values, reference);
  double relative = tolerance.relative.value_or(0);
  double absolute = tolerance.absolute.value_or(0);
  if (!tolerance.isGiven() && isFloat(port.type.dtype))
    absolute = tolerance.ofLargest * largestMagnitude(reference);
  double most = -std::numeric_limits<double>::infinity();
  for (auto [index, value, right] : llvm::enumerate(values, reference)) {
    double difference = differenceOf(value, right, tolerance.equalNaN);
    // An infinite reference allows nothing but itself.
    double allowed = absolute;
    if (std::isfinite(right))
      allowed += relative * std::fabs(right);
    // NaN is never within the limit.
    if (!(difference <= allowed))
      ++result.wrong;
    if (std::isnan(difference) || difference > result.largestError)
      result.largestError = difference;
    if (double more = excess(difference, allowed); more > most) {
      most = more;
      result.worst = int64_t(index);
      result.allowed = allowed;
      result.value = value;
      result.reference = right;
    }
  }
  // To relativeError, NaN is equal to NaN.
  if (std::isnan(result.largestError))
    result.relativeError = result.largestError;
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static llvm::SmallVector<int64_t> indicesOf(const OutputComparison &output) {
  llvm::SmallVector<int64_t> indices;
  int64_t rest = output.worst;
  for (int64_t extent : llvm::reverse(output.type.shape)) {
    indices.push_back(extent ? rest % extent : 0);
    rest = extent ? rest / extent : 0;
  }
  return {indices.rbegin(), indices.rend()};
}

std::string OutputComparison::place() const {
  std::string text = "[";
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(indicesOf(*this), out);
  out << ']';
  return text;
}

void anec::printComparison(const OutputComparison &output,
                           llvm::StringRef reference, llvm::raw_ostream &out) {
  out << "  " << showText(output.name)
      << llvm::format(": relative error %.3g against ", output.relativeError)
      << reference;
  if (output.largestError != 0)
    out << llvm::format(", largest %.3g", output.largestError);
  out << '\n';
}

static void writeNumber(llvm::json::OStream &json, llvm::StringRef key,
                        double value) {
  if (std::isfinite(value))
    json.attribute(key, value);
  else
    json.attribute(key, std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

void anec::printComparison(const OutputComparison &output,
                           llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", output.name);
    json.attribute("type", output.type.str());
    json.attribute("passed", output.isRight());
    json.attribute("elements", output.type.numElements());
    json.attribute("wrong_elements", output.wrong);
    writeNumber(json, "relative_error", output.relativeError);
    writeNumber(json, "largest_error", output.largestError);
    json.attributeObject("worst", [&] {
      json.attribute("index", llvm::json::Array(indicesOf(output)));
      writeNumber(json, "value", output.value);
      writeNumber(json, "reference", output.reference);
      writeNumber(json, "allowed_error", output.allowed);
    });
  });
}

bool anec::checkComparison(const OutputComparison &output, Diagnostics &diags) {
  if (output.isRight())
    return true;
  auto text = [](double number) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.7g", number);
    return text;
  };
  diags.report({}, diag::CompareFailed, output.name, output.wrong,
               output.type.numElements(), output.place(), text(output.value),
               text(output.reference), text(output.allowed));
  return false;
}
