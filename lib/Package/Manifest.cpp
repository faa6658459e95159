//===- Manifest.cpp - manifest.json ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Members are written in one order, so that the same package has the same
/// bytes. docs/formats/manifest.schema.json is its schema.
///
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelPackage.h"
#include "lib/Package/Diags.h"
#include "lib/Package/ViewJson.h"
#include "lib/Support/Json.h"
#include <cmath>

using namespace anec;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printType(const TensorType &type, json::OStream &out) {
  out.attribute("dtype", spelling(type.dtype));
  out.attributeArray("shape", [&] {
    for (int64_t extent : type.shape)
      out.value(extent);
  });
}

static void printTensors(llvm::StringRef key,
                         llvm::ArrayRef<PackagedTensor> tensors,
                         json::OStream &out) {
  out.attributeArray(key, [&] {
    for (const PackagedTensor &tensor : tensors)
      out.object([&] {
        out.attribute("name", tensor.name);
        printType(tensor.type, out);
        out.attribute("role", spelling(tensor.role));
        out.attribute("port", tensor.port);
        out.attribute("channel", tensor.region.channel);
        out.attribute("channels", tensor.region.channels);
        out.attribute("column", tensor.region.column);
        out.attribute("columns", tensor.region.columns);
        if (!tensor.views.empty())
          out.attributeArray("views", [&] {
            for (const WeightView &view : tensor.views)
              printView(view, out);
          });
      });
  });
}

static void printPorts(llvm::StringRef key, llvm::ArrayRef<TensorType> ports,
                       json::OStream &out) {
  out.attributeArray(key, [&] {
    for (const TensorType &type : ports)
      out.object([&] { printType(type, out); });
  });
}

static void printPart(const PackagedPart &part, json::OStream &out) {
  out.attributeObject("quantized", [&] {
    out.attribute("form", part.form.str());
    out.attribute("part", spelling(part.part, part.form));
    printType(part.type, out);
  });
}

static void printConstant(const PackagedConstant &constant,
                          json::OStream &out) {
  out.object([&] {
    out.attribute("offset", int64_t(constant.offset));
    out.attributeBegin("view");
    printView(constant.view, out);
    out.attributeEnd();
    if (constant.quantized)
      printPart(*constant.quantized, out);
  });
}

static void printHostPart(const PackagedHostPart &part, json::OStream &out) {
  out.object([&] {
    out.attribute("name", part.name);
    out.attributeBegin("view");
    printView(part.view, out);
    out.attributeEnd();
    printPart(part.quantized, out);
  });
}

static void printInstance(const PackagedInstance &instance,
                          json::OStream &out) {
  out.object([&] {
    if (instance.index)
      out.attribute("index", *instance.index);
    if (!instance.weights.empty())
      out.attribute("weights", instance.weights);
    out.attribute("digest", instance.digest);
  });
}

static void printKernel(const PackagedKernel &kernel, json::OStream &out) {
  out.object([&] {
    out.attribute("name", kernel.name);
    out.attribute("role", spelling(kernel.role));
    out.attribute("of", kernel.owner);
    out.attribute("mil", kernel.mil);
    printTensors("inputs", kernel.inputs, out);
    printTensors("outputs", kernel.outputs, out);
    printPorts("input_ports", kernel.inputPorts, out);
    printPorts("output_ports", kernel.outputPorts, out);
    out.attributeArray("constants", [&] {
      for (const PackagedConstant &constant : kernel.constants)
        printConstant(constant, out);
    });
    out.attributeArray("instances", [&] {
      for (const PackagedInstance &instance : kernel.instances)
        printInstance(instance, out);
    });
    out.attribute("ops", kernel.ops);
    out.attribute("operations", kernel.flops);
    out.attribute("input_bytes", int64_t(kernel.inputBytes));
    out.attribute("output_bytes", int64_t(kernel.outputBytes));
    out.attribute("weight_bytes", int64_t(kernel.weightBytes));
    out.attribute("working_set_bytes", int64_t(kernel.workingSet));
    // More digits than the prediction is accurate to.
    out.attribute("predicted_microseconds",
                  std::round(kernel.microseconds * 10) / 10);
  });
}

