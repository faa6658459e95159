//===- CompletionRequest.cpp - what a client asks of a model --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Serve/CompletionRequest.h"
#include "lib/Support/Json.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace anec;
using llvm::StringLiteral;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

class Reader;
struct Field;
/// Reads the value of a field, which is not null. Returns what the field has to
/// be, `a number from 0 to 2`, when it is not; empty when all is well.
using Read = std::string (*)(Reader &, const Field &, const json::Value &);

struct Field {
  StringLiteral name;
  enum Where : uint8_t { Both, Chat, Text } where;
  Read read;
};

class Reader {
public:
  Reader(CompletionRequest &request, const JsonPlaces &places)
      : request(request), places(places) {}

  CompletionRequest &request;
  const JsonPlaces &places;
  /// If it is not empty, the message in place of that about a field's form.
  std::string message;

  /// The text of the field in the body: the order of its members counts.
  std::string textOf(const Field &field) const {
    return places.text(JsonPlaces::member("", field.name)).str();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Kinds of values
//===----------------------------------------------------------------------===//

static std::string readNumber(const json::Value &value, double least,
                              double most, bool canBeLeast, StringRef form,
                              double &number) {
  std::optional<double> said = value.getAsNumber();
  // These comparisons are false for NaN, which is refused.
  if (!said || !(canBeLeast ? *said >= least : *said > least) ||
      !(*said <= most))
    return form.str();
  number = *said;
  return "";
}

static std::string readCount(const json::Value &value, int64_t least,
                             unsigned &count) {
  std::optional<double> said = value.getAsNumber();
  if (!said || !(*said >= double(least)) || *said != std::floor(*said))
    return "a whole number of at least " + std::to_string(least);
  // Clients say "no limit" by numbers that no text reaches.
  count = unsigned(std::min(*said, double(INT32_MAX)));
  return "";
}

/// For a field that has no effect here.
static std::string ignore(Reader &, const Field &, const json::Value &) {
  return "";
}

static bool isEmpty(const json::Value &value) {
  if (const json::Object *object = value.getAsObject())
    return object->empty();
  if (const json::Array *array = value.getAsArray())
    return array->empty();
  return false;
}

/// A field of which this model does only what happens without it.
static std::string onlyZero(Reader &, const Field &, const json::Value &value) {
  return value.getAsNumber() == 0.0 ? "" : "0, or left out";
}
static std::string onlyOne(Reader &, const Field &, const json::Value &value) {
  return value.getAsInteger() == 1 ? "" : "1, or left out";
}
static std::string onlyFalse(Reader &, const Field &,
                             const json::Value &value) {
  return value.getAsBoolean() == false ? "" : "false, or left out";
}
static std::string onlyEmpty(Reader &, const Field &,
                             const json::Value &value) {
  return isEmpty(value) ? "" : "empty, or left out";
}
static std::string onlyNull(Reader &, const Field &, const json::Value &) {
  return "left out";
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static std::string readMessages(Reader &reader, const Field &field,
                                const json::Value &value) {
  const json::Array *array = value.getAsArray();
  if (!array || array->empty())
    return "a list of at least one message";
  for (auto [index, element] : llvm::enumerate(*array)) {
    std::string wrong;
    std::string place =
        JsonPlaces::element(JsonPlaces::member("", field.name), index);
    std::optional<ChatMessage> message =
        chatMessage(element, reader.places.text(place), wrong);
    if (!message) {
      reader.message = "message " + std::to_string(index) + " " + wrong;
      return "messages";
    }
    reader.request.messages.push_back(std::move(*message));
  }
  return "";
}

static std::string readPrompt(Reader &reader, const Field &,
                              const json::Value &value) {
  constexpr StringLiteral form =
      "a text, or a list of token ids; several prompts need several requests";
  const json::Array *array = value.getAsArray();
  // Clients put a single prompt into a list.
  bool isList = array && array->size() == 1 && !(*array)[0].getAsInteger();
  const json::Value &prompt = isList ? array->front() : value;
  if (std::optional<StringRef> text = prompt.getAsString()) {
    reader.request.prompt = text->str();
    return "";
  }
  const json::Array *ids = prompt.getAsArray();
  if (!ids || ids->empty())
    return form.str();
  for (const json::Value &element : *ids) {
    std::optional<int64_t> id = element.getAsInteger();
    if (!id || *id < 0 || *id > INT32_MAX)
      return form.str();
    reader.request.promptIds.push_back(int32_t(*id));
  }
  return "";
}

static std::string readTools(Reader &reader, const Field &field,
                             const json::Value &value) {
  const json::Array *tools = value.getAsArray();
  if (!tools || !llvm::all_of(*tools, [](const json::Value &tool) {
        return tool.getAsObject() != nullptr;
      }))
    return "a list of objects";
  if (!tools->empty())
    reader.request.form.tools = reader.textOf(field);
  return "";
}

static std::string readToolChoice(Reader &reader, const Field &,
                                  const json::Value &value) {
  if (value.getAsString() == "none")
    reader.request.form.tools.clear();
  else if (value.getAsString() != "auto")
    return "`auto` or `none`; what the model writes cannot be forced";
  return "";
}

static std::string readTemplateArguments(Reader &reader, const Field &field,
                                         const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return "an object of variables";
  std::string place = JsonPlaces::member("", field.name);
  for (StringRef own : {"messages", "tools", "add_generation_prompt"})
    if (object->get(own))
      return ("an object of variables other than `" + own + "`").str();
  for (const auto &[name, unused] : *object)
    reader.request.form.variables.emplace_back(
        name.str(),
        reader.places.text(JsonPlaces::member(place, name.str())).str());
  llvm::sort(reader.request.form.variables);
  return "";
}

static std::string readFormat(Reader &, const Field &,
                              const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (object && object->getString("type") == "text")
    return "";
  return "{\"type\": \"text\"}; what the model writes cannot be forced";
}

static std::string readTemperature(Reader &reader, const Field &,
                                   const json::Value &value) {
  return readNumber(value, 0, 100, true, "a number from 0 to 100",
                    reader.request.options.sampling.temperature);
}
static std::string readTopP(Reader &reader, const Field &,
                            const json::Value &value) {
  return readNumber(value, 0, 1, false, "a number above 0, at most 1",
                    reader.request.options.sampling.topP);
}
static std::string readMinP(Reader &reader, const Field &,
                            const json::Value &value) {
  return readNumber(value, 0, 1, true, "a number from 0 to 1",
                    reader.request.options.sampling.minP);
}
static std::string readRepeatPenalty(Reader &reader, const Field &,
                                     const json::Value &value) {
  return readNumber(value, 0, 100, false, "a number above 0, at most 100",
                    reader.request.options.sampling.repeatPenalty);
}
static std::string readTopK(Reader &reader, const Field &,
                            const json::Value &value) {
  return readCount(value, 0, reader.request.options.sampling.topK);
}
static std::string readTokens(Reader &reader, const Field &,
                              const json::Value &value) {
  return readCount(value, 1, reader.request.tokens.emplace());
}

static std::string readSeed(Reader &reader, const Field &,
                            const json::Value &value) {
  std::optional<int64_t> seed = value.getAsInteger();
  if (!seed)
    return "a whole number of 64 bits";
  reader.request.seed = uint64_t(*seed);
  return "";
}

static std::string readStop(Reader &reader, const Field &,
                            const json::Value &value) {
  constexpr StringLiteral form = "a text that is not empty, or a list of such";
  std::vector<std::string> &stops = reader.request.options.stopTexts;
  stops.clear();
  if (std::optional<StringRef> text = value.getAsString())
    stops.push_back(text->str());
  else if (const json::Array *array = value.getAsArray())
    for (const json::Value &element : *array)
      stops.push_back(element.getAsString().value_or("").str());
  else
    return form.str();
  return llvm::is_contained(stops, "") ? form.str() : "";
}

static std::string readStream(Reader &reader, const Field &,
                              const json::Value &value) {
  std::optional<bool> streams = value.getAsBoolean();
  reader.request.streams = streams.value_or(false);
  return streams ? "" : "true or false";
}

static std::string readStreamOptions(Reader &reader, const Field &,
                                     const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return "an object";
  for (const auto &[name, unused] : *object)
    if (StringRef(name) != "include_usage" ||
        !object->getBoolean("include_usage"))
      return "an object with `include_usage`, true or false";
  reader.request.countsUsage =
      object->getBoolean("include_usage").value_or(false);
  return "";
}

static std::string readEcho(Reader &reader, const Field &,
                            const json::Value &value) {
  std::optional<bool> echo = value.getAsBoolean();
  reader.request.options.echo = echo.value_or(false);
  return echo ? "" : "true or false";
}

static std::string readModel(Reader &, const Field &,
                             const json::Value &value) {
  return value.getAsString() ? "" : "a text";
}

/// `tool_choice` comes after `tools`, which it can take back.
static constexpr Field fields[] = {
    {"messages", Field::Chat, readMessages},
    {"tools", Field::Chat, readTools},
    {"tool_choice", Field::Chat, readToolChoice},
    {"chat_template_kwargs", Field::Chat, readTemplateArguments},
    {"response_format", Field::Chat, readFormat},
    {"max_completion_tokens", Field::Chat, readTokens},
    {"top_logprobs", Field::Chat, onlyZero},
    {"logprobs", Field::Chat, onlyFalse},
    {"parallel_tool_calls", Field::Chat, ignore},
    {"prompt", Field::Text, readPrompt},
    {"echo", Field::Text, readEcho},
    {"logprobs", Field::Text, onlyNull},
    {"best_of", Field::Text, onlyOne},
    {"suffix", Field::Text, onlyNull},
    {"model", Field::Both, readModel},
    {"max_tokens", Field::Both, readTokens},
    {"temperature", Field::Both, readTemperature},
    {"top_p", Field::Both, readTopP},
    {"top_k", Field::Both, readTopK},
    {"min_p", Field::Both, readMinP},
    {"repeat_penalty", Field::Both, readRepeatPenalty},
    {"repetition_penalty", Field::Both, readRepeatPenalty},
    {"seed", Field::Both, readSeed},
    {"stop", Field::Both, readStop},
    {"stream", Field::Both, readStream},
    {"stream_options", Field::Both, readStreamOptions},
    {"n", Field::Both, onlyOne},
    {"presence_penalty", Field::Both, onlyZero},
    {"frequency_penalty", Field::Both, onlyZero},
    {"logit_bias", Field::Both, onlyEmpty},
    {"user", Field::Both, ignore},
    {"metadata", Field::Both, ignore},
    {"store", Field::Both, ignore},
    {"service_tier", Field::Both, ignore},
    {"safety_identifier", Field::Both, ignore},
    {"prompt_cache_key", Field::Both, ignore},
};

/// The rows for requests of a kind.
static auto fieldsOf(CompletionKind kind) {
  auto other = kind == CompletionKind::Chat ? Field::Text : Field::Chat;
  return llvm::make_filter_range(
      fields, [other](const Field &field) { return field.where != other; });
}

/// Sets `error` if the body has a field that has no row.
static bool knowsAll(const json::Object &body, CompletionKind kind,
                     RequestError &error) {
  auto known = fieldsOf(kind);
  for (const auto &[key, unused] : body) {
    StringRef name = key;
    if (llvm::any_of(known,
                     [&](const Field &field) { return field.name == name; }))
      continue;
    Suggestion near(name);
    for (const Field &field : known)
      near.consider(field.name);
    error.field = name.str();
    error.message = "`" + error.field + "` is not a field of this request" +
                    didYouMean(near);
    return false;
  }
  return true;
}

/// A request has fewer tokens than a model has positions, and needs little of
/// what a file may have.
static constexpr JsonLimits limits = {
    .objects = 10'000, .values = 200'000, .bytes = 100'000'000};

std::optional<CompletionRequest>
anec::readCompletionRequest(StringRef body, CompletionKind kind,
                            const GenerateOptions &defaults,
                            RequestError &error) {
  JsonError wrong;
  JsonPlaces places;
  std::optional<json::Value> value = parseJson(body, wrong, limits, &places);
  if (!value) {
    error.message = "the body is not JSON: " + wrong.message + ", at byte " +
                    std::to_string(wrong.offset);
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  if (!object) {
    error.message = "the body is not a JSON object";
    return std::nullopt;
  }
  if (!knowsAll(*object, kind, error))
    return std::nullopt;

  CompletionRequest request;
  request.kind = kind;
  request.options = defaults;
  Reader reader(request, places);
  for (const Field &field : fieldsOf(kind)) {
    const json::Value *found = object->get(field.name);
    if (!found || found->kind() == json::Value::Null)
      continue;
    std::string form = field.read(reader, field, *found);
    if (form.empty())
      continue;
    error.field = field.name.str();
    error.message = !reader.message.empty()
                        ? reader.message
                        : "`" + error.field + "` has to be " + form;
    return std::nullopt;
  }
  StringRef needed = kind == CompletionKind::Chat ? "messages" : "prompt";
  const json::Value *given = object->get(needed);
  if (!given || given->kind() == json::Value::Null) {
    error.field = needed.str();
    error.message = "the body has no `" + error.field + "`";
    return std::nullopt;
  }
  return request;
}
