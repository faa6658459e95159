//===- ChatTemplate.cpp - conversations as text ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Text/ChatTemplate.h"
#include "Jinja/Syntax.h"
#include "anec/Support/Json.h"
#include "anec/Support/MappedFile.h"
#include "anec/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

struct ChatTemplate::Program {
  std::string text;
  std::vector<jinja::Statement> statements;
  /// The texts of markers, such as `bos_token`.
  jinja::Members markers;

  std::optional<std::string> run(ArrayRef<ChatMessage> messages,
                                 bool asksForAnswer,
                                 jinja::TemplateError &error) const;
};

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

namespace {
/// Where a program was found.
struct Source {
  std::string path, program;
};
} // namespace

/// The text of a marker: a string, or an object with its `content`.
static std::optional<StringRef> markerIn(const json::Value &value) {
  if (const json::Object *object = value.getAsObject())
    return object->getString("content");
  return value.getAsString();
}

/// `chat_template` as one program, or a list of named ones, of which `default`
/// counts.
static std::optional<std::string> programIn(const json::Value &value,
                                            std::string &wrong) {
  if (std::optional<StringRef> program = value.getAsString())
    return program->str();
  const json::Array *list = value.getAsArray();
  std::vector<std::string> names;
  for (size_t index = 0; list && index < list->size(); ++index) {
    const json::Object *one = (*list)[index].getAsObject();
    std::optional<StringRef> name, program;
    if (one) {
      name = one->getString("name");
      program = one->getString("template");
    }
    if (name && program && *name == "default")
      return program->str();
    names.push_back(("`" + name.value_or("?") + "`").str());
  }
  wrong = list ? "none of its programs, " + join(names, ", ") +
                     ", is called `default`"
               : "it is neither a program nor a list of programs";
  return std::nullopt;
}

static std::string beside(const Tokenizer &tokenizer, StringRef name) {
  SmallString<128> path(sys::path::parent_path(tokenizer.path()));
  sys::path::append(path, name);
  return path.str().str();
}

/// The program in chat_template.jinja, in `config`, the tokenizer_config.json,
/// or in chat_template.json, as folders of models with images have it.
static std::optional<Source> findProgram(const Tokenizer &tokenizer,
                                         const json::Object *config,
                                         Diagnostics &diags) {
  Source source;
  source.path = beside(tokenizer, "chat_template.jinja");
  if (sys::fs::exists(source.path)) {
    MappedFile file = mapFile(source.path, diags);
    if (!file)
      return std::nullopt;
    source.program = file->getBuffer().str();
    return source;
  }
  source.path = beside(tokenizer, "tokenizer_config.json");
  std::optional<json::Value> other;
  const json::Value *value = config ? config->get("chat_template") : nullptr;
  if (std::string path = beside(tokenizer, "chat_template.json");
      !value && sys::fs::exists(path)) {
    source.path = path;
    other = readJson(path, diag::BadTokenizer, diags);
    if (!other)
      return std::nullopt;
    if (const json::Object *object = other->getAsObject())
      value = object->get("chat_template");
  }
  if (!value || value->kind() == json::Value::Null) {
    diags.reportFile(source.path, diag::NoChatTemplate);
    return std::nullopt;
  }
  std::string wrong;
  std::optional<std::string> program = programIn(*value, wrong);
  if (!program) {
    diags.reportFile(source.path, diag::BadChatTemplate, wrong);
    return std::nullopt;
  }
  source.program = std::move(*program);
  return source;
}

/// The markers that a program knows: all that `config` names, or those of the
/// tokenizer.
static jinja::Members markersOf(const Tokenizer &tokenizer,
                                const json::Object *config) {
  jinja::Members markers;
  if (config) {
    for (StringRef key : {"bos_token", "eos_token", "unk_token", "pad_token",
                          "sep_token", "cls_token", "mask_token"})
      if (const json::Value *value = config->get(key))
        if (std::optional<StringRef> text = markerIn(*value))
          markers.emplace_back(key.str(), jinja::Value::of(text->str()));
    return markers;
  }
  for (auto [key, id] : {std::pair("bos_token", tokenizer.beginning()),
                         std::pair("eos_token", tokenizer.end())})
    if (id)
      markers.emplace_back(
          key, jinja::Value::of(tokenizer.markerText(*id).value_or("")));
  return markers;
}

static std::string spell(const jinja::TemplateError &error, StringRef program) {
  size_t line = program.take_front(error.offset).count('\n') + 1;
  return "line " + std::to_string(line) + ": " + error.text;
}

