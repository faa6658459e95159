//===- ViewJson.cpp - views of weights in a manifest ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/ViewJson.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace json = llvm::json;
using Kind = ViewStep::Kind;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printIntegers(llvm::ArrayRef<int64_t> values, json::OStream &out) {
  out.array([&] {
    for (int64_t value : values)
      out.value(value);
  });
}

static void printStep(const ViewStep &step, json::OStream &out) {
  out.object([&] {
    out.attributeBegin(spelling(step.kind));
    if (step.second.empty())
      printIntegers(step.first, out);
    else
      out.array([&] {
        for (auto [first, second] : llvm::zip_equal(step.first, step.second))
          printIntegers({first, second}, out);
      });
    out.attributeEnd();
  });
}

void anec::printView(const WeightView &view, json::OStream &out) {
  out.object([&] {
    out.attribute("weight", view.weight);
    if (view.instance.kind == WeightInstance::Kind::Own)
      out.attribute("instance", "own");
    else if (view.instance.kind == WeightInstance::Kind::Number)
      out.attribute("instance", view.instance.number);
    out.attribute("dtype", spelling(view.dtype));
    out.attributeBegin("stored");
    printIntegers(view.array.sourceShape(), out);
    out.attributeEnd();
    out.attributeArray("steps", [&] {
      for (const ViewStep &step : view.array.steps())
        printStep(step, out);
    });
    out.attributeBegin("shape");
    printIntegers(view.array.shape(), out);
    out.attributeEnd();
  });
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static bool readShape(const json::Object &object, llvm::StringRef key,
                      Shape &shape, json::Path path) {
  std::vector<int64_t> extents;
  const json::Value *value = object.get(key);
  if (!value) {
    path.field(key).report("missing value");
    return false;
  }
  if (!json::fromJSON(*value, extents, path.field(key)))
    return false;
  shape.assign(extents.begin(), extents.end());
  return true;
}

static bool readInstance(const json::Object &object, WeightInstance &instance,
                         json::Path path) {
  const json::Value *value = object.get("instance");
  if (!value)
    return true;
  if (value->getAsString() == llvm::StringRef("own")) {
    instance = WeightInstance::own();
    return true;
  }
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 0) {
    path.field("instance").report("expected \"own\" or a number from 0");
    return false;
  }
  instance = WeightInstance::of(*number);
  return true;
}

/// `[[0, 16], [0, 64]]`
static bool readRanges(const json::Value &value, ViewStep &step,
                       json::Path path) {
  std::vector<std::vector<int64_t>> ranges;
  if (!json::fromJSON(value, ranges, path))
    return false;
  for (const std::vector<int64_t> &range : ranges) {
    if (range.size() != 2) {
      path.report("expected pairs");
      return false;
    }
    step.first.push_back(range[0]);
    step.second.push_back(range[1]);
  }
  return true;
}

static bool readStep(const json::Value &value, ViewStep &step,
                     json::Path path) {
  const json::Object *object = value.getAsObject();
  if (object && object->size() == 1)
    for (Kind kind : {Kind::Slice, Kind::Pad, Kind::Permute, Kind::Reshape}) {
      const json::Value *values = object->get(spelling(kind));
      if (!values)
        continue;
      step = {kind, {}, {}};
      if (kind == Kind::Slice || kind == Kind::Pad)
        return readRanges(*values, step, path.field(spelling(kind)));
      return readShape(*object, spelling(kind), step.first, path);
    }
  path.report("expected one of slice, pad, permute, reshape");
  return false;
}

static bool readSteps(const json::Object &object, ArrayView &view,
                      json::Path path) {
  const json::Array *steps = object.getArray("steps");
  json::Path list = path.field("steps"); // outlives its elements' paths
  if (!steps) {
    list.report("expected array");
    return false;
  }
  if (steps->size() > maxViewSteps) {
    list.report("too many steps");
    return false;
  }
  for (auto [number, value] : llvm::enumerate(*steps)) {
    ViewStep step{Kind::Reshape, {}, {}};
    json::Path here = list.index(unsigned(number));
    if (!readStep(value, step, here))
      return false;
    if (!step.misfit(view.shape()).empty()) {
      here.report("the step does not fit");
      return false;
    }
    view = view.then(step);
  }
  return true;
}

bool anec::fromJSON(const json::Value &value, WeightView &view,
                    json::Path path) {
  json::ObjectMapper map(value, path);
  std::string dtype;
  if (!map || !map.map("weight", view.weight) || !map.map("dtype", dtype))
    return false;
  std::optional<DType> parsed = parseDType(dtype);
  if (!parsed || bitWidth(*parsed) < 8) {
    path.field("dtype").report("no element type of whole bytes");
    return false;
  }
  view.dtype = *parsed;
  const json::Object &object = *value.getAsObject();
  Shape stored, shape;
  if (!readInstance(object, view.instance, path) ||
      !readShape(object, "stored", stored, path) ||
      !readShape(object, "shape", shape, path))
    return false;
  if (!ViewStep::reshape(stored).misfit(stored).empty()) {
    path.field("stored").report("no shape");
    return false;
  }
  view.array = ArrayView(stored);
  if (!readSteps(object, view.array, path))
    return false;
  if (view.array.shape() == shape)
    return true;
  path.field("shape").report("the steps give another shape");
  return false;
}
