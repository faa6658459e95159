//===- ChatTemplate.cpp - conversations as text ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Text/ChatTemplate.h"
#include "Jinja/Syntax.h"
#include "anec/Support/MappedFile.h"
#include "lib/Support/Json.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <ctime>

using namespace anec;
using namespace llvm;

struct ChatTemplate::Program {
  std::vector<jinja::Statement> statements;
  /// For conversations with tools, if they have a program of their own.
  std::optional<std::vector<jinja::Statement>> withTools;
  /// The texts of markers, such as `bos_token`.
  std::vector<std::pair<std::string, jinja::Value>> markers;

  std::optional<std::string> run(ArrayRef<ChatMessage> messages,
                                 const ChatOptions &options,
                                 jinja::TemplateError &error) const;
};

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

namespace {
/// Where a program was found.
struct Source {
  std::string path, program;
  std::optional<std::string> withTools;
};
} // namespace

/// The text of a marker: a string, or an object with its `content`.
static std::optional<StringRef> markerIn(const json::Value &value) {
  if (const json::Object *object = value.getAsObject())
    return object->getString("content");
  return value.getAsString();
}

/// Takes `chat_template`, one program or a list of named ones, of which
/// `default` counts, and with tools `tool_use`. False if it is none.
static bool takePrograms(const json::Value &value, Source &source,
                         std::string &wrong) {
  if (std::optional<StringRef> program = value.getAsString()) {
    source.program = program->str();
    return true;
  }
  const json::Array *list = value.getAsArray();
  std::vector<std::string> names;
  bool found = false;
  for (size_t index = 0; list && index < list->size(); ++index) {
    const json::Object *one = (*list)[index].getAsObject();
    std::optional<StringRef> name, program;
    if (one) {
      name = one->getString("name");
      program = one->getString("template");
    }
    if (name && program && *name == "default") {
      source.program = program->str();
      found = true;
    } else if (name && program && *name == "tool_use") {
      source.withTools = program->str();
    }
    names.push_back(("`" + name.value_or("?") + "`").str());
  }
  wrong = list ? "none of its programs, " + join(names, ", ") +
                     ", is called `default`"
               : "it is neither a program nor a list of programs";
  return found;
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
    SmallString<128> other(beside(tokenizer, "additional_chat_templates"));
    sys::path::append(other, "tool_use.jinja");
    if (sys::fs::exists(other)) {
      MappedFile tools = mapFile(other, diags);
      if (!tools)
        return std::nullopt;
      source.withTools = tools->getBuffer().str();
    }
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
  if (!takePrograms(*value, source, wrong)) {
    diags.reportFile(source.path, diag::BadChatTemplate, wrong);
    return std::nullopt;
  }
  return source;
}

/// The markers that a program knows: all that `config` names, or those of the
/// tokenizer.
static std::vector<std::pair<std::string, jinja::Value>>
markersOf(const Tokenizer &tokenizer, const json::Object *config) {
  std::vector<std::pair<std::string, jinja::Value>> markers;
  auto take = [&](const json::Object &object) {
    for (const auto &[field, value] : object)
      if (StringRef key = field; key.ends_with("_token"))
        if (std::optional<StringRef> text = markerIn(value))
          markers.emplace_back(key.str(), jinja::Value::literal(text->str()));
  };
  if (config) {
    take(*config);
    for (StringRef extra :
         {"extra_special_tokens", "model_specific_special_tokens"})
      if (const json::Object *more = config->getObject(extra))
        take(*more);
    return markers;
  }
  for (auto [key, id] : {std::pair("bos_token", tokenizer.beginning()),
                         std::pair("eos_token", tokenizer.end())})
    if (id)
      markers.emplace_back(
          key, jinja::Value::literal(tokenizer.markerText(*id).value_or("")));
  return markers;
}