std::optional<ChatTemplate> anec::openChatTemplate(const Tokenizer &tokenizer,
                                                   Diagnostics &diags) {
  static constexpr size_t largest = 1'000'000;
  if (tokenizer.kind() != TokenizerKind::HuggingFace) {
    diags.reportFile(tokenizer.path(), diag::NoChatTemplate);
    return std::nullopt;
  }
  std::optional<json::Value> value;
  if (std::string path = beside(tokenizer, "tokenizer_config.json");
      sys::fs::exists(path)) {
    value = readJson(path, diag::BadTokenizer, diags);
    if (!value)
      return std::nullopt;
  }
  const json::Object *config = value ? value->getAsObject() : nullptr;
  std::optional<Source> source = findProgram(tokenizer, config, diags);
  if (!source)
    return std::nullopt;
  auto refuse = [&](const std::string &why) {
    diags.reportFile(source->path, diag::BadChatTemplate, why);
    return std::nullopt;
  };
  if (source->program.size() > largest)
    return refuse("it is longer than a megabyte");
  if (!json::isUTF8(source->program))
    return refuse("it is not UTF-8");
  auto program = std::make_shared<ChatTemplate::Program>();
  program->text = std::move(source->program);
  program->markers = markersOf(tokenizer, config);
  jinja::TemplateError error;
  std::optional<std::vector<jinja::Statement>> statements =
      jinja::parse(program->text, error);
  if (!statements)
    return refuse(spell(error, program->text));
  program->statements = std::move(*statements);
  ChatTemplate chat;
  chat.path = source->path;

  // What follows an answer begins with the marker that ends it.
  static constexpr StringLiteral answer = "anec-answer";
  jinja::TemplateError ignored;
  std::optional<std::string> text = program->run(
      {{"user", "anec-question"}, {"assistant", answer.str()}}, false, ignored);
  if (size_t at = text ? text->rfind(answer) : std::string::npos;
      at != std::string::npos) {
    StringRef rest = StringRef(*text).drop_front(at + answer.size()).trim();
    Diagnostics unheard;
    std::optional<std::vector<int32_t>> ids = tokenizer.encode(rest, unheard);
    std::optional<std::string> first;
    if (ids && !ids->empty())
      first = tokenizer.markerText(ids->front());
    chat.marker = first && rest.starts_with(*first)
                      ? *first
                      : rest.take_until([](char c) { return c == '\n'; }).str();
  }
  chat.program = std::move(program);
  return chat;
}

//===----------------------------------------------------------------------===//
// Rendering
//===----------------------------------------------------------------------===//

std::optional<std::string>
ChatTemplate::Program::run(ArrayRef<ChatMessage> messages, bool asksForAnswer,
                           jinja::TemplateError &error) const {
  using jinja::Value;
  jinja::List list;
  for (const ChatMessage &message : messages)
    list.push_back(
        Value::of(jinja::Members{{"role", Value::of(message.role)},
                                 {"content", Value::of(message.text)}}));
  jinja::Members variables = markers;
  variables.emplace_back("messages", Value::of(std::move(list)));
  variables.emplace_back("add_generation_prompt", Value::of(asksForAnswer));
  variables.emplace_back("tools", Value::none());
  variables.emplace_back("documents", Value::none());
  return jinja::run(statements, std::move(variables), error);
}

std::optional<std::string> ChatTemplate::render(ArrayRef<ChatMessage> messages,
                                                const ChatOptions &options,
                                                Diagnostics &diags) const {
  if (messages.empty()) {
    diags.reportFile(path, diag::BadConversation, "it has no messages");
    return std::nullopt;
  }
  jinja::TemplateError error;
  std::optional<std::string> text =
      program->run(messages, options.asksForAnswer, error);
  if (!text && error.isRaised)
    diags.reportFile(path, diag::BadConversation, error.text);
  else if (!text)
    diags.reportFile(path, diag::BadChatTemplate, spell(error, program->text));
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::optional<std::vector<ChatMessage>> anec::readChat(StringRef path,
                                                       Diagnostics &diags) {
  std::optional<json::Value> value =
      readJson(path, diag::BadConversationFile, diags);
  if (!value)
    return std::nullopt;
  std::vector<ChatMessage> messages;
  const json::Array *array = value->getAsArray();
  if (!array) {
    diags.reportFile(path, diag::BadConversationFile, "it is not an array");
    return std::nullopt;
  }
  for (const json::Value &element : *array) {
    const json::Object *object = element.getAsObject();
    std::optional<StringRef> role, text;
    if (object) {
      role = object->getString("role");
      text = object->getString("content");
    }
    if (!role || !text || object->size() != 2) {
      diags.reportFile(path, diag::BadConversationFile,
                       "message " + std::to_string(messages.size()) +
                           " is not an object of the texts `role` and "
                           "`content`");
      return std::nullopt;
    }
    messages.push_back({role->str(), text->str()});
  }
  return messages;
}
