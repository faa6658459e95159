//===- ChatExamples.cpp - conversations to learn from ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChatExamples.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Support/ReadFile.h"
#include "lib/Text/Diags.h"
#include "lib/Train/ConversationFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <tuple>

using namespace anec;
using llvm::StringLiteral;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {
struct Conversation {
  std::vector<ChatMessage> messages;
  std::string tools;
};
} // namespace

/// The message of ShareGPT's form; nothing if it is none.
static std::optional<ChatMessage> fromShareGpt(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  std::optional<StringRef> from, text;
  if (object) {
    from = object->getString("from");
    text = object->getString("value");
  }
  if (!from || !text)
    return std::nullopt;
  StringRef role = *from == "human"                       ? "user"
                   : *from == "gpt" || *from == "chatgpt" ? "assistant"
                                                          : *from;
  return ChatMessage{role.str(), text->str()};
}

/// Reads a line. Returns nothing, with `wrong` set, when it is not a
/// conversation.
static std::optional<Conversation> readLine(StringRef line,
                                            std::string &wrong) {
  JsonError error;
  JsonPlaces places;
  std::optional<json::Value> value = parseJson(line, error, {}, &places);
  if (!value) {
    wrong = error.message + " at byte " + std::to_string(error.offset);
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  const json::Array *messages = object ? object->getArray("messages") : nullptr;
  const json::Array *others =
      object ? object->getArray("conversations") : nullptr;
  if (!messages && !others) {
    wrong = "it is not an object with a list of `messages` or `conversations`";
    return std::nullopt;
  }
  Conversation result;
  for (auto [index, element] :
       llvm::enumerate(messages ? *messages : *others)) {
    std::optional<ChatMessage> message;
    if (messages)
      message = chatMessage(
          element, places.text(JsonPlaces::element("/messages", index)), wrong);
    else if (!(message = fromShareGpt(element)))
      wrong = "has no texts `from` and `value`";
    if (!message) {
      wrong = "message " + std::to_string(index) + " " + wrong;
      return std::nullopt;
    }
    result.messages.push_back(std::move(*message));
  }
  if (object->getArray("tools"))
    result.tools = places.text("/tools").str();
  return result;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

namespace {
/// Part of a text.
struct Span {
  size_t begin, end;
};

/// Writes conversations, and finds the answers in them.
class ChatWriter {
public:
  ChatWriter(const ChatTemplate &chat, const Conversation &conversation)
      : chat(chat), conversation(conversation) {}

  /// The whole text, with `spans` set; nothing, with the reason reported, when
  /// the template refuses it.
  std::optional<std::string> write(std::vector<Span> &spans,
                                   Diagnostics &diags) const;

private:
  std::optional<std::string> render(llvm::ArrayRef<ChatMessage> messages,
                                    bool asks, Diagnostics &diags) const;
  std::optional<Span> content(size_t index, StringRef whole) const;
  std::optional<Span> answer(size_t index, StringRef whole) const;

  const ChatTemplate &chat;
  const Conversation &conversation;
};
} // namespace

std::optional<std::string>
ChatWriter::render(llvm::ArrayRef<ChatMessage> messages, bool asks,
                   Diagnostics &diags) const {
  ChatOptions form;
  form.asksForAnswer = asks;
  form.tools = conversation.tools;
  // A run that is resumed on another day has the same data.
  form.seconds = 0;
  return chat.render(messages, form, diags);
}

static size_t commonPrefix(StringRef one, StringRef other) {
  return size_t(
      std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first -
      one.begin());
}

/// `message` with other content, in the form that it has; nothing when it has
/// none.
static std::optional<ChatMessage> withContent(const ChatMessage &message,
                                              const std::string &text) {
  ChatMessage other{message.role, text};
  if (message.json.empty())
    return other;
  JsonError ignored; // It was parsed before.
  std::optional<json::Value> value = parseJson(message.json, ignored);
  json::Object *object = value ? value->getAsObject() : nullptr;
  json::Value *content = object ? object->get("content") : nullptr;
  if (!content || content->kind() == json::Value::Null)
    return std::nullopt;
  if (content->getAsArray())
    *content = json::Array{json::Object{{"type", "text"}, {"text", text}}};
  else
    *content = text;
  llvm::raw_string_ostream(other.json) << *value;
  return other;
}

/// Where the content of message `index` is in `whole`, by what comes before and
/// after another content there; nothing when that is not the same.
std::optional<Span> ChatWriter::content(size_t index, StringRef whole) const {
  static constexpr StringLiteral mark = "XqZanswerZqX";
  std::vector<ChatMessage> messages = conversation.messages;
  std::optional<ChatMessage> marked = withContent(messages[index], mark.str());
  if (!marked)
    return std::nullopt;
  messages[index] = std::move(*marked);
  Diagnostics ignored;
  std::optional<std::string> text = render(messages, false, ignored);
  size_t at = text ? text->find(mark) : std::string::npos;
  if (at == std::string::npos)
    return std::nullopt;
  StringRef before = StringRef(*text).take_front(at),
            after = StringRef(*text).drop_front(at + mark.size());
  if (whole.size() < before.size() + after.size() ||
      !whole.starts_with(before) || !whole.ends_with(after))
    return std::nullopt;
  return Span{before.size(), whole.size() - after.size()};
}

/// Where the answer `index` is in `whole`: from the text that asks for it, or
/// its content, to the marker of its end. Nothing when `whole` has neither.
std::optional<Span> ChatWriter::answer(size_t index, StringRef whole) const {
  Diagnostics ignored; // A template can refuse what does not end as it should.
  llvm::ArrayRef<ChatMessage> messages = conversation.messages;
  std::optional<Span> span = content(index, whole);
  if (index > 0) {
    std::optional<std::string> asking =
        render(messages.take_front(index), true, ignored);
    bool asks = asking && whole.starts_with(*asking);
    if (asks && !span) {
      std::optional<std::string> after =
          render(messages.take_front(index + 1), false, ignored);
      if (after)
        span = Span{asking->size(), commonPrefix(*after, whole)};
    } else if (asks) {
      span->begin = std::min(span->begin, asking->size());
    }
  }
  if (!span || span->end <= span->begin)
    return std::nullopt;
  const std::string &marker = chat.turnEnd();
  if (marker.empty())
    return span;
  if (whole.drop_front(span->end).starts_with(marker))
    span->end += marker.size();
  else if (size_t end = whole.take_front(span->end).rfind(marker);
           end != StringRef::npos && end >= span->begin)
    span->end = end + marker.size();
  return span;
}

std::optional<std::string> ChatWriter::write(std::vector<Span> &spans,
                                             Diagnostics &diags) const {
  std::optional<std::string> whole =
      render(conversation.messages, false, diags);
  if (!whole)
    return std::nullopt;
  for (auto [index, message] : llvm::enumerate(conversation.messages))
    if (message.role == "assistant")
      if (std::optional<Span> span = answer(index, *whole))
        spans.push_back(*span);
  return whole;
}

/// How many of `ids` are those of the first bytes of `text`, up to `end`. A
/// token on both sides of the border counts as after it.
static std::optional<size_t> idsBefore(size_t end, StringRef text,
                                       llvm::ArrayRef<int32_t> ids,
                                       const Tokenizer &tokenizer,
                                       Diagnostics &diags) {
  if (end == text.size())
    return ids.size();
  std::optional<std::vector<int32_t>> part =
      tokenizer.encode(text.take_front(end), diags);
  if (!part)
    return std::nullopt;
  return size_t(
      std::mismatch(ids.begin(), ids.end(), part->begin(), part->end()).first -
      ids.begin());
}

static std::optional<ChatExample> encode(const Conversation &conversation,
                                         const ChatTemplate &chat,
                                         const Tokenizer &tokenizer,
                                         Diagnostics &diags) {
  std::vector<Span> spans;
  std::optional<std::string> text =
      ChatWriter(chat, conversation).write(spans, diags);
  std::optional<std::vector<int32_t>> ids;
  if (text)
    ids = tokenizer.encode(*text, diags);
  if (!ids)
    return std::nullopt;
  ChatExample example{std::move(*ids), {}};
  example.isAnswer.resize(example.ids.size());
  for (const Span &span : spans) {
    std::optional<size_t> begin =
        idsBefore(span.begin, *text, example.ids, tokenizer, diags);
    std::optional<size_t> end =
        idsBefore(span.end, *text, example.ids, tokenizer, diags);
    if (!begin || !end)
      return std::nullopt;
    for (size_t at = *begin; at < *end; ++at)
      example.isAnswer[at] = true;
  }
  return example;
}

/// Adds the conversations of a file to `examples`. Returns false, with the
/// reason reported, on failure.
static bool readFile(StringRef path, const Tokenizer &tokenizer,
                     const ChatTemplate &chat,
                     std::vector<ChatExample> &examples, Diagnostics &diags) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = readInput(path, error);
  if (!file) {
    diags.reportFile(path, diag::CannotOpen, error);
    return false;
  }
  StringRef rest = withoutByteOrderMark(file->getBuffer());
  for (int64_t number = 1; !rest.empty(); ++number) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (line.trim().empty())
      continue;
    std::string wrong;
    std::optional<Conversation> conversation = readLine(line.trim(), wrong);
    std::optional<ChatExample> example;
    if (conversation) {
      Diagnostics own;
      example = encode(*conversation, chat, tokenizer, own);
      if (!example)
        wrong = own.all().front().message;
    }
    if (!example) {
      diags.reportFile(path, diag::BadChatLine, number, wrong);
      return false;
    }
    examples.push_back(std::move(*example));
  }
  return true;
}

std::optional<std::vector<ChatExample>>
anec::readChatFiles(llvm::ArrayRef<std::string> paths,
                    const Tokenizer &tokenizer, Diagnostics &diags) {
  std::optional<ChatTemplate> chat = openChatTemplate(tokenizer, diags);
  std::vector<ChatExample> examples;
  if (!chat || !llvm::all_of(paths, [&](const std::string &path) {
        return readFile(path, tokenizer, *chat, examples, diags);
      }))
    return std::nullopt;
  return examples;
}
