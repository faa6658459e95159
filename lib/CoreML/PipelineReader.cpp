//===- PipelineReader.cpp - pipelines of models to IR ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PipelineReader.h"
#include "Description.h"
#include "ElementTypes.h"
#include "ProgramReader.h"
#include "lib/CoreML/Diags.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

bool PartReader::read(const ModelParts &part, StringRef function,
                      StringRef place, llvm::ArrayRef<InputShape> shapes,
                      bool reportUnused, Module &module,
                      anec::ModelDescription &description) {
  size_t errors = diags.errorCount();
  mil::RequestedShapes requested(shapes, fixed);
  mil::FunctionBinder binder(module, ops, requested, diags, &description);
  ProgramReader program(values, binder, part.description, module, listing,
                        place, diags);
  std::string where = ("in " + place + "the program").str();
  if (program.read(part.body, function, listing.add(where)) && reportUnused)
    requested.reportUnused(diags);
  return diags.errorCount() == errors;
}

PipelineReader::PipelineReader(PartReader &reader,
                               const MILReadOptions &options,
                               const ModelParts &pipeline, Module &module)
    : reader(reader), options(options), pipeline(pipeline), module(module),
      diags(reader.diags),
      isSeparate(options.parts == MILReadOptions::Parts::Separate) {}

