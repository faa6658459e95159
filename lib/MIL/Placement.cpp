//===- Placement.cpp - recorded placements of ops -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Placement.h"
#include "Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// The name of the engine in dumps.
static constexpr StringLiteral engine = "ane";

/// The strings and numbers of a value, in order; the value of a dictionary
/// follows its key.
static std::vector<std::string> leaves(StringRef value) {
  std::vector<std::string> result;
  Diagnostics ignored; // The reader reports invalid tokens.
  Lexer lexer(value, ignored);
  // Words before the first parenthesis are the type.
  while (lexer.peek().kind != Token::End && !lexer.peek().is('('))
    lexer.take();
  while (lexer.peek().kind != Token::End) {
    Token token = lexer.take();
    if (token.kind == Token::String)
      result.push_back(unescape(token.text));
    else if (token.kind == Token::Number)
      result.push_back(token.text.str());
  }
  return result;
}

static std::optional<RecordedPlacement>
readPlacement(const OutlineStatement &statement) {
  RecordedPlacement placement{statement.op, statement.range, false, "", "", {}};
  bool isRecorded = false;
  for (const OutlineArgument &attribute : statement.attributes) {
    StringRef name = attribute.name.text;
    std::vector<std::string> values = leaves(attribute.value.text);
    if (name == "BackendSupport") {
      placement.onEngine = is_contained(values, engine);
      isRecorded = true;
    } else if (name == "SelectedBackend" && !values.empty()) {
      placement.selected = values.front();
    } else if (name == "ValidationMessage") {
      for (size_t i = 0; i + 1 < values.size(); i += 2)
        if (values[i] == engine)
          placement.refusal = values[i + 1];
    } else if (name == "EstimatedRuntime") {
      for (size_t i = 0; i + 1 < values.size(); i += 2)
        if (double time; to_float(values[i + 1], time))
          placement.times[values[i]] = time;
    }
  }
  return isRecorded ? std::optional(placement) : std::nullopt;
}

std::vector<RecordedPlacement> anec::readPlacements(const MILOutline &text) {
  std::vector<RecordedPlacement> placements;
  for (const OutlineFunction &function : text.functions)
    for (const OutlineStatement &statement : function.statements)
      if (std::optional<RecordedPlacement> found = readPlacement(statement))
        placements.push_back(std::move(*found));
  return placements;
}

const RecordedPlacement *
anec::findPlacement(ArrayRef<RecordedPlacement> placements, SourceRange range) {
  const char *at = range.Start.getPointer();
  // The last that does not begin after the place.
  auto next = partition_point(placements, [&](const RecordedPlacement &each) {
    return each.range.Start.getPointer() <= at;
  });
  if (!at || next == placements.begin())
    return nullptr;
  const RecordedPlacement &found = *std::prev(next);
  return at <= found.range.End.getPointer() ? &found : nullptr;
}

std::string RecordedPlacement::describe() const {
  std::string text = onEngine ? "supported by the engine"
                     : refusal.empty()
                         ? "not supported by the engine"
                         : "not supported by the engine (" + refusal + ")";
  return selected.empty() ? text : text + ", placed on " + selected;
}
