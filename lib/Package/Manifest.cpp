//===- Manifest.cpp - manifest.json ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Members are written in the order of their lists, so that the same package
/// has the same bytes.
///
//===----------------------------------------------------------------------===//

#include "lib/Package/Diags.h"
#include "lib/Package/ManifestFields.h"
#include "lib/Support/Json.h"
#include <cmath>

using namespace anec;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<ValueRole> anec::parseAnyRole(llvm::StringRef text) {
  std::optional<ValueRole> role = parseValueRole(text, RolePlace::Parameter);
  return role ? role : parseValueRole(text, RolePlace::Result);
}

bool JsonForm<Quantization>::read(const json::Value &json, Quantization &to,
                                  JsonPath path) {
  std::string why;
  std::optional<Quantization> parsed =
      Quantization::parse(json.getAsString().value_or(llvm::StringRef()), why);
  if (!parsed)
    return path.refuse("it is not a form of weights");
  to = *parsed;
  return true;
}
void JsonForm<Quantization>::write(const Quantization &value,
                                   json::OStream &out) {
  out.value(value.str());
}

bool WeightPartJson::read(const json::Value &json, WeightPart &to,
                          JsonPath path) const {
  for (WeightPart part :
       {WeightPart::Data, WeightPart::Table, WeightPart::Input})
    if (json.getAsString() == spelling(part, of)) {
      to = part;
      return true;
    }
  return path.refuse("it is not a part of a weight of this form");
}
void WeightPartJson::write(WeightPart value, json::OStream &out) const {
  out.value(spelling(value, of));
}

bool JsonForm<ModelFacts>::read(const json::Value &json, ModelFacts &to,
                                JsonPath path) {
  ModelFacts::Entries entries;
  if (!JsonForm<ModelFacts::Entries>::read(json, entries, path))
    return false;
  to = ModelFacts::from(entries);
  return true;
}
void JsonForm<ModelFacts>::write(const ModelFacts &value, json::OStream &out) {
  JsonForm<ModelFacts::Entries>::write(value.entries(), out);
}

bool TensorShapeJson::read(const json::Value &json, Shape &to, JsonPath path) {
  return JsonForm<Shape>::read(json, to, path) &&
         (checkedNumElements(to) || path.refuse("no shape"));
}
void TensorShapeJson::write(const Shape &value, json::OStream &out) {
  JsonForm<Shape>::write(value, out);
}

bool ShortNumberJson::read(const json::Value &json, float &to, JsonPath path) {
  double number = 0;
  if (!JsonForm<double>::read(json, number, path))
    return false;
  to = float(number);
  return true;
}
void ShortNumberJson::write(float value, json::OStream &out) {
  out.rawValue(ModelFacts::spell(value));
}

void TenthsJson::write(double value, json::OStream &out) {
  out.value(std::round(value * 10) / 10);
}

//===----------------------------------------------------------------------===//
// What objects must be
//===----------------------------------------------------------------------===//

bool JsonFields<PackagedValue>::check(const PackagedValue &value,
                                      JsonPath path) {
  return !value.mask || value.mask->isValid() ||
         path.member("keep").refuse("not a number above 0 and at most 1");
}

bool JsonFields<PackagedTensor>::check(const PackagedTensor &tensor,
                                       JsonPath path) {
  const Region &region = tensor.region;
  bool fits = region.channel >= 0 && region.column >= 0 &&
              region.channels >= 1 && region.columns >= 1 &&
              checkedNumElements({region.channels, region.columns}) ==
                  tensor.type.numElements();
  return fits || path.refuse("the place does not fit the shape");
}

bool JsonFields<PackagedKernel>::check(PackagedKernel &kernel, JsonPath path) {
  llvm::stable_sort(kernel.instances, [](const auto &lhs, const auto &rhs) {
    return lhs.index < rhs.index;
  });
  return !kernel.instances.empty() ||
         path.member("instances").refuse("expected at least one");
}

bool JsonFields<PackagedWeight>::check(PackagedWeight &weight, JsonPath) {
  llvm::sort(weight.instances);
  return true;
}

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

bool anec::printManifest(const ModelPackage &package, llvm::raw_ostream &out,
                         std::string &error) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream members(stream, 2);
  Manifest<const ModelPackage> manifest{package};
  manifest.digest.assign(2 * 32, '0');
  writeFields(manifest, members);
  stream << '\n';
  JsonError reason;
  std::optional<json::Value> value = parseJson(text, reason);
  if (!value) {
    error = std::move(reason.message);
    return false;
  }
  // The digest is of the members as they are read, without itself.
  text.replace(text.find(manifest.digest), manifest.digest.size(),
               digestOf(*value->getAsObject()));
  out << text;
  return true;
}

bool anec::parseManifest(llvm::StringRef text, llvm::StringRef file,
                         ModelPackage &package, Diagnostics &diags) {
  std::optional<json::Value> value = parseJson(text, diag::BadManifest, diags);
  if (!value)
    return false;
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> format =
      object ? object->getInteger("format") : std::nullopt;
  if (!format) {
    diags.reportFile(file, diag::BadManifest, "it has no `format`");
    return false;
  }
  if (*format != packageFormat) {
    bool isOlder = *format < packageFormat;
    diags.reportFile(file, diag::PackageFormat, *format,
                     isOlder ? "an older" : "a newer", packageFormat);
    return false;
  }
  JsonMisfit misfit;
  Manifest<ModelPackage> manifest{package};
  if (!readFields(*value, manifest, JsonPath(misfit))) {
    diags.reportFile(file, diag::BadManifest, misfit.str("manifest"));
    return false;
  }
  package.isChanged =
      !manifest.digest.empty() && manifest.digest != digestOf(*object);
  return true;
}
