//===- ProgramReport.cpp - the contents of a function ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/ProgramReport.h"
#include "ScaledNumber.h"
#include "anec/Ops/Report.h"
#include "lib/IR/OpDef.h"
#include "lib/Support/ShownText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `` softmax giving `y` ``.
static std::string describePeak(const FunctionReport &report) {
  const Op &op = *report.peakOp;
  std::string text = op.def().name.str();
  if (op.numResults() && !op.result()->name.empty())
    text += " giving `" + showText(op.result()->name) + "`";
  return text;
}

void anec::printReport(const Function &function, llvm::StringRef version,
                       llvm::raw_ostream &out) {
  FunctionReport report = makeReport(function);
  out << "program(" << version << ") " << function.name << '<' << function.opset
      << ">\n";
  for (const auto &param : function.parameters())
    out << (param->holder == Holder::State ? "  state   " : "  input   ")
        << showText(param->name) << ": " << param->type.str() << '\n';
  for (unsigned i = 0; i < function.numResults(); ++i)
    out << "  output  " << showText(function.resultNames()[i]) << ": "
        << function.result(i)->type.str() << '\n';
  out << "  " << report.ops << " ops, " << scaled(report.flops, "FLOP") << ", "
      << report.parameters << " parameters\n"
      << "  weights " << scaled(report.weightBytes, "B") << ", inputs "
      << scaled(report.inputBytes, "B") << ", outputs "
      << scaled(report.outputBytes, "B");
  if (report.stateBytes)
    out << ", states " << scaled(report.stateBytes, "B");
  out << ", activations at most " << scaled(report.activationPeak, "B");
  if (report.peakOp)
    out << " at once, during " << describePeak(report);
  out << '\n';
  for (const WeightCount &row : report.weights)
    out << "  weights " << spelling(row.dtype) << ": " << row.arrays
        << " arrays, " << row.elements << " elements, "
        << scaled(row.bytes, "B") << '\n';
  for (const OpCount &row : report.histogram) {
    out << llvm::format("  %6u ", row.count) << row.def->name;
    if (row.flops)
      out << "  " << scaled(row.flops, "FLOP");
    out << '\n';
  }
}

/// Text of others, on one line.
static llvm::raw_ostream &writeQuoted(llvm::raw_ostream &out,
                                      llvm::StringRef text) {
  out << '"';
  out.write_escaped(text);
  return out << '"';
}

static void printFeatures(llvm::StringRef kind,
                          llvm::ArrayRef<FeatureDescription> features,
                          llvm::raw_ostream &out) {
  constexpr int64_t mostClasses = 8;
  for (const FeatureDescription &feature : features) {
    out << "    " << kind << ' ';
    out.write_escaped(feature.name) << ": " << feature.type;
    if (feature.isOptional)
      out << llvm::format(", optional, %g by default", feature.byDefault);
    if (feature.classes) {
      int64_t count = feature.classes->numElements();
      out << ", one of";
      for (int64_t index = 0; index < std::min(count, mostClasses); ++index) {
        out << ' ';
        if (feature.classes->dtype() == DType::String)
          writeQuoted(out, feature.classes->asStrings()[size_t(index)]);
        else
          out << feature.classes->intAt(index);
      }
      if (count > mostClasses)
        out << " and " << count - mostClasses << " more";
    }
    if (!feature.summary.empty())
      writeQuoted(out << ", ", feature.summary);
    out << '\n';
  }
}