SourceRange PipelineReader::rangeOf(const ModelParts &part) {
  return reader.listing.add("in part " + std::to_string(part.number));
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

template <typename Described>
static const Described *findFeature(const std::vector<Described> &all,
                                    StringRef name) {
  for (const Described &one : all)
    if (one.name == name)
      return &one;
  return nullptr;
}

/// What parts in `scope` take by `name`. An input of the pipeline that no part
/// has taken yet becomes a parameter of type `wanted`; without that, and where
/// there is no such feature, this is null.
const PipelineReader::Scope::Feature *
PipelineReader::find(Scope &scope, StringRef name, const TensorType *wanted) {
  auto it = scope.features.find(name);
  if (it != scope.features.end())
    return &it->second;
  if (!findFeature(scope.pipeline.description.input, name))
    return nullptr;
  Scope::Feature feature;
  if (scope.parent) {
    const Scope::Feature *outer = find(*scope.parent, name, wanted);
    if (!outer)
      return nullptr;
    feature = *outer;
  } else if (wanted) {
    feature.value = joined->addParameter(*wanted, name);
  } else {
    return nullptr;
  }
  return &(scope.features[name] = feature);
}

/// The function of a part that a pipeline runs.
static StringRef functionOf(const ModelParts &part) {
  const auto &functions = part.description.functions;
  if (!part.description.defaultFunctionName.empty() || functions.empty())
    return part.description.defaultFunctionName;
  return functions.front().name;
}

/// Whether an input that is described so can have the shape.
static bool allows(const mil::FlexibleShapes::Input &input,
                   const Shape &shape) {
  if (input.enumerated.empty() && input.range.empty())
    return !input.byDefault || *input.byDefault == shape;
  bool hasRank = input.range.empty() || input.range.size() == shape.size();
  return hasRank && !input.limitOn(shape);
}

/// The shapes that the inputs of a part have: those of earlier outputs, and
/// those that the caller wants of the pipeline's inputs, or else the pipeline's
/// description where the part alone would have another.
std::vector<InputShape> PipelineReader::shapesFor(const ModelParts &part,
                                                  Scope &scope) {
  std::vector<InputShape> shapes;
  for (const auto &input : describedInputs(part.description, functionOf(part)))
    if (const Scope::Feature *feature = find(scope, input.name, nullptr))
      shapes.push_back({input.name, feature->value->type.shape, true});
  auto isGiven = [&](StringRef name) {
    return llvm::any_of(
        shapes, [&](const InputShape &known) { return known.name == name; });
  };
  for (const InputShape &wanted : options.shapes)
    if (!isGiven(wanted.name))
      shapes.push_back(wanted);
  for (const auto &input :
       describedInputs(part.description, functionOf(part))) {
    const auto *outer = findFeature(pipeline.description.input, input.name);
    if (!outer || isGiven(input.name))
      continue;
    mil::FlexibleShapes::Input wanted = describedShapes(*outer->type),
                               own = describedShapes(*input.type);
    if (wanted.byDefault && !(own.byDefault && allows(wanted, *own.byDefault)))
      shapes.push_back({input.name, *wanted.byDefault, true});
  }
  return shapes;
}

/// Whether the pipelines around a part describe an input as the part takes it.
bool PipelineReader::isDescribed(const Value &param, const Scope &scope,
                                 SourceRange range) {
  for (const Scope *one = &scope; one; one = one->parent) {
    const auto *input =
        findFeature(one->pipeline.description.input, param.name);
    if (!input || allows(describedShapes(*input->type), param.type.shape))
      continue;
    diags.report(range, diag::PartShape, param.name, param.type.str(),
                 spellType(*input->type));
    return false;
  }
  return true;
}

/// A shape with unknown extents where a description allows several.
static Shape commonShape(const mil::FlexibleShapes::Input &input) {
  Shape shape = input.byDefault.value_or(
      input.enumerated.empty() ? Shape(input.range.size(), mil::unknownExtent)
                               : input.enumerated.front());
  for (auto [axis, bounds] : llvm::enumerate(input.range))
    if (axis < shape.size())
      shape[axis] =
          bounds.first == bounds.second ? bounds.first : mil::unknownExtent;
  for (const Shape &other : input.enumerated)
    for (auto [extent, another] : llvm::zip(shape, other))
      if (extent != another)
        extent = mil::unknownExtent;
  return shape;
}

/// Makes `name` an input as the pipeline describes it, for a part that has no
/// types of its own. Returns false after an error.
bool PipelineReader::addInput(StringRef name, Scope &scope, SourceRange range) {
  const auto *input = findFeature(pipeline.description.input, name);
  if (!input || input->type->chosen != proto::FeatureType::MultiArray ||
      find(scope, name, nullptr))
    return true;
  std::optional<DType> dtype =
      elementType(input->type->multiArrayType->dataType);
  if (!dtype)
    return true;
  // No program has inputs in double precision, which Core ML converts to.
  if (*dtype == DType::FP64)
    dtype = DType::FP32;
  mil::FlexibleShapes shapes;
  shapes[name] = describedShapes(*input->type);
  TensorType declared(*dtype, commonShape(shapes[name]));
  const Scope::Feature *feature = find(scope, name, &declared);
  mil::RequestedShapes requested(options.shapes);
  const InputShape *wanted = requested.find(name);
  if (!feature ||
      (!wanted && !llvm::is_contained(declared.shape, mil::unknownExtent)))
    return true;
  return shapes.choose({feature->value, declared, range}, wanted, diags);
}

static StringRef describeKind(bool isImage) {
  return isImage ? "an image" : "an array";
}

/// The feature as the part takes it: in its element type, and of an image that
/// an earlier part made, the pixels.
Value *PipelineReader::fit(Value *value, const Value &param,
                           const Scope::Feature &feature,
                           const proto::FeatureDescription *described,
                           SourceRange range) {
  Builder builder(*joined);
  builder.setRange(range);
  if (value->type.shape != param.type.shape) {
    diags.report(range, diag::PartShape, param.name, param.type.str(),
                 value->type.str());
    return nullptr;
  }
  bool takesImage =
      described && described->type->chosen == proto::FeatureType::Image;
  bool isImage =
      feature.type && feature.type->chosen == proto::FeatureType::Image;
  bool isSame = !takesImage || !isImage ||
                described->type->imageType->colorSpace ==
                    feature.type->imageType->colorSpace;
  if (feature.type && (takesImage != isImage || !isSame)) {
    diags.report(range, diag::PartImage, param.name,
                 isSame ? describeKind(takesImage)
                        : "an image in another color space",
                 isSame ? describeKind(isImage) : "an image");
    return nullptr;
  }
  if (isImage && feature.type->imageType->colorSpace !=
                     proto::ColorSpace::GrayscaleFloat16) {
    // An image has bytes.
    ConstantRef low =
        Constant::fromDoubles(TensorType(value->type.dtype, Shape{}), {0.0});
    ConstantRef high =
        Constant::fromDoubles(TensorType(value->type.dtype, Shape{}), {255.0});
    if (isFloat(value->type.dtype)) {
      value = builder.build(ops::Clip, {value},
                            {Attr(param::alpha, low), Attr(param::beta, high)},
                            param.name + "_bytes");
      value = builder.build(ops::Round, {value}, {}, param.name + "_pixels");
    }
  }
  if (value->type.dtype != param.type.dtype)
    value =
        builder.build(ops::Cast, {value}, Attr(param::dtype, param.type.dtype),
                      param.name + "_" + spelling(param.type.dtype).str());
  return value;
}

/// What an optional input of a part has that nothing gives.
Value *PipelineReader::defaultOf(const Value &param,
                                 const proto::FeatureDescription &input,
                                 SourceRange range) {
  double number = defaultValue(*input.type->multiArrayType);
  ConstantRef value = Constant::fromDoubles(
      param.type, std::vector<double>(param.type.numElements(), number));
  Op *op = Op::create(ops::Const, {}, value, value->type(),
                      StringRef(param.name), range);
  joined->insert(op);
  return op->result();
}

Value *PipelineReader::bind(const Value &param,
                            const proto::FeatureDescription *described,
                            Scope &scope, SourceRange range) {
  if (param.holder == Holder::State)
    return bindState(param, range);
  if (!find(scope, param.name, nullptr) && !isDescribed(param, scope, range))
    return nullptr;
  if (const Scope::Feature *feature = find(scope, param.name, &param.type))
    return fit(feature->value, param, *feature, described, range);
  if (described && described->type->isOptional)
    return defaultOf(param, *described, range);
  diags.report(range, diag::PartInput, param.name);
  return nullptr;
}

/// Parts that have a state of one name share it.
Value *PipelineReader::bindState(const Value &state, SourceRange range) {
  for (const auto &param : joined->parameters())
    if (param->holder == Holder::State && param->name == state.name) {
      if (param->type == state.type)
        return param.get();
      diags.report(range, diag::PartState, state.name, state.type.str(),
                   param->type.str());
      return nullptr;
    }
  Value *copy = joined->addParameter(state.type, state.name, state.role());
  copy->holder = Holder::State;
  copy->declared = state.declared;
  return copy;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

bool PipelineReader::readProgram(const ModelParts &part, Scope &scope) {
  std::string place = "part " + std::to_string(part.number) + ", ";
  anec::ModelDescription described;
  describeModel(part.description, described);
  Module own;
  own.version = "1.0";
  StringRef wanted = functionOf(part);
  if (!reader.read(part, wanted, place, shapesFor(part, scope), false, own,
                   described))
    return false;
  Function &function = *own.functions.front();
  SourceRange range = function.range;
  module.version = std::max(module.version, own.version);
  if (module.buildInfo.empty())
    module.buildInfo = own.buildInfo;
  if (joined->body().empty() || joined->opset < function.opset)
    joined->opset = function.opset;

  ValueMap map;
  const auto &inputs = describedInputs(part.description, function.name);
  if (isJoined) {
    for (const auto &param : function.parameters()) {
      Value *value =
          bind(*param, findFeature(inputs, param->name), scope, range);
      if (!value)
        return false;
      map[param.get()] = value;
    }
    for (const Op &op : function.body())
      cloneOp(op, *joined, map);
    const auto &outputs = describedOutputs(part.description, function.name);
    for (auto [name, result] :
         llvm::zip_equal(function.resultNames(), function.resultValues())) {
      const auto *output = findFeature(outputs, name);
      scope.features[name] = {map[result], output ? &*output->type : nullptr};
      if (const auto *known = described.of(function.name).output(name);
          known && known->classes)
        classes[name] = known->classes;
    }
  }
  if (isSeparate) {
    function.name = "part" + std::to_string(part.number);
    module.functions.push_back(std::move(own.functions.front()));
  }
  return true;
}

/// A pipeline in a pipeline, whose parts see only its inputs.
bool PipelineReader::readInner(const ModelParts &part, Scope &scope) {
  Scope inner{part, &scope};
  if (!readParts(inner))
    return false;
  for (const auto &output : part.description.output) {
    auto it = inner.features.find(output.name);
    if (it != inner.features.end())
      scope.features[output.name] = it->second;
    else if (isJoined) {
      diags.report(rangeOf(part), diag::PartOutput, output.name);
      return false;
    }
  }
  return true;
}

/// A part that is neither a program nor computed on the host.
bool PipelineReader::refuse(const ModelParts &part, Scope &scope, bool isLast) {
  SourceRange range = rangeOf(part);
  StringRef kind = part.kind->name;
  if (isSeparate) {
    diags.report(range, diag::PartNotChecked, kind);
    isJoined = false;
    return true;
  }
  Diagnostics::Report report =
      !part.kind->isSuppression()
          ? diags.report(range, diag::PartKind, kind, part.kind->reason)
      : isLast ? diags.report(range, diag::PartOnHost, kind)
               : diags.report(range, diag::PartAtEnd, kind);
  for (const ModelParts *other : pipeline.leaves())
    if (other->kind->isProgram())
      report.note(range, diag::OnlyPart, other->number);
  return false;
}

bool PipelineReader::readPart(const ModelParts &part, Scope &scope,
                              bool isLast) {
  if (part.kind->isPipeline())
    return readInner(part, scope);
  if (part.kind->isProgram())
    return readProgram(part, scope);
  isLast &= !scope.parent;
  if (part.kind->isSuppression() && isLast && options.suppresses && !isSeparate)
    return readSuppression(part, scope);
  return refuse(part, scope, isLast);
}

bool PipelineReader::readParts(Scope &scope) {
  const std::vector<ModelParts> &parts = scope.pipeline.parts;
  for (const ModelParts &part : parts)
    if (!readPart(part, scope, &part == &parts.back()))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// How many boxes the description of an output allows.
static void limitBoxes(const proto::FeatureDescription *output,
                       BoxSuppression &suppression) {
  if (!output || output->type->chosen != proto::FeatureType::MultiArray)
    return;
  const proto::ArrayFeatureType &array = *output->type->multiArrayType;
  if (!array.shapeRange->sizeRanges.empty()) {
    const proto::SizeRange &rows = array.shapeRange->sizeRanges.front();
    suppression.fewest = int64_t(rows.lowerBound);
    suppression.most = rows.upperBound;
  } else if (array.enumeratedShapes->shapes.empty() &&
             array.shape.size() == 2 && array.shape.front() > 0) {
    suppression.fewest = suppression.most = array.shape.front();
  }
}

bool PipelineReader::readSuppression(const ModelParts &part, Scope &scope) {
  SourceRange range = rangeOf(part);
  proto::NonMaximumSuppression message;
  if (!parse(part.body, message)) {
    diags.report(range, diag::ModelMessage, "the suppression of boxes");
    return false;
  }
  suppression.emplace();
  suppression->confidence = message.confidenceInput;
  suppression->coordinates = message.coordinatesInput;
  suppression->keptConfidence = message.confidenceOutput;
  suppression->keptCoordinates = message.coordinatesOutput;
  suppression->overlapThreshold = message.iouThreshold;
  suppression->confidenceThreshold = message.confidenceThreshold;
  suppression->isPerClass = message.pickTop->perClass;
  for (const std::string &name :
       {message.confidenceOutput, message.coordinatesOutput})
    limitBoxes(findFeature(part.description.output, name), *suppression);
  for (const std::string &name :
       {message.confidenceInput, message.coordinatesInput}) {
    if (!addInput(name, scope, range))
      return false;
    const Scope::Feature *feature = find(scope, name, nullptr);
    if (!feature) {
      diags.report(range, diag::PartInput, name);
      return false;
    }
    const TensorType &type = feature->value->type;
    bool isBoxes = name == message.coordinatesInput;
    if (type.rank() != 2 || (isBoxes && type.shape[1] != 4)) {
      diags.report(range, diag::SuppressionShapes, name, type.str(),
                   isBoxes ? "4" : "classes");
      return false;
    }
  }
  // Thresholds that callers give are numbers, which the function passes on.
  const TensorType number(DType::FP32, Shape{1});
  auto take = [&](const std::string &name, std::string &taken) {
    if (!name.empty() && find(scope, name, &number))
      taken = name;
  };
  take(message.iouThresholdInput, suppression->overlapInput);
  take(message.confidenceThresholdInput, suppression->confidenceInput);
  return true;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Inputs that no part takes are inputs nevertheless.
void PipelineReader::addUnusedInputs() {
  for (const auto &input : pipeline.description.input) {
    bool isKnown = llvm::any_of(joined->parameters(), [&](const auto &param) {
      return param->name == input.name;
    });
    const proto::ArrayFeatureType &array = *input.type->multiArrayType;
    std::optional<DType> dtype = elementType(array.dataType);
    Shape shape(array.shape.begin(), array.shape.end());
    if (!isKnown && dtype && !shape.empty() && checkedNumElements(shape))
      joined->addParameter(TensorType(*dtype, shape), input.name);
  }
  std::vector<unsigned> order(joined->parameters().size());
  auto placeOf = [&](unsigned index) {
    StringRef name = joined->parameters()[index]->name;
    for (auto [place, input] : llvm::enumerate(pipeline.description.input))
      if (input.name == name)
        return place;
    return pipeline.description.input.size();
  };
  for (auto [index, place] : llvm::enumerate(order))
    place = unsigned(index);
  llvm::stable_sort(order, [&](unsigned lhs, unsigned rhs) {
    return placeOf(lhs) < placeOf(rhs);
  });
  joined->orderParameters(order);
}

void PipelineReader::reportUnusedShapes() {
  for (const InputShape &wanted : options.shapes)
    if (!wanted.isHint && !findFeature(pipeline.description.input, wanted.name))
      diags.report({}, diag::NoInputForShape, wanted.name);
}

/// Sets the results: the outputs that are described, and what the host needs
/// for the others.
bool PipelineReader::finish(Scope &scope) {
  std::vector<std::string> names;
  for (const auto &output : pipeline.description.output)
    if (!suppression || (output.name != suppression->keptConfidence &&
                         output.name != suppression->keptCoordinates))
      names.push_back(output.name);
  if (suppression)
    for (const std::string *name :
         {&suppression->confidence, &suppression->coordinates,
          &suppression->overlapInput, &suppression->confidenceInput})
      if (!name->empty() && !llvm::is_contained(names, *name))
        names.push_back(*name);
  llvm::SmallVector<Value *, 4> results;
  SourceRange range = reader.listing.add("in the pipeline");
  for (const std::string &name : names) {
    const Scope::Feature *feature = find(scope, name, nullptr);
    if (!feature) {
      diags.report(range, diag::PartOutput, name);
      return false;
    }
    Value *value = feature->value;
    if (!value->definingOp()) {
      Builder builder(*joined);
      builder.setRange(range);
      value = builder.build(ops::Identity, {value}, {}, name + "_passed");
    }
    results.push_back(value);
  }
  joined->setResults(results,
                     llvm::SmallVector<StringRef>(names.begin(), names.end()));
  addUnusedInputs();
  return true;
}

/// Thresholds that nobody gives are those of the model.
static void describeThresholds(const BoxSuppression &suppression,
                               anec::FunctionDescription &main) {
  for (anec::FeatureDescription &input : main.inputs) {
    bool isOverlap = input.name == suppression.overlapInput;
    if (!isOverlap && input.name != suppression.confidenceInput)
      continue;
    input.isOptional = true;
    input.byDefault = isOverlap ? suppression.overlapThreshold
                                : suppression.confidenceThreshold;
  }
}

bool PipelineReader::read() {
  if (!options.function.empty() && options.function != plainFunction) {
    diags.report(reader.listing.add("in the pipeline"),
                 diag::FunctionOfPipeline, options.function);
    return false;
  }
  joined = std::make_unique<Function>(FunctionKind::Kernel, plainFunction,
                                      reader.listing.add("in the pipeline"));
  Scope scope{pipeline};
  if (!readParts(scope))
    return false;
  reportUnusedShapes();
  if (isSeparate)
    return true;
  if (!finish(scope))
    return false;
  anec::ModelDescription &description = *options.description;
  anec::FunctionDescription &main = description.of(plainFunction);
  for (const auto &[name, labels] : classes)
    if (main.output(name))
      main.outputOf(name).classes = labels;
  main.suppression = suppression;
  if (suppression)
    describeThresholds(*suppression, main);
  module.functions.push_back(std::move(joined));
  return true;
}