static void printValues(llvm::StringRef key,
                        llvm::ArrayRef<PackagedValue> values,
                        json::OStream &out) {
  out.attributeArray(key, [&] {
    for (const PackagedValue &value : values)
      out.object([&] {
        out.attribute("name", value.name);
        printType(value.type, out);
        out.attribute("role", spelling(value.role));
        if (value.mask) {
          out.attributeBegin("keep");
          out.rawValue(ModelFacts::spell(value.mask->keep));
          out.attributeEnd();
          out.attribute("scaled", value.mask->scaled);
        }
      });
  });
}

static void printEntry(const PackagedEntry &entry, json::OStream &out) {
  out.object([&] {
    out.attribute("name", entry.name);
    out.attribute("role", spelling(entry.role));
    out.attribute("of", entry.owner);
    printValues("inputs", entry.inputs, out);
    printValues("outputs", entry.outputs, out);
  });
}

static void printWeight(const PackagedWeight &weight, json::OStream &out) {
  out.object([&] {
    out.attribute("name", weight.name);
    printType(weight.type, out);
    out.attributeArray("instances", [&] {
      for (int64_t instance : weight.instances)
        out.value(instance);
    });
    out.attribute("initial", spelling(weight.initial));
    if (weight.frozen)
      out.attribute("frozen", true);
    if (weight.updated)
      out.attribute("updated", true);
  });
}

static void print(const ModelPackage &package, llvm::StringRef digest,
                  llvm::raw_ostream &text) {
  json::OStream out(text, 2);
  out.object([&] {
    out.attribute("format", packageFormat);
    out.attribute("sha256", digest);
    out.attribute("compiler", package.compiler);
    out.attribute("target", package.target);
    out.attribute("io", spelling(package.io));
    out.attribute("weight_mode", spelling(package.weightMode));
    out.attributeObject("config", [&] {
      for (const auto &[name, value] : package.config)
        out.attribute(name, value);
    });
    out.attributeObject("facts", [&] {
      for (const auto &[name, value] : package.facts.entries())
        out.attribute(name, value);
    });
    out.attribute("schedule", "schedule.ir");
    out.attributeArray("entries", [&] {
      for (const PackagedEntry &entry : package.entries)
        printEntry(entry, out);
    });
    out.attributeArray("kernels", [&] {
      for (const PackagedKernel &kernel : package.kernels)
        printKernel(kernel, out);
    });
    out.attributeArray("weights", [&] {
      for (const PackagedWeight &weight : package.weights)
        printWeight(weight, out);
    });
    if (!package.values.empty())
      out.attribute("values", package.values);
    if (!package.hostParts.empty())
      out.attributeArray("host_parts", [&] {
        for (const PackagedHostPart &part : package.hostParts)
          printHostPart(part, out);
      });
    out.attributeArray("files", [&] {
      for (const PackagedFile &file : package.files)
        out.object([&] {
          out.attribute("path", file.path);
          out.attribute("bytes", int64_t(file.bytes));
          out.attribute("blake3", file.digest);
        });
    });
  });
  text << '\n';
}

