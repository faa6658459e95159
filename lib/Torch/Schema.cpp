//===- Schema.cpp - the parameters of ATen's operators --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Schema.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

namespace {
struct SchemaRow {
  llvm::StringLiteral op, parameters;
};
} // namespace

static constexpr SchemaRow schemaTable[] = {
#define SCHEMA(OP, PARAMETERS) {OP, PARAMETERS},
#include "Schemas.def"
};

/// A default as Python writes it: `1`, `1e-05`, `True`, `'mean'`, `[1, 1]`.
static Argument defaultOf(StringRef text) {
  Argument value;
  if (text == "None")
    return value;
  if (text == "True" || text == "False") {
    value.kind = Argument::Kind::Bool;
    value.integer = text == "True";
  } else if (text.consume_front("'")) {
    value.kind = Argument::Kind::String;
    value.text = text.drop_back();
  } else if (text.consume_front("[")) {
    value.kind = Argument::Kind::List;
    text = text.drop_back();
    while (!text.empty()) {
      auto [element, rest] = text.split(", ");
      value.list.push_back(defaultOf(element));
      text = rest;
    }
  } else if (!text.getAsInteger(10, value.integer)) {
    value.kind = Argument::Kind::Int;
  } else {
    value.kind = Argument::Kind::Float;
    if (text.getAsDouble(value.number))
      value.number = text == "inf" ? INFINITY : NAN;
  }
  return value;
}

/// `self, other, alpha=1`.
static std::vector<Parameter> parse(StringRef text) {
  std::vector<Parameter> parameters;
  while (!text.empty()) {
    size_t end = text.find_first_of("=,");
    Parameter &parameter = parameters.emplace_back();
    parameter.name = text.take_front(end);
    text = text.drop_front(parameter.name.size());
    if (text.consume_front("=")) {
      parameter.hasDefault = true;
      size_t close = text.starts_with("[") ? text.find(']') : 0;
      size_t comma = text.find(", ", close);
      parameter.byDefault = defaultOf(text.take_front(comma));
      text = comma == StringRef::npos ? "" : text.drop_front(comma);
    }
    text.consume_front(", ");
  }
  return parameters;
}

static llvm::StringMap<std::vector<Parameter>> parseAll() {
  llvm::StringMap<std::vector<Parameter>> all;
  for (const SchemaRow &row : schemaTable)
    all[row.op] = parse(row.parameters);
  return all;
}

const std::vector<Parameter> *torch::parametersOf(StringRef op) {
  static const llvm::StringMap<std::vector<Parameter>> all = parseAll();
  auto found = all.find(op);
  return found == all.end() ? nullptr : &found->second;
}
