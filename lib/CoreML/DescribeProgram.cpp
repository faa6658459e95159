//===- DescribeProgram.cpp - programs as their descriptions want them -----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Images have the form that coremltools gives them: fp32 in the program, with
/// `NAME__scaled__` and `NAME__biased__` right after an input.
///
//===----------------------------------------------------------------------===//

#include "anec/CoreML/WantedDescription.h"
#include "lib/CoreML/Diags.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/ReservedNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;
using llvm::StringRef;

namespace {

/// Describes one function.
class FunctionDescriber {
public:
  FunctionDescriber(Function &function, FunctionDescription &known,
                    Diagnostics &diags)
      : function(function), known(known), diags(diags), builder(function) {}

  bool hasInput(StringRef name) const { return input(name) != nullptr; }
  bool hasOutput(StringRef name) const { return output(name).has_value(); }
  bool describeInput(const WantedFeature &wanted);
  bool describeOutput(const WantedFeature &wanted);
  bool classify(const WantedClassifier &wanted,
                llvm::ArrayRef<WantedFeature> outputs);
  bool rename(const WantedDescription &wanted);

private:
  Value *input(StringRef name) const;
  std::optional<unsigned> output(StringRef name) const;
  std::string outputNames() const;
  bool renamePort(const WantedFeature &wanted, bool isInput);
  Value *scaled(Value *pixels, const WantedImage &image, StringRef name);
  Value *shaped(Value *pixels, llvm::ArrayRef<int64_t> shape, bool isLast,
                StringRef name);
  bool makeImage(Value &param, const WantedImage &image);
  bool makeImage(unsigned index, const WantedImage &image);
  bool checkLabel(const WantedClassifier &wanted, unsigned index);