bool anec::printManifest(const ModelPackage &package, llvm::raw_ostream &out,
                         std::string &error) {
  std::string text, none(2 * 32, '0');
  llvm::raw_string_ostream stream(text);
  print(package, none, stream);
  JsonError reason;
  std::optional<json::Value> value = parseJson(text, reason);
  if (!value) {
    error = std::move(reason.message);
    return false;
  }
  // The digest is of the members as they are read, without itself.
  text.replace(text.find(none), none.size(), digestOf(*value->getAsObject()));
  out << text;
  return true;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

// In the namespace of the types they fill, where ObjectMapper finds them.
namespace anec {

static bool fromJSON(const json::Value &value, DType &dtype, json::Path path) {
  std::string word;
  if (!json::fromJSON(value, word, path))
    return false;
  std::optional<DType> parsed = parseDType(word);
  if (!parsed) {
    path.report("no element type");
    return false;
  }
  dtype = *parsed;
  return true;
}

static bool parseIntegers(const json::Value *value, Shape &integers,
                          json::Path path) {
  std::vector<int64_t> values;
  if (!value || !json::fromJSON(*value, values, path)) {
    if (!value)
      path.report("missing value");
    return false;
  }
  integers.assign(values.begin(), values.end());
  return true;
}

/// A shape with extents that a tensor can have.
static bool parseShape(const json::Value *value, Shape &shape,
                       json::Path path) {
  if (!parseIntegers(value, shape, path))
    return false;
  if (checkedNumElements(shape))
    return true;
  path.report("no shape");
  return false;
}

static bool fromJSON(const json::Value &value, TensorType &type,
                     json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  const json::Value *dtype = object->get("dtype"),
                    *shape = object->get("shape");
  if (!dtype || !shape) {
    path.report("missing dtype or shape");
    return false;
  }
  return fromJSON(*dtype, type.dtype, path.field("dtype")) &&
         parseShape(shape, type.shape, path.field("shape"));
}

static bool fromJSON(const json::Value &value, FunctionRole &role,
                     json::Path path) {
  std::string word;
  if (!json::fromJSON(value, word, path))
    return false;
  std::optional<FunctionRole> parsed = parseFunctionRole(word);
  if (!parsed) {
    path.report("no role of a function");
    return false;
  }
  role = *parsed;
  return true;
}

static bool fromJSON(const json::Value &value, ValueRole &role,
                     json::Path path) {
  std::string word;
  if (!json::fromJSON(value, word, path))
    return false;
  for (RolePlace place : {RolePlace::Parameter, RolePlace::Result})
    if (std::optional<ValueRole> parsed = parseValueRole(word, place)) {
      role = *parsed;
      return true;
    }
  path.report("no role of a value");
  return false;
}

static bool fromJSON(const json::Value &value, PackagedValue &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("name", result.name) || !map.map("role", result.role) ||
      !fromJSON(value, result.type, path))
    return false;
  if (result.role != ValueRole::RandomMask)
    return true;
  double keep = 0;
  RandomMask &mask = result.mask.emplace();
  if (!map.map("keep", keep) || !map.map("scaled", mask.scaled))
    return false;
  mask.keep = float(keep);
  if (!mask.isValid())
    path.field("keep").report("not a number above 0 and at most 1");
  return mask.isValid();
}

static bool fromJSON(const json::Value &value, PackagedEntry &entry,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", entry.name) && map.map("role", entry.role) &&
         map.map("of", entry.owner) && map.map("inputs", entry.inputs) &&
         map.map("outputs", entry.outputs);
}

static bool fromJSON(const json::Value &value, PackagedTensor &tensor,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t port = 0;
  bool ok = map && map.map("name", tensor.name) &&
            map.map("role", tensor.role) && map.map("port", port) &&
            map.map("channel", tensor.region.channel) &&
            map.map("channels", tensor.region.channels) &&
            map.map("column", tensor.region.column) &&
            map.map("columns", tensor.region.columns) &&
            map.mapOptional("views", tensor.views) &&
            fromJSON(value, tensor.type, path);
  if (!ok)
    return false;
  tensor.port = unsigned(port);
  const Region &region = tensor.region;
  if (port < 0 || region.channel < 0 || region.column < 0 ||
      region.channels < 1 || region.columns < 1 ||
      checkedNumElements({region.channels, region.columns}) !=
          tensor.type.numElements()) {
    path.report("the place does not fit the shape");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PackagedPart &part,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string form, word, why;
  if (!map || !map.map("form", form) || !map.map("part", word) ||
      !fromJSON(value, part.type, path))
    return false;
  std::optional<Quantization> parsed = Quantization::parse(form, why);
  if (!parsed) {
    path.field("form").report("it is not a form of weights");
    return false;
  }
  part.form = *parsed;
  part.part = word == "data"          ? WeightPart::Data
              : word == "input_scale" ? WeightPart::Input
                                      : WeightPart::Table;
  if (word == spelling(part.part, part.form))
    return true;
  path.field("part").report("it is not a part of a weight of this form");
  return false;
}

static bool fromJSON(const json::Value &value, PackagedConstant &constant,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("offset", constant.offset) &&
         map.map("view", constant.view) &&
         map.mapOptional("quantized", constant.quantized);
}

static bool fromJSON(const json::Value &value, PackagedHostPart &part,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", part.name) && map.map("view", part.view) &&
         map.map("quantized", part.quantized);
}

static bool fromJSON(const json::Value &value, PackagedInstance &instance,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.mapOptional("index", instance.index) &&
         map.mapOptional("weights", instance.weights) &&
         map.map("digest", instance.digest);
}

static bool fromJSON(const json::Value &value, PackagedKernel &kernel,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  uint64_t ops = 0;
  bool ok = map && map.map("name", kernel.name) &&
            map.map("role", kernel.role) && map.map("of", kernel.owner) &&
            map.map("mil", kernel.mil) && map.map("inputs", kernel.inputs) &&
            map.map("outputs", kernel.outputs) &&
            map.map("input_ports", kernel.inputPorts) &&
            map.map("output_ports", kernel.outputPorts) &&
            map.map("constants", kernel.constants) &&
            map.map("instances", kernel.instances) && map.map("ops", ops) &&
            map.map("operations", kernel.flops) &&
            map.map("input_bytes", kernel.inputBytes) &&
            map.map("output_bytes", kernel.outputBytes) &&
            map.map("weight_bytes", kernel.weightBytes) &&
            map.map("working_set_bytes", kernel.workingSet) &&
            map.map("predicted_microseconds", kernel.microseconds);
  if (!ok)
    return false;
  kernel.ops = unsigned(ops);
  llvm::stable_sort(kernel.instances, [](const auto &lhs, const auto &rhs) {
    return lhs.index < rhs.index;
  });
  if (kernel.instances.empty())
    path.field("instances").report("expected at least one");
  return !kernel.instances.empty();
}

static bool fromJSON(const json::Value &value, InitialValue &initial,
                     json::Path path) {
  std::string word;
  if (!json::fromJSON(value, word, path))
    return false;
  for (InitialValue known : {InitialValue::Normal, InitialValue::Table,
                             InitialValue::Ones, InitialValue::Zeros})
    if (word == spelling(known)) {
      initial = known;
      return true;
    }
  path.report("expected normal, ones or zeros");
  return false;
}

static bool fromJSON(const json::Value &value, PackagedWeight &weight,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  bool ok = map && map.map("name", weight.name) &&
            map.map("instances", weight.instances) &&
            map.map("initial", weight.initial) &&
            map.mapOptional("frozen", weight.frozen) &&
            map.mapOptional("updated", weight.updated) &&
            fromJSON(value, weight.type, path);
  llvm::sort(weight.instances);
  return ok;
}

static bool fromJSON(const json::Value &value, PackagedFile &file,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("path", file.path) && map.map("bytes", file.bytes) &&
         map.map("blake3", file.digest);
}

} // namespace anec

template <typename Mode>
static bool parseMode(const json::Object &object, llvm::StringRef key,
                      Mode other, Mode &mode, json::Path path) {
  std::optional<llvm::StringRef> word = object.getString(key);
  for (Mode known : {Mode::Packed, other})
    if (word && *word == spelling(known)) {
      mode = known;
      return true;
    }
  path.field(key).report("expected packed or the other mode");
  return false;
}

/// The members of `object` that are texts, sorted; none of null.
static std::vector<std::pair<std::string, std::string>>
texts(const json::Object *object) {
  std::vector<std::pair<std::string, std::string>> members;
  if (object)
    for (const auto &[key, value] : *object)
      if (std::optional<llvm::StringRef> text = value.getAsString())
        members.emplace_back(key.str(), text->str());
  llvm::sort(members);
  return members;
}

static bool parse(const json::Value &value, ModelPackage &package,
                  json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("compiler", package.compiler) ||
      !map.map("target", package.target) ||
      !map.map("entries", package.entries) ||
      !map.map("kernels", package.kernels) ||
      !map.map("weights", package.weights) ||
      !map.mapOptional("values", package.values) ||
      !map.mapOptional("host_parts", package.hostParts) ||
      !map.map("files", package.files))
    return false;
  const json::Object &object = *value.getAsObject();
  // A manifest that was edited on purpose has no digest.
  std::string digest;
  if (!map.mapOptional("sha256", digest))
    return false;
  package.isChanged = !digest.empty() && digest != digestOf(object);
  package.config = texts(object.getObject("config"));
  package.facts = ModelFacts::from(texts(object.getObject("facts")));
  return parseMode(object, "io", IOMode::Separate, package.io, path) &&
         parseMode(object, "weight_mode", WeightMode::Baked, package.weightMode,
                   path);
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
  json::Path::Root root("manifest");
  if (parse(*value, package, root))
    return true;
  diags.reportFile(file, diag::BadManifest, llvm::toString(root.getError()));
  return false;
}
