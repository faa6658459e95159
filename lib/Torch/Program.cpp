//===- Program.cpp - exported programs ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::torch;

std::optional<Shape> torch::numbersOf(llvm::ArrayRef<Extent> extents) {
  Shape numbers;
  for (const Extent &extent : extents) {
    if (!extent.value)
      return std::nullopt;
    numbers.push_back(*extent.value);
  }
  return numbers;
}

std::string torch::spelling(ScalarType type) {
  switch (type) {
  case ScalarType::UInt8:
    return "uint8";
  case ScalarType::Int8:
    return "int8";
  case ScalarType::Int16:
    return "int16";
  case ScalarType::Int32:
    return "int32";
  case ScalarType::Int64:
    return "int64";
  case ScalarType::Float16:
    return "float16";
  case ScalarType::Float32:
    return "float32";
  case ScalarType::Float64:
    return "float64";
  case ScalarType::Complex32:
    return "complex32";
  case ScalarType::Complex64:
    return "complex64";
  case ScalarType::Complex128:
    return "complex128";
  case ScalarType::Bool:
    return "bool";
  case ScalarType::BFloat16:
    return "bfloat16";
  case ScalarType::UInt16:
    return "uint16";
  case ScalarType::Float8E4M3FN:
    return "float8_e4m3fn";
  case ScalarType::Float8E5M2:
    return "float8_e5m2";
  case ScalarType::UInt32:
    return "uint32";
  case ScalarType::UInt64:
    return "uint64";
  case ScalarType::None:
    break;
  }
  return "type " + std::to_string(int(type));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// `{"as_int": 3}`, or an expression with a hint.
static bool readExtent(const JsonValue &json, Extent &extent) {
  if (auto value = json["as_int"].integer()) {
    extent.value = value;
    return true;
  }
  const JsonValue &expression = json["as_expr"];
  extent.expression = expression["expr_str"].text();
  extent.hint = expression["hint"]["as_int"].integer();
  return !extent.expression.empty();
}

static bool readExtents(const JsonValue &json, std::vector<Extent> &extents) {
  for (const JsonValue &element : json.elements())
    if (!readExtent(element, extents.emplace_back()))
      return false;
  return json.kind == JsonValue::Kind::Array;
}

bool torch::readTensorMeta(const JsonValue &json, TensorMeta &meta) {
  std::optional<int64_t> type = json["dtype"].integer();
  constexpr int64_t strided = 7;
  if (!type || *type < 0 || *type > UINT8_MAX)
    return false;
  meta.type = ScalarType(*type);
  meta.isStrided = json["layout"].integer() == strided;
  meta.requiresGrad = json["requires_grad"].boolean().value_or(true);
  return readExtents(json["sizes"], meta.sizes) &&
         readExtents(json["strides"], meta.strides) &&
         readExtent(json["storage_offset"], meta.offset);
}

static bool readGraph(const JsonValue &json, Graph &graph);

template <typename Read>
static bool readList(const JsonValue &json, Argument &argument, Read read) {
  argument.kind = Argument::Kind::List;
  for (const JsonValue &element : json.elements())
    if (!read(element, argument.list.emplace_back()))
      return false;
  return json.kind == JsonValue::Kind::Array;
}

static bool readName(const JsonValue &json, Argument &argument) {
  argument = Argument::value(json["name"].text());
  return !argument.text.empty();
}

static bool readInt(const JsonValue &json, Argument &argument) {
  std::optional<int64_t> value = json.integer();
  if (value)
    argument = Argument::ofInt(*value);
  return value.has_value();
}

static bool readFloat(const JsonValue &json, Argument &argument) {
  std::optional<double> value = json.number();
  argument.kind = Argument::Kind::Float;
  argument.number = value.value_or(0);
  return value.has_value();
}

static bool readBool(const JsonValue &json, Argument &argument) {
  std::optional<bool> value = json.boolean();
  argument.kind = Argument::Kind::Bool;
  argument.integer = value.value_or(false);
  return value.has_value();
}

static bool readString(const JsonValue &json, Argument &argument) {
  argument.kind = Argument::Kind::String;
  argument.text = json.text();
  return json.isString();
}

static bool readType(const JsonValue &json, Argument &argument) {
  std::optional<int64_t> value = json.integer();
  argument.kind = Argument::Kind::Type;
  argument.integer = value.value_or(0);
  return value && *value >= 0 && *value <= UINT8_MAX;
}

static bool readPlacement(const JsonValue &, Argument &argument) {
  argument.kind = Argument::Kind::Placement;
  return true;
}

static bool readNone(const JsonValue &, Argument &argument) {
  argument.kind = Argument::Kind::None;
  return true;
}

static bool readBody(const JsonValue &json, Argument &argument) {
  argument.kind = Argument::Kind::Graph;
  argument.graph = std::make_shared<Graph>();
  return readGraph(json["graph"], *argument.graph);
}

static bool readArgument(const JsonValue &json, Argument &argument);

/// A number of the graph, by name, or one that is known.
static bool readSymbolic(const JsonValue &json, Argument &argument) {
  if (json["as_name"].isString()) {
    argument = Argument::value(json["as_name"].text());
    return !argument.text.empty();
  }
  return readArgument(json, argument);
}

static bool readTensors(const JsonValue &json, Argument &argument) {
  return readList(json, argument, readName);
}

template <bool (*Read)(const JsonValue &, Argument &)>
static bool readListOf(const JsonValue &json, Argument &argument) {
  return readList(json, argument, Read);
}

namespace {
struct ArgumentRow {
  llvm::StringLiteral key;
  bool (*read)(const JsonValue &json, Argument &argument);
};
} // namespace

static constexpr ArgumentRow argumentRows[] = {
    {"as_bool", readBool},
    {"as_bools", readListOf<readBool>},
    {"as_device", readPlacement},
    {"as_float", readFloat},
    {"as_floats", readListOf<readFloat>},
    {"as_graph", readBody},
    {"as_int", readInt},
    {"as_ints", readListOf<readInt>},
    {"as_layout", readPlacement},
    {"as_memory_format", readPlacement},
    {"as_none", readNone},
    {"as_optional_tensor", readArgument},
    {"as_optional_tensors", readListOf<readArgument>},
    {"as_scalar_type", readType},
    {"as_string", readString},
    {"as_strings", readListOf<readString>},
    {"as_sym_bool", readSymbolic},
    {"as_sym_bools", readListOf<readSymbolic>},
    {"as_sym_float", readSymbolic},
    {"as_sym_floats", readListOf<readSymbolic>},
    {"as_sym_int", readSymbolic},
    {"as_sym_ints", readListOf<readSymbolic>},
    {"as_tensor", readName},
    {"as_tensors", readTensors},
};

static bool readArgument(const JsonValue &json, Argument &argument) {
  if (json.members().size() != 1)
    return false;
  const JsonMember &member = json.members().front();
  for (const ArgumentRow &row : argumentRows)
    if (row.key == member.key)
      return row.read(member.value, argument);
  argument.kind = Argument::Kind::Other;
  argument.text = member.key;
  return true;
}

static bool readArguments(const JsonValue &json, std::vector<Argument> &all) {
  for (const JsonValue &element : json.elements())
    if (!readArgument(element, all.emplace_back()))
      return false;
  return json.kind == JsonValue::Kind::Array;
}

static bool readNode(const JsonValue &json, GraphNode &node) {
  node.target = json["target"].text();
  for (const JsonValue &input : json["inputs"].elements()) {
    NamedArgument &named = node.inputs.emplace_back();
    named.name = input["name"].text();
    if (!readArgument(input["arg"], named.argument))
      return false;
  }
  node.stackTrace = json["metadata"]["stack_trace"].text();
  node.moduleStack = json["metadata"]["nn_module_stack"].text();
  return !node.target.empty() && readArguments(json["outputs"], node.outputs);
}

static bool readGraph(const JsonValue &json, Graph &graph) {
  for (const JsonMember &member : json["tensor_values"].members())
    if (!readTensorMeta(member.value, graph.tensors[member.key]))
      return false;
  for (const JsonValue &node : json["nodes"].elements())
    if (!readNode(node, graph.nodes.emplace_back()))
      return false;
  return readArguments(json["inputs"], graph.inputs) &&
         readArguments(json["outputs"], graph.outputs);
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

static StringRef nameOf(const JsonValue &json) {
  Argument argument;
  return readArgument(json, argument) ? argument.text : StringRef();
}

static bool readInput(const JsonValue &json, InputSpec &spec) {
  if (json.members().size() != 1)
    return false;
  auto [key, value] = json.members().front();
  if (key == "user_input") {
    spec.kind = InputSpec::Kind::User;
    spec.name = nameOf(value["arg"]);
    return true;
  }
  spec.name = value["arg"]["name"].text();
  if (key == "parameter") {
    spec.kind = InputSpec::Kind::Parameter;
    spec.target = value["parameter_name"].text();
  } else if (key == "buffer") {
    spec.kind = InputSpec::Kind::Buffer;
    spec.target = value["buffer_name"].text();
    spec.isPersistent = value["persistent"].boolean().value_or(true);
  } else if (key == "tensor_constant") {
    spec.kind = InputSpec::Kind::Tensor;
    spec.target = value["tensor_constant_name"].text();
  } else if (key == "constant_input") {
    spec.kind = InputSpec::Kind::Constant;
    spec.name = value["name"].text();
  } else if (key == "token") {
    spec.kind = InputSpec::Kind::Token;
  } else {
    spec.target = key;
  }
  return true;
}

static bool readOutput(const JsonValue &json, OutputSpec &spec) {
  if (json.members().size() != 1)
    return false;
  auto [key, value] = json.members().front();
  const JsonValue &argument = value["arg"];
  if (key == "user_output") {
    spec.kind = OutputSpec::Kind::User;
    return readArgument(argument, spec.argument);
  }
  if (key == "loss_output") {
    spec.kind = OutputSpec::Kind::Loss;
  } else if (key == "buffer_mutation") {
    spec.kind = OutputSpec::Kind::BufferChange;
    spec.target = value["buffer_name"].text();
  } else if (key == "user_input_mutation") {
    spec.kind = OutputSpec::Kind::InputChange;
    spec.target = value["user_input_name"].text();
  } else if (key == "gradient_to_parameter") {
    spec.kind = OutputSpec::Kind::Gradient;
    spec.target = value["parameter_name"].text();
  } else if (key == "gradient_to_user_input") {
    spec.kind = OutputSpec::Kind::InputGradient;
    spec.target = value["user_input_name"].text();
  } else if (key == "token") {
    spec.kind = OutputSpec::Kind::Token;
    return true;
  } else {
    spec.target = key;
    return true;
  }
  return readName(argument, spec.argument);
}

bool Program::read(StringRef text, std::string &error) {
  if (!json.parse(text, error))
    return false;
  auto fail = [&](const llvm::Twine &why) {
    error = why.str();
    return false;
  };
  constexpr int64_t known = 8;
  const JsonValue &root = json.root();
  std::optional<int64_t> major = root["schema_version"]["major"].integer();
  if (!major)
    return fail("it has no `schema_version`");
  if (*major != known)
    return fail("version " + llvm::Twine(*major) +
                " of PyTorch's schema is not supported, and version " +
                llvm::Twine(known) +
                " is: export the model with PyTorch 2.6 or newer, or use a "
                "newer anec");
  torchVersion = root["torch_version"].text();
  const JsonValue &module = root["graph_module"];
  if (!readGraph(module["graph"], graph))
    return fail("its graph is malformed");
  for (const JsonValue &spec : module["signature"]["input_specs"].elements())
    if (!readInput(spec, inputs.emplace_back()))
      return fail("its signature is malformed");
  for (const JsonValue &spec : module["signature"]["output_specs"].elements())
    if (!readOutput(spec, outputs.emplace_back()))
      return fail("its signature is malformed");
  for (const JsonMember &member : root["range_constraints"].members()) {
    Range &range = ranges[member.key];
    range.least = member.value["min_val"].integer().value_or(INT64_MIN);
    range.most = member.value["max_val"].integer();
  }
  llvm::ArrayRef<JsonValue> calls = module["module_call_graph"].elements();
  if (!calls.empty())
    outSpec = calls.front()["signature"]["out_spec"].text();
  if (inputs.size() != graph.inputs.size())
    return fail("its signature and its graph have different inputs");
  return true;
}
