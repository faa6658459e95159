//===- ViewJson.cpp - views of weights in a manifest ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/ViewJson.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
namespace json = llvm::json;
using Kind = ViewStep::Kind;

bool JsonForm<WeightInstance>::read(const json::Value &json, WeightInstance &to,
                                    JsonPath path) {
  if (json.getAsString() == llvm::StringRef("own")) {
    to = WeightInstance::own();
    return true;
  }
  std::optional<int64_t> number = json.getAsInteger();
  if (!number || *number < 0)
    return path.refuse("expected \"own\" or a number from 0");
  to = WeightInstance::of(*number);
  return true;
}

void JsonForm<WeightInstance>::write(const WeightInstance &value,
                                     json::OStream &out) {
  if (value.kind == WeightInstance::Kind::Own)
    out.value("own");
  else
    out.value(value.number);
}

bool StoredTypeJson::read(const json::Value &json, DType &to, JsonPath path) {
  std::optional<DType> parsed =
      parseDType(json.getAsString().value_or(llvm::StringRef()));
  if (!parsed || bitWidth(*parsed) < 8)
    return path.refuse("no element type of whole bytes");
  to = *parsed;
  return true;
}

void StoredTypeJson::write(DType value, json::OStream &out) {
  out.value(spelling(value));
}

//===----------------------------------------------------------------------===//
// Shapes and steps
//===----------------------------------------------------------------------===//

bool ViewSourceJson::read(const json::Value &json, ArrayView &to,
                          JsonPath path) {
  Shape stored;
  if (!JsonForm<Shape>::read(json, stored, path))
    return false;
  if (!ViewStep::reshape(stored).misfit(stored).empty())
    return path.refuse("no shape");
  to = ArrayView(stored);
  return true;
}

void ViewSourceJson::write(const ArrayView &value, json::OStream &out) {
  JsonForm<Shape>::write(value.sourceShape(), out);
}

bool ViewShapeJson::read(const json::Value &json, ArrayView &of,
                         JsonPath path) {
  Shape shape;
  return JsonForm<Shape>::read(json, shape, path) &&
         (of.shape() == shape || path.refuse("the steps give another shape"));
}

void ViewShapeJson::write(const ArrayView &value, json::OStream &out) {
  JsonForm<Shape>::write(value.shape(), out);
}

/// `[[0, 16], [0, 64]]`
static bool readRanges(const json::Value &json, ViewStep &step, JsonPath path) {
  std::vector<std::vector<int64_t>> ranges;
  if (!JsonForm<std::vector<std::vector<int64_t>>>::read(json, ranges, path))
    return false;
  for (const std::vector<int64_t> &range : ranges) {
    if (range.size() != 2)
      return path.refuse("expected pairs");
    step.first.push_back(range[0]);
    step.second.push_back(range[1]);
  }
  return true;
}

static bool readStep(const json::Value &json, ViewStep &step, JsonPath path) {
  const json::Object *object = json.getAsObject();
  if (object && object->size() == 1)
    for (Kind kind : {Kind::Slice, Kind::Pad, Kind::Permute, Kind::Reshape}) {
      const json::Value *values = object->get(spelling(kind));
      if (!values)
        continue;
      step = {kind, {}, {}};
      JsonPath member = path.member(spelling(kind));
      if (kind == Kind::Slice || kind == Kind::Pad)
        return readRanges(*values, step, member);
      return JsonForm<Shape>::read(*values, step.first, member);
    }
  return path.refuse("expected one of slice, pad, permute, reshape");
}

static void writeStep(const ViewStep &step, json::OStream &out) {
  out.object([&] {
    out.attributeBegin(spelling(step.kind));
    if (step.second.empty())
      JsonForm<Shape>::write(step.first, out);
    else
      out.array([&] {
        for (auto [first, second] : llvm::zip_equal(step.first, step.second))
          JsonForm<Shape>::write({first, second}, out);
      });
    out.attributeEnd();
  });
}

bool ViewStepsJson::read(const json::Value &json, ArrayView &to,
                         JsonPath path) {
  const json::Array *steps = arrayOf(json, path);
  if (!steps)
    return false;
  if (steps->size() > maxViewSteps)
    return path.refuse("too many steps");
  for (size_t number = 0; number != steps->size(); ++number) {
    ViewStep step{Kind::Reshape, {}, {}};
    JsonPath here = path.element(number);
    if (!readStep((*steps)[number], step, here))
      return false;
    if (!step.misfit(to.shape()).empty())
      return here.refuse("the step does not fit");
    to = to.then(step);
  }
  return true;
}

void ViewStepsJson::write(const ArrayView &value, json::OStream &out) {
  out.array([&] {
    for (const ViewStep &step : value.steps())
      writeStep(step, out);
  });
}
