//===- ChatMessages.cpp - conversations in files --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Conversations and tools as programs that call models send them. Members that
/// are not known here are for the template of the model.
///
//===----------------------------------------------------------------------===//

#include "anec/Text/ChatTemplate.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Support/ReadFile.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace llvm;

/// The texts of the elements of an array, which is known to be valid.
static std::vector<StringRef> elementTexts(StringRef array) {
  std::vector<StringRef> texts;
  unsigned depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < array.size(); ++at) {
    char c = array[at];
    if (c == '"') {
      for (++at; at < array.size() && array[at] != '"'; ++at)
        at += array[at] == '\\';
      continue;
    }
    bool opens = c == '[' || c == '{', closes = c == ']' || c == '}';
    if (opens && ++depth == 1)
      begin = at + 1;
    if ((c == ',' && depth == 1) || (closes && depth == 1)) {
      texts.push_back(array.slice(begin, at).trim());
      begin = at + 1;
    }
    depth -= closes;
  }
  return texts;
}

/// The text at `path`, and its value; null after an error.
static std::optional<json::Value> readArray(StringRef path,
                                            diag::Kind<diag::Text> kind,
                                            StringRef &text,
                                            Diagnostics &diags) {
  std::string error;
  std::unique_ptr<MemoryBuffer> buffer = readInput(path, error);
  if (!buffer) {
    diags.reportFile(path, diag::CannotOpen, error);
    return std::nullopt;
  }
  text = diags.addBuffer(std::move(buffer));
  std::optional<json::Value> value = parseJson(text, kind, diags);
  if (value && !value->getAsArray()) {
    diags.reportFile(path, kind, "it is not an array");
    return std::nullopt;
  }
  return value;
}

std::optional<ChatMessage> anec::chatMessage(const json::Value &value,
                                             StringRef text,
                                             std::string &wrong) {
  const json::Object *object = value.getAsObject();
  if (!object || !object->getString("role")) {
    wrong = "is not an object with a text `role`";
    return std::nullopt;
  }
  const json::Value *content = object->get("content");
  if (content && content->kind() != json::Value::Null &&
      !content->getAsString() && !content->getAsArray()) {
    wrong = "has a `content` that is neither a text, nor null, nor a list of "
            "parts";
    return std::nullopt;
  }
  ChatMessage message{object->getString("role")->str(),
                      object->getString("content").value_or("").str()};
  message.json = text.str();
  return message;
}

std::optional<std::vector<ChatMessage>> anec::readChat(StringRef path,
                                                       Diagnostics &diags) {
  StringRef text;
  std::optional<json::Value> value =
      readArray(path, diag::BadConversationFile, text, diags);
  if (!value)
    return std::nullopt;
  std::vector<StringRef> texts = elementTexts(text);
  std::vector<ChatMessage> messages;
  for (const json::Value &element : *value->getAsArray()) {
    size_t index = messages.size();
    std::string wrong;
    std::optional<ChatMessage> message =
        chatMessage(element, texts[index], wrong);
    if (!message) {
      diags.reportFile(path, diag::BadConversationFile,
                       "message " + std::to_string(index) + " " + wrong);
      return std::nullopt;
    }
    messages.push_back(std::move(*message));
  }
  return messages;
}

std::optional<std::string> anec::readTools(StringRef path, Diagnostics &diags) {
  StringRef text;
  std::optional<json::Value> value =
      readArray(path, diag::BadToolsFile, text, diags);
  if (!value)
    return std::nullopt;
  for (const json::Value &tool : *value->getAsArray())
    if (!tool.getAsObject()) {
      diags.reportFile(path, diag::BadToolsFile,
                       "it has an element that is not an object");
      return std::nullopt;
    }
  return text.str();
}

std::optional<int64_t> anec::chatTime(StringRef text) {
  // Digits stand where these do.
  static constexpr StringLiteral form = "0000-00-00T00:00:00";
  if (text.size() != 10 && text.size() != 16 && text.size() != form.size())
    return std::nullopt;
  int64_t fields[6] = {0, 0, 0, 0, 0, 0};
  size_t field = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (form[at] != '0') {
      if (text[at] != form[at] && !(form[at] == 'T' && text[at] == ' '))
        return std::nullopt;
      ++field;
    } else if (isDigit(text[at])) {
      fields[field] = fields[field] * 10 + (text[at] - '0');
    } else {
      return std::nullopt;
    }
  }
  auto [year, month, day, hour, minute, second] = fields;
  bool isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  int64_t days[12] = {31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
                      31};
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days[month - 1] ||
      hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  int64_t count = day - 1;
  for (int64_t each = 0; each + 1 < month; ++each)
    count += days[each];
  int64_t before = year - 1; // whole years since the year 1
  count += before * 365 + before / 4 - before / 100 + before / 400;
  static constexpr int64_t until1970 = 719162;
  return ((count - until1970) * 24 + hour) * 3600 + minute * 60 + second;
}