static std::string spell(const jinja::TemplateError &error) {
  return "chat_template:" + std::to_string(error.line) + ": " + error.text;
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
  StringRef withTools =
      source->withTools ? StringRef(*source->withTools) : StringRef();
  for (StringRef text : {StringRef(source->program), withTools}) {
    if (text.size() > largest)
      return refuse("it is longer than a megabyte");
    if (!json::isUTF8(text))
      return refuse("it is not UTF-8");
  }
  auto program = std::make_shared<ChatTemplate::Program>();
  program->markers = markersOf(tokenizer, config);
  jinja::TemplateError error;
  std::optional<std::vector<jinja::Statement>> statements =
      jinja::parse(source->program, error);
  if (statements && source->withTools)
    program->withTools = jinja::parse(*source->withTools, error);
  if (error)
    return refuse(spell(error));
  program->statements = std::move(*statements);
  ChatTemplate chat;
  chat.path = source->path;

  // What follows an answer begins with the marker that ends it.
  static constexpr StringLiteral answer = "anec-answer";
  jinja::TemplateError ignored;
  ChatOptions options;
  options.asksForAnswer = false;
  std::optional<std::string> text =
      program->run({{"user", "anec-question"}, {"assistant", answer.str()}},
                   options, ignored);
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

/// A message as transformers gives it to programs: without members that are
/// null, and with thoughts under each of their names.
static jinja::Value messageOf(const ChatMessage &message) {
  using jinja::Value;
  llvm::IntrusiveRefCntPtr<jinja::Dict> made(new jinja::Dict);
  auto set = [&](StringRef name, Value value) {
    made->set(Value::literal(name.str()), std::move(value));
  };
  if (message.json.empty()) {
    set("role", Value::literal(message.role));
    set("content", Value::literal(message.text));
    return Value(Value::Kind::Dict, std::move(made));
  }
  Value object = jinja::valueOfJson(message.json);
  const Value *thoughts = nullptr;
  for (StringRef name : {"reasoning_content", "thinking", "reasoning"})
    if (const Value *found = object.dict().find(name);
        found && !found->isNone() && !thoughts)
      thoughts = found;
  if (thoughts)
    set("thinking", *thoughts);
  for (const auto &[key, value] : object.dict().entries)
    if (!value.isNone())
      made->set(key, value);
  if (thoughts)
    set("reasoning_content", *thoughts);
  return Value(Value::Kind::Dict, std::move(made));
}

/// Seconds of the local time, counted as if it were universal.
static int64_t localTime() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return int64_t(timegm(&parts));
}

std::optional<std::string>
ChatTemplate::Program::run(ArrayRef<ChatMessage> messages,
                           const ChatOptions &options,
                           jinja::TemplateError &error) const {
  using jinja::Value;
  jinja::List list;
  unsigned depth = 0;
  for (const ChatMessage &message : messages) {
    list.push_back(messageOf(message));
    depth = std::max(depth, list.back().depth() + 1);
  }
  llvm::IntrusiveRefCntPtr<jinja::Object> conversation(
      new jinja::Sequence(jinja::Sequence::Kind::List, std::move(list)));
  conversation->depth = depth;
  jinja::Inputs inputs;
  inputs.variables = markers;
  auto set = [&](StringRef name, Value value) {
    for (auto &[each, old] : inputs.variables)
      if (each == name) {
        old = std::move(value);
        return;
      }
    inputs.variables.emplace_back(name.str(), std::move(value));
  };
  set("messages", Value(Value::Kind::Sequence, std::move(conversation)));
  set("add_generation_prompt", Value::of(options.asksForAnswer));
  set("tools", options.tools.empty() ? Value::none()
                                     : jinja::valueOfJson(options.tools));
  set("documents", Value::none());
  for (const auto &[name, text] : options.variables) {
    JsonError ignored;
    set(name, parseJson(text, ignored) ? jinja::valueOfJson(text)
                                       : Value::literal(text));
  }
  inputs.seconds = options.seconds ? *options.seconds : localTime();
  bool usesTools = withTools && !options.tools.empty();
  return jinja::run(usesTools ? *withTools : statements, inputs, error);
}

std::optional<std::string> ChatTemplate::render(ArrayRef<ChatMessage> messages,
                                                const ChatOptions &options,
                                                Diagnostics &diags) const {
  if (messages.empty()) {
    diags.reportFile(path, diag::BadConversation, "it has no messages");
    return std::nullopt;
  }
  jinja::TemplateError error;
  std::optional<std::string> text = program->run(messages, options, error);
  if (!text && error.isRaised)
    diags.reportFile(path, diag::BadConversation, error.text);
  else if (!text)
    diags.reportFile(path, diag::BadChatTemplate, spell(error));
  return text;
}
