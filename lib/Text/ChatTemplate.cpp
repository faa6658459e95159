//===- ChatTemplate.cpp - conversations as text ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Text/ChatTemplate.h"
#include "ChatFamilies.h"
#include "anec/Support/Json.h"
#include "anec/Text/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

StringRef ChatTemplate::family() const { return row->name; }

//===----------------------------------------------------------------------===//
// Recognizing
//===----------------------------------------------------------------------===//

static bool fits(const ChatFamily &family, StringRef program) {
  auto isMentioned = [&](StringRef text) { return program.contains(text); };
  return llvm::all_of(family.mentions, isMentioned) &&
         llvm::none_of(family.without, isMentioned);
}

/// The markers that `program` mentions: `<|im_start|>`, `[INST]`.
static std::string markersIn(StringRef program) {
  SmallVector<StringRef> found;
  for (size_t at = 0; at < program.size() && found.size() < 8; ++at) {
    StringRef rest = program.drop_front(at);
    if (!rest.starts_with("<") && !rest.starts_with("["))
      continue;
    size_t end = rest.find_first_of(rest.starts_with("<") ? ">" : "]");
    StringRef marker = rest.take_front(end == StringRef::npos ? 0 : end + 1);
    bool isMarker = marker.size() > 3 && marker.size() < 40 &&
                    marker.find_first_of(" '\"\n(){}=") == StringRef::npos &&
                    (marker.starts_with("<") || llvm::isUpper(marker[1]));
    if (isMarker && marker[1] != '/' && !llvm::is_contained(found, marker))
      found.push_back(marker);
  }
  return found.empty() ? "no markers" : "`" + llvm::join(found, "`, `") + "`";
}

/// The text that `program` gives the system in conversations without one: what
/// follows a turn's begin up to its end, all in one string.
static std::string systemTextIn(StringRef program) {
  constexpr StringLiteral begin = "<|im_start|>system", end = "<|im_end|>";
  for (size_t at = program.find(begin); at != StringRef::npos;
       at = program.find(begin, at + 1)) {
    StringRef rest = program.drop_front(at + begin.size());
    if (!rest.consume_front("\\n") && !rest.consume_front("\n"))
      continue;
    StringRef text = rest.take_front(rest.find(end));
    if (text.size() < rest.size() && !text.empty() &&
        text.find_first_of("'\"{}\\") == StringRef::npos)
      return text.str();
  }
  return "";
}

std::optional<ChatTemplate> anec::openChatTemplate(const Tokenizer &tokenizer,
                                                   Diagnostics &diags) {
  if (tokenizer.kind() != TokenizerKind::HuggingFace) {
    diags.reportFile(tokenizer.path(), diag::NoChatTemplate);
    return std::nullopt;
  }
  SmallString<128> path(sys::path::parent_path(tokenizer.path()));
  sys::path::append(path, "tokenizer_config.json");
  std::optional<json::Value> config = readJson(path, diag::BadTokenizer, diags);
  if (!config)
    return std::nullopt;
  const json::Object *object = config->getAsObject();
  std::optional<StringRef> program =
      object ? object->getString("chat_template") : std::nullopt;
  if (!program) {
    diags.reportFile(path, diag::NoChatTemplate);
    return std::nullopt;
  }
  ChatTemplate chat;
  for (const ChatFamily &family : chatFamilies())
    if (!chat.row && fits(family, *program))
      chat.row = &family;
  if (!chat.row) {
    diags.reportFile(path, diag::UnknownChatTemplate, markersIn(*program));
    return std::nullopt;
  }
  chat.path = std::string(path);
  if (std::optional<int32_t> id = tokenizer.beginning())
    chat.beginning = tokenizer.markerText(*id).value_or("");
  if (std::optional<int32_t> id = tokenizer.end())
    chat.end = tokenizer.markerText(*id).value_or("");
  if (chat.row->hasDefault)
    chat.systemText = systemTextIn(*program);
  return chat;
}

//===----------------------------------------------------------------------===//
// Rendering
//===----------------------------------------------------------------------===//

namespace {
enum class Role : uint8_t { System, User, Assistant };
} // namespace

static std::optional<Role> roleCalled(StringRef name) {
  static constexpr struct {
    StringLiteral name;
    Role role;
  } roles[] = {{"system", Role::System},
               {"user", Role::User},
               {"assistant", Role::Assistant}};
  for (const auto &row : roles)
    if (row.name == name)
      return row.role;
  return std::nullopt;
}