  Function &function;
  FunctionDescription &known;
  Diagnostics &diags;
  Builder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value *FunctionDescriber::input(StringRef name) const {
  for (const auto &param : function.parameters())
    if (param->name == name && param->holder == Holder::Tensor)
      return param.get();
  return nullptr;
}

std::optional<unsigned> FunctionDescriber::output(StringRef name) const {
  for (auto [index, other] : llvm::enumerate(function.resultNames()))
    if (other == name)
      return unsigned(index);
  return std::nullopt;
}

std::string FunctionDescriber::outputNames() const {
  llvm::ArrayRef<std::string> names = function.resultNames();
  return "`" + llvm::join(names, "`, `") + "`";
}

/// The description of an input, added if it is missing.
static FeatureDescription &inputOf(FunctionDescription &known, StringRef name) {
  for (FeatureDescription &feature : known.inputs)
    if (feature.name == name)
      return feature;
  known.inputs.emplace_back().name = name.str();
  return known.inputs.back();
}

static bool checkName(StringRef name, SourceRange range, Diagnostics &diags) {
  bool ok =
      !name.empty() && !llvm::isDigit(name.front()) &&
      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
      !mil::isReservedName(name);
  if (!ok)
    diags.report(range, diag::DescribeName, name);
  return ok;
}

bool FunctionDescriber::renamePort(const WantedFeature &wanted, bool isInput) {
  if (wanted.name.empty() || wanted.name == wanted.of)
    return true;
  if (!checkName(wanted.name, wanted.nameRange, diags))
    return false;
  bool isTaken = hasOutput(wanted.name) ||
                 llvm::any_of(function.parameters(), [&](const auto &param) {
                   return param->name == wanted.name;
                 });
  if (isTaken) {
    diags.report(wanted.nameRange, diag::DescribeTaken, wanted.name,
                 function.name);
    return false;
  }
  if (isInput) {
    inputOf(known, wanted.of).name = wanted.name;
    input(wanted.of)->name = wanted.name;
    return true;
  }
  known.outputOf(wanted.of).name = wanted.name;
  std::vector<std::string> names = function.resultNames().vec();
  names[*output(wanted.of)] = wanted.name;
  llvm::SmallVector<StringRef, 4> views(names.begin(), names.end());
  llvm::SmallVector<Value *, 4> values(function.resultValues());
  llvm::SmallVector<ValueRole, 4> roles(function.resultRoles());
  function.setResults(values, views, roles);
  return true;
}

/// Last, so that the rest of a description has the names of the program.
bool FunctionDescriber::rename(const WantedDescription &wanted) {
  bool ok = true;
  for (const WantedFeature &feature : wanted.inputs)
    if (hasInput(feature.of))
      ok &= renamePort(feature, /*isInput=*/true);
  for (const WantedFeature &feature : wanted.outputs)
    if (hasOutput(feature.of))
      ok &= renamePort(feature, /*isInput=*/false);
  return ok;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

static bool isGray(ColorSpace colors) {
  return colors == ColorSpace::Gray || colors == ColorSpace::GrayFloat16;
}

/// The shape [1, channels, height, width] of an array that is such an image;
/// `isLast` tells whether its channels are its last axis. Nothing when it is
/// none.
static std::optional<Shape> pixelShape(Shape shape, ColorSpace colors,
                                       bool &isLast) {
  int64_t channels = isGray(colors) ? 1 : 3;
  isLast = false;
  if (shape.size() == 4 && shape[0] == 1)
    shape.erase(shape.begin());
  if (shape.size() == 2 && channels == 1)
    shape.insert(shape.begin(), 1);
  if (shape.size() != 3)
    return std::nullopt;
  if (shape[0] == channels)
    return Shape{1, channels, shape[1], shape[2]};
  isLast = true;
  if (shape[2] == channels)
    return Shape{1, channels, shape[0], shape[1]};
  return std::nullopt;
}

static DType pixelType(ColorSpace colors) {
  return colors == ColorSpace::GrayFloat16 ? DType::FP16 : DType::FP32;
}

static Value *constant(Builder &builder, TensorType type,
                       llvm::ArrayRef<double> values, StringRef name) {
  return builder.build(
      ops::Const, {},
      Attr(param::val, Constant::fromDoubles(std::move(type), values)), name);
}

Value *FunctionDescriber::scaled(Value *pixels, const WantedImage &image,
                                 StringRef name) {
  auto apply = [&](const OpDef &op, llvm::ArrayRef<double> numbers,
                   double neutral, StringRef suffix) {
    if (llvm::all_of(numbers, [&](double n) { return n == neutral; }))
      return;
    TensorType type(pixels->type.dtype);
    if (numbers.size() > 1)
      type.shape = {1, int64_t(numbers.size()), 1, 1};
    std::string result = (name + suffix).str();
    Value *factor = constant(builder, type, numbers, result + "y");
    pixels = builder.build(op, {pixels, factor}, {}, result);
  };
  apply(ops::Mul, image.scale, 1, "__scaled__");
  // coremltools has a bias for each channel.
  std::vector<double> bias = image.bias;
  bias.resize(isGray(image.colors) ? 1 : 3, bias.front());
  apply(ops::Add, bias, 0, "__biased__");
  return pixels;
}

/// Pixels, [1, channels, height, width], as an array of `shape`.
Value *FunctionDescriber::shaped(Value *pixels, llvm::ArrayRef<int64_t> shape,
                                 bool isLast, StringRef name) {
  if (isLast)
    pixels =
        builder.build(ops::Transpose, {pixels},
                      Attr(param::perm, llvm::ArrayRef<int64_t>{0, 2, 3, 1}),
                      (name + "__transpose_from_nchw__").str());
  if (pixels->type.shape == Shape(shape))
    return pixels;
  return builder.build(ops::Reshape, {pixels}, Attr(param::shape, shape),
                       (name + "__reshaped__").str());
}

static void reportShape(const WantedImage &image, StringRef name,
                        const TensorType &type, Diagnostics &diags) {
  StringRef channels = isGray(image.colors) ? "1" : "3";
  diags.report(image.range, diag::DescribePixels, name, type.str(),
               spelling(image.colors),
               ("[1, " + channels + ", height, width] or [1, height, width, " +
                channels + "]")
                   .str());
}

bool FunctionDescriber::makeImage(Value &param, const WantedImage &image) {
  bool isLast = false;
  TensorType inside = param.type;
  std::optional<Shape> shape = pixelShape(inside.shape, image.colors, isLast);
  if (!shape) {
    reportShape(image, param.name, inside, diags);
    return false;
  }
  // Users move to a stand-in, so that the first op does not become its own.
  Op *standIn = Op::create(ops::Identity, {}, {}, {inside}, {"stand_in"}, {});
  param.replaceAllUsesWith(standIn->result());
  param.type = TensorType(pixelType(image.colors), *shape);
  builder.setInsertionPoint(function.body().empty() ? nullptr
                                                    : &function.body().front());
  builder.setRange(param.range());
  Value *value = scaled(&param, image, param.name);
  if (inside.dtype != value->type.dtype)
    value = builder.build(ops::Cast, {value}, Attr(param::dtype, inside.dtype),
                          param.name + "_to_" + spelling(inside.dtype).str());
  value = shaped(value, inside.shape, isLast, param.name);
  standIn->result()->replaceAllUsesWith(value);
  delete standIn;
  inputOf(known, param.name).image = {(*shape)[3], (*shape)[2], image.colors};
  return true;
}

bool FunctionDescriber::makeImage(unsigned index, const WantedImage &image) {
  Value *value = function.result(index);
  std::string name = function.resultNames()[index];
  bool isLast = false;
  std::optional<Shape> shape =
      pixelShape(value->type.shape, image.colors, isLast);
  if (!shape) {
    reportShape(image, name, value->type, diags);
    return false;
  }
  builder.setInsertionPoint(nullptr);
  builder.setRange(value->range());
  // The image has the name.
  if (value->name == name)
    value->name = name + "_array";
  if (isLast) {
    Shape rows = {1, (*shape)[2], (*shape)[3], (*shape)[1]};
    if (value->type.shape != rows)
      value = builder.build(ops::Reshape, {value}, Attr(param::shape, rows),
                            name + "__reshaped__");
    value =
        builder.build(ops::Transpose, {value},
                      Attr(param::perm, llvm::ArrayRef<int64_t>{0, 3, 1, 2}),
                      name + "__transpose_to_nchw__");
  } else if (value->type.shape != *shape) {
    value = builder.build(ops::Reshape, {value}, Attr(param::shape, *shape),
                          name + "__reshaped__");
  }
  DType dtype = pixelType(image.colors);
  if (value->type.dtype != dtype)
    value = builder.build(ops::Cast, {value}, Attr(param::dtype, dtype),
                          name + "_to_" + spelling(dtype).str());
  function.setResult(index, scaled(value, image, name));
  known.outputOf(name).image = {(*shape)[3], (*shape)[2], image.colors};
  return true;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

bool FunctionDescriber::describeInput(const WantedFeature &wanted) {
  Value *param = input(wanted.of);
  if (!wanted.summary.empty())
    inputOf(known, wanted.of).summary = wanted.summary;
  if (wanted.byDefault) {
    if (param->type.isScalar() || param->type.dtype == DType::Bool) {
      diags.report(wanted.defaultRange, diag::DescribeDefault, wanted.of,
                   param->type.str());
      return false;
    }
    FeatureDescription &feature = inputOf(known, wanted.of);
    feature.isOptional = true;
    feature.byDefault = *wanted.byDefault;
  }
  return !wanted.image || makeImage(*param, *wanted.image);
}

bool FunctionDescriber::describeOutput(const WantedFeature &wanted) {
  if (!wanted.summary.empty())
    known.outputOf(wanted.of).summary = wanted.summary;
  return !wanted.image || makeImage(*output(wanted.of), *wanted.image);
}

//===----------------------------------------------------------------------===//
// Classifiers
//===----------------------------------------------------------------------===//

/// Whether the two results of the classifier can have their names.
bool FunctionDescriber::checkLabel(const WantedClassifier &wanted,
                                   unsigned index) {
  if (!checkName(wanted.label, wanted.labelRange, diags))
    return false;
  for (const std::string &name : {wanted.label, wanted.label + "_probs"}) {
    std::optional<unsigned> other = output(name);
    if (!hasInput(name) && (!other || *other == index))
      continue;
    diags.report(wanted.labelRange.isValid() ? wanted.labelRange : wanted.range,
                 diag::DescribeTaken, name, function.name);
    return false;
  }
  return true;
}

bool FunctionDescriber::classify(const WantedClassifier &wanted,
                                 llvm::ArrayRef<WantedFeature> outputs) {
  std::optional<unsigned> found;
  if (!wanted.probabilities.empty())
    found = output(wanted.probabilities);
  else if (function.numResults() == 1)
    found = 0;
  if (!found) {
    if (wanted.probabilities.empty())
      diags.report(wanted.range, diag::DescribeProbabilities, outputNames());
    else
      diags.report(wanted.probabilitiesRange, diag::DescribeNoFeature, "output",
                   wanted.probabilities, outputNames());
    return false;
  }
  Value *value = function.result(*found);
  std::string name = function.resultNames()[*found];
  for (const WantedFeature &feature : outputs)
    if (feature.of == name && !feature.name.empty()) {
      diags.report(feature.nameRange, diag::DescribeLabelName, name,
                   wanted.label);
      return false;
    }
  int64_t count = wanted.classes->numElements();
  if (!isFloat(value->type.dtype) || value->type.numElements() != count) {
    diags.report(wanted.classesRange, diag::DescribeClassCount, count, name,
                 value->type.str());
    return false;
  }
  if (!checkLabel(wanted, *found))
    return false;
  std::string all = wanted.label + "_probs";
  builder.setInsertionPoint(nullptr);
  builder.setRange(value->range());
  if (value->name == wanted.label || value->name == all)
    value->name += "_values";
  if (value->type.dtype != DType::FP32)
    value = builder.build(ops::Cast, {value}, Attr(param::dtype, DType::FP32),
                          name + "_cast_to_fp32");
  if (wanted.hasScores) {
    value = builder.build(ops::Reshape, {value},
                          Attr(param::shape, Shape{count}), name + "_list");
    value = builder.build(ops::Softmax, {value}, Attr(param::axis, 0),
                          name + "_probabilities");
  }
  // As the readers of packages make it of `classify`.
  Value *flat = builder.build(ops::Reshape, {value},
                              Attr(param::shape, Shape{count}), all);
  Value *label = builder.build(
      ops::ReduceArgmax, {flat},
      {Attr(param::axis, 0), Attr(param::keepDims, false)}, wanted.label);
  llvm::SmallVector<Value *, 4> values = {label, flat};
  llvm::SmallVector<StringRef, 4> names = {wanted.label, all};
  llvm::SmallVector<ValueRole, 4> roles(2, ValueRole::Output);
  std::vector<std::string> before = function.resultNames().vec();
  for (unsigned i = 0; i < function.numResults(); ++i)
    if (i != *found) {
      values.push_back(function.result(i));
      names.push_back(before[i]);
      roles.push_back(function.resultRoles()[i]);
    }
  function.setResults(values, names, roles);
  // What was said of the output is about the dictionary.
  FeatureDescription described = known.outputOf(name);
  described.name = all;
  llvm::erase_if(known.outputs, [&](const FeatureDescription &feature) {
    return feature.name == name || feature.name == all;
  });
  known.outputs.push_back(std::move(described));
  known.outputOf(wanted.label).classes = wanted.classes;
  return true;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static std::string listNames(const llvm::StringSet<> &names) {
  std::vector<std::string> sorted;
  for (const auto &entry : names)
    sorted.push_back("`" + entry.first().str() + "`");
  llvm::sort(sorted);
  return sorted.empty() ? "none" : llvm::join(sorted, ", ");
}

/// Reports that no function has the feature.
static bool reportUnknown(const Module &module, const WantedFeature &wanted,
                          bool isInput, Diagnostics &diags) {
  llvm::StringSet<> names;
  for (const auto &function : module.functions)
    if (isInput) {
      for (const auto &param : function->parameters())
        if (param->holder == Holder::Tensor)
          names.insert(param->name);
    } else {
      for (const std::string &name : function->resultNames())
        names.insert(name);
    }
  auto report =
      diags.report(wanted.range, diag::DescribeNoFeature,
                   isInput ? "input" : "output", wanted.of, listNames(names));
  Suggestion suggestion(wanted.of);
  for (const auto &entry : names)
    suggestion.consider(entry.first());
  suggestion.note(report, wanted.range);
  return false;
}

static void addMetadata(const WantedDescription &wanted,
                        ModelDescription &description) {
  for (const auto &[name, text] : wanted.metadata) {
    auto found =
        llvm::find_if(description.metadata, [&, key = name](const auto &entry) {
          return entry.first == key;
        });
    if (found == description.metadata.end())
      description.metadata.emplace_back(name, text);
    else
      found->second = text;
  }
}

bool anec::describeProgram(Module &module, const WantedDescription &wanted,
                           ModelDescription &description, Diagnostics &diags) {
  addMetadata(wanted, description);
  std::vector<FunctionDescriber> functions;
  // Entries of `description` move when others are added.
  for (const auto &function : module.functions)
    (void)description.of(function->name);
  for (const auto &function : module.functions)
    functions.emplace_back(*function, description.of(function->name), diags);
  auto describe = [&](const std::vector<WantedFeature> &features,
                      bool isInput) {
    bool ok = true;
    for (const WantedFeature &feature : features) {
      bool isKnown = false;
      for (FunctionDescriber &function : functions) {
        if (isInput ? !function.hasInput(feature.of)
                    : !function.hasOutput(feature.of))
          continue;
        isKnown = true;
        ok &= isInput ? function.describeInput(feature)
                      : function.describeOutput(feature);
      }
      ok &= isKnown || reportUnknown(module, feature, isInput, diags);
    }
    return ok;
  };
  bool ok = describe(wanted.inputs, /*isInput=*/true);
  ok &= describe(wanted.outputs, /*isInput=*/false);
  bool isPlain = module.functions.size() == 1 &&
                 module.functions[0]->name == plainFunction;
  if (wanted.classifier && !isPlain) {
    diags.report(wanted.classifier->range, diag::DescribeClassifier);
    return false;
  }
  if (!ok || (wanted.classifier &&
              !functions.front().classify(*wanted.classifier, wanted.outputs)))
    return false;
  for (FunctionDescriber &function : functions)
    ok &= function.rename(wanted);
  return ok;
}