void anec::printDescription(const ModelDescription &description,
                            llvm::raw_ostream &out) {
  for (const FunctionDescription &function : description.functions) {
    if (function.inputs.empty() && function.outputs.empty() &&
        function.states.empty())
      continue;
    out << "  described: ";
    out.write_escaped(function.name)
        << (function.name == description.defaultFunction ? ", the default\n"
                                                         : "\n");
    printFeatures("input ", function.inputs, out);
    printFeatures("output", function.outputs, out);
    printFeatures("state ", function.states, out);
  }
  for (auto [number, part] : llvm::enumerate(description.parts)) {
    out << "  part " << number << ": " << part.kind;
    if (!part.name.empty())
      out.write_escaped((" `" + part.name + "`"));
    out << '\n';
  }
  for (const auto &[name, text] : description.metadata) {
    out << "  ";
    out.write_escaped(name) << ": ";
    writeQuoted(out, text) << '\n';
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printFeatures(llvm::StringRef kind,
                          llvm::ArrayRef<FeatureDescription> features,
                          llvm::json::OStream &json) {
  using llvm::json::fixUTF8;
  json.attributeArray(kind, [&] {
    for (const FeatureDescription &feature : features)
      json.object([&] {
        json.attribute("name", fixUTF8(feature.name));
        json.attribute("type", feature.type);
        if (!feature.summary.empty())
          json.attribute("summary", fixUTF8(feature.summary));
        if (feature.isOptional)
          json.attribute("default", feature.byDefault);
        if (!feature.classes)
          return;
        json.attributeArray("classes", [&] {
          for (const std::string &text : feature.classes->asStrings())
            json.value(fixUTF8(text));
          if (feature.classes->dtype() != DType::String)
            for (int64_t number : feature.classes->asInts())
              json.value(number);
        });
      });
  });
}

static void writeDescription(const ModelDescription &description,
                             llvm::json::OStream &json) {
  using llvm::json::fixUTF8;
  json.attributeObject("description", [&] {
    json.attribute("default_function", fixUTF8(description.defaultFunction));
    if (!description.parts.empty())
      json.attributeArray("parts", [&] {
        for (const PartDescription &part : description.parts)
          json.object([&] {
            json.attribute("name", fixUTF8(part.name));
            json.attribute("kind", part.kind);
          });
      });
    json.attributeArray("functions", [&] {
      for (const FunctionDescription &function : description.functions)
        json.object([&] {
          json.attribute("name", fixUTF8(function.name));
          printFeatures("inputs", function.inputs, json);
          printFeatures("outputs", function.outputs, json);
          printFeatures("states", function.states, json);
        });
    });
    json.attributeObject("metadata", [&] {
      for (const auto &[name, text] : description.metadata)
        json.attribute(fixUTF8(name), fixUTF8(text));
    });
  });
}

static void printPort(llvm::StringRef name, const TensorType &type,
                      llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("dtype", spelling(type.dtype));
    json.attributeArray("shape", [&] {
      for (int64_t extent : type.shape)
        json.value(extent);
    });
  });
}

static void printSignature(const Function &function, llvm::StringRef version,
                           llvm::json::OStream &json) {
  json.attribute("version", version);
  json.attribute("function", function.name);
  json.attribute("opset", function.opset);
  auto printParameters = [&](bool states) {
    for (const auto &param : function.parameters())
      if (states == (param->holder == Holder::State))
        printPort(param->name, param->type, json);
  };
  json.attributeArray("inputs", [&] { printParameters(false); });
  json.attributeArray("states", [&] { printParameters(true); });
  json.attributeArray("outputs", [&] {
    for (unsigned i = 0; i < function.numResults(); ++i)
      printPort(function.resultNames()[i], function.result(i)->type, json);
  });
}

static void printWeights(const FunctionReport &report,
                         llvm::json::OStream &json) {
  json.attributeObject("weights", [&] {
    for (const WeightCount &row : report.weights)
      json.attributeObject(spelling(row.dtype), [&] {
        json.attribute("arrays", int64_t(row.arrays));
        json.attribute("elements", row.elements);
        json.attribute("bytes", int64_t(row.bytes));
      });
  });
}

void anec::printReport(const Function &function, llvm::StringRef version,
                       llvm::json::OStream &json,
                       const ModelDescription *description) {
  FunctionReport report = makeReport(function);
  json.object([&] {
    printSignature(function, version, json);
    json.attribute("ops", int64_t(report.ops));
    json.attribute("flop", report.flops);
    json.attribute("parameters", report.parameters);
    json.attribute("constant_bytes", int64_t(report.weightBytes));
    json.attribute("input_bytes", int64_t(report.inputBytes));
    json.attribute("output_bytes", int64_t(report.outputBytes));
    json.attribute("state_bytes", int64_t(report.stateBytes));
    json.attribute("activation_peak_bytes", int64_t(report.activationPeak));
    if (report.peakOp && report.peakOp->numResults())
      json.attribute("activation_peak_at", report.peakOp->result()->name);
    printWeights(report, json);
    json.attributeObject("histogram", [&] {
      for (const OpCount &row : report.histogram)
        json.attribute(row.def->name, int64_t(row.count));
    });
    if (description && !description->functions.empty())
      writeDescription(*description, json);
    json.attributeObject("flop_by_op", [&] {
      for (const OpCount &row : report.histogram)
        if (row.flops)
          json.attribute(row.def->name, row.flops);
    });
  });
}