/// An answer as Qwen 3 is given it: thoughts are kept in the last message.
static std::string withThoughts(StringRef text, bool isLast) {
  StringRef thoughts, answer = text;
  if (size_t end = text.rfind("</think>"); end != StringRef::npos) {
    thoughts = text.take_front(text.find("</think>")).rtrim('\n');
    if (size_t begin = thoughts.rfind("<think>"); begin != StringRef::npos)
      thoughts = thoughts.drop_front(begin + 7);
    answer = text.drop_front(end + 8).ltrim('\n');
  }
  if (!isLast)
    return answer.str();
  return ("<think>\n" + thoughts.trim('\n') + "\n</think>\n\n" +
          answer.ltrim('\n'))
      .str();
}

/// The roles of `messages`; nothing, with the reason reported, when `family`
/// has no such conversations.
static std::optional<std::vector<Role>> rolesOf(ArrayRef<ChatMessage> messages,
                                                const ChatFamily &family,
                                                StringRef path,
                                                Diagnostics &diags) {
  std::vector<Role> roles;
  auto refuse = [&](size_t number, const Twine &why) {
    diags.reportFile(path, diag::BadConversation, number, why.str(),
                     StringRef(family.name));
    return std::nullopt;
  };
  for (auto [index, message] : llvm::enumerate(messages)) {
    std::optional<Role> role = roleCalled(message.role);
    if (!role)
      return refuse(index, "is of `" + message.role +
                               "`, not `system`, `user` or `assistant`");
    if (*role == Role::System &&
        (index > 0 || family.systemPlace == SystemPlace::Nowhere))
      return refuse(index, index > 0 ? "is of the system, and not the first"
                                     : "is of the system");
    bool isUsers =
        llvm::count(roles, Role::User) == llvm::count(roles, Role::Assistant);
    if (family.alternates && *role != Role::System &&
        (*role == Role::User) != isUsers)
      return refuse(index, "does not take turns with the one before it");
    roles.push_back(*role);
  }
  if (messages.empty())
    return refuse(0, "is missing");
  if (family.systemPlace == SystemPlace::InUser && messages.size() == 1 &&
      roles.front() == Role::System)
    return refuse(0, "is of the system, and none of the user follows");
  return roles;
}

std::string ChatTemplate::fill(StringRef form) const {
  std::string out;
  while (!form.empty()) {
    if (form.consume_front("<BOS>")) {
      out += beginning;
    } else if (form.consume_front("<EOS>")) {
      out += end;
    } else {
      out += form.front();
      form = form.drop_front();
    }
  }
  return out;
}

std::string ChatTemplate::turnEnd() const {
  return StringRef(fill(row->assistant.after)).trim().str();
}

std::optional<std::string> ChatTemplate::render(ArrayRef<ChatMessage> messages,
                                                const ChatOptions &options,
                                                Diagnostics &diags) const {
  std::optional<std::vector<Role>> roles = rolesOf(messages, *row, path, diags);
  if (!roles)
    return std::nullopt;
  std::string out;
  auto add = [&](StringRef form) { out += fill(form); };
  auto trimmed = [&](StringRef text, bool isAnswer = false) {
    return row->trims || (isAnswer && row->trimsAnswers) ? text.trim() : text;
  };
  add(row->begin);

  std::optional<std::string> system;
  if (roles->front() == Role::System)
    system = messages.front().text;
  else if (!systemText.empty())
    system = systemText;
  else if (row->systemPlace == SystemPlace::EveryTurn)
    system = "";
  if (system && row->systemPlace != SystemPlace::InUser) {
    add(row->system.before);
    out += trimmed(*system);
    add(row->system.after);
    system.reset();
  }
  for (size_t index = 0; index < messages.size(); ++index) {
    const ChatMessage &message = messages[index];
    Role role = (*roles)[index];
    if (role == Role::System)
      continue;
    const ChatTurn &turn = role == Role::User ? row->user : row->assistant;
    add(turn.before);
    if (system) {
      add(row->system.before);
      out += *system;
      add(row->system.after);
      system.reset();
    }
    bool isLast = index + 1 == messages.size();
    if (role == Role::Assistant && row->hasThoughts)
      out += withThoughts(message.text, isLast);
    else
      out += trimmed(message.text, role == Role::Assistant);
    add(turn.after);
  }
  add(options.asksForAnswer ? row->answer : row->finish);
  return out;
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
