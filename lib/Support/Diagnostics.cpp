//===- Diagnostics.cpp - diagnostics with locations -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Diagnostics.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Listing.h"
#include "lib/Support/ReadFile.h"
#include "lib/Support/ShownText.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace anec;

static llvm::SourceMgr::DiagKind sourceMgrKind(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return llvm::SourceMgr::DK_Error;
  case Severity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case Severity::Remark:
    return llvm::SourceMgr::DK_Remark;
  case Severity::Note:
    return llvm::SourceMgr::DK_Note;
  }
  return llvm::SourceMgr::DK_Error;
}

/// The text with each placeholder replaced by the result of `write`.
template <typename Write>
static std::string replacePlaceholders(llvm::StringRef text, Write write) {
  std::string result;
  while (true) {
    auto [before, rest] = text.split('{');
    result += before;
    if (before.size() == text.size())
      return result;
    result += write(unsigned(rest[0] - '0'));
    text = rest.split('}').second;
  }
}

std::string diag::Definition::shownText() const {
  return replacePlaceholders(
      text, [](unsigned index) { return fmt::format("{{{}}}", index); });
}

std::string
diag::Definition::render(const std::vector<std::string> &args) const {
  return replacePlaceholders(text, [&](unsigned index) { return args[index]; });
}

std::string diag::Num::spell(double value) { return fmt::format("{}", value); }

Diagnostics::Diagnostics() = default;
Diagnostics::~Diagnostics() = default;

/// The limit for errors, and for all others together: more would not be read,
/// and printing takes time proportional to the length of their lines.
static constexpr size_t maxKept = 500;

Diagnostics::Report Diagnostics::append(SourceRange range, llvm::StringRef file,
                                        const diag::Message &message) {
  bool isError = message.kind->severity == Severity::Error;
  errors += isError;
  size_t &kept = isError ? keptErrors : keptOthers;
  if (kept == maxKept) {
    ++dropped;
    return Report(this, diagnostics.size());
  }
  ++kept;
  diagnostics.push_back(
      {message.kind, range, file.str(), message.render(), {}});
  return Report(this, diagnostics.size() - 1);
}

void Diagnostics::append(size_t parent, SourceRange range,
                         const diag::Message &message) {
  if (parent < diagnostics.size())
    diagnostics[parent].notes.push_back(
        {message.kind, range, {}, message.render(), {}});
}

/// Contexts nest, and readers need the innermost.
static constexpr size_t maxNotes = 16;

void Diagnostics::noteSince(size_t count, SourceRange range,
                            const diag::Message &message) {
  auto same = [](const Diagnostic &lhs, const Diagnostic &rhs) {
    return lhs.kind == rhs.kind && lhs.range.Start == rhs.range.Start &&
           lhs.message == rhs.message;
  };
  for (size_t index = count; index < diagnostics.size();) {
    Diagnostic &diag = diagnostics[index];
    bool repeats =
        std::any_of(diagnostics.begin(), diagnostics.begin() + count,
                    [&](const Diagnostic &other) { return same(other, diag); });
    if (repeats) {
      --(diag.severity() == Severity::Error ? keptErrors : keptOthers);
      diagnostics.erase(diagnostics.begin() + index);
      continue;
    }
    if (diag.notes.size() < maxNotes)
      append(index, range, message);
    ++index;
  }
}

/// States how many diagnostics were omitted.
static Diagnostic summary(size_t dropped) {
  return {diag::NotShown, {}, {}, diag::NotShown(dropped).render(), {}};
}

llvm::StringRef
Diagnostics::addBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  llvm::StringRef text = buffer->getBuffer();
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return text;
}

std::optional<llvm::StringRef> Diagnostics::addFile(llvm::StringRef path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readInput(path, error);
  if (!buffer) {
    reportFile(path, diag::CannotOpen, error);
    return std::nullopt;
  }
  return addBuffer(std::move(buffer));
}

//===----------------------------------------------------------------------===//
// Rendering
//===----------------------------------------------------------------------===//

/// Lines longer than this (one-line MIL) are not shown.
static constexpr size_t maxShownLine = 4096;

static void printOne(const llvm::SourceMgr &sources, const Diagnostic &diag,
                     llvm::raw_ostream &out, bool colors) {
  std::string message = showText(diag.message);
  if (diag.severity() != Severity::Note)
    message += " [" + diag.kind->id.str() + "]";
  unsigned buffer = diag.range.Start.isValid()
                        ? sources.FindBufferContainingLoc(diag.range.Start)
                        : 0;
  if (buffer == 0) {
    if (!diag.file.empty())
      out << showText(diag.file) << ": ";
    out << spelling(diag.severity()) << ": " << message << '\n';
    return;
  }
  llvm::StringRef path = sources.getMemoryBuffer(buffer)->getBufferIdentifier();
  if (takeListedPath(path)) {
    out << showText(path) << ": " << spelling(diag.severity()) << ": "
        << showText(listedWords(diag.range)) << ": " << message << '\n';
    return;
  }
  llvm::SMDiagnostic rendered = sources.GetMessage(
      diag.range.Start, sourceMgrKind(diag.severity()), message, diag.range);
  llvm::StringRef line = rendered.getLineContents();
  if (line.size() > maxShownLine || !isShownLine(line) || hasControl(path)) {
    out << showText(path) << ':' << rendered.getLineNo() << ':'
        << rendered.getColumnNo() + 1 << ": " << spelling(diag.severity())
        << ": " << message << '\n';
    return;
  }
  rendered.print(nullptr, out, colors);
}

void Diagnostics::print(llvm::raw_ostream &out, bool colors) const {
  for (const Diagnostic &diag : diagnostics) {
    printOne(sources, diag, out, colors);
    for (const Diagnostic &note : diag.notes)
      printOne(sources, note, out, colors);
  }
  if (dropped)
    printOne(sources, summary(dropped), out, colors);
}

static std::optional<SourcePlace> placeOf(const llvm::SourceMgr &sources,
                                          SourceRange range) {
  unsigned buffer =
      range.Start.isValid() ? sources.FindBufferContainingLoc(range.Start) : 0;
  if (buffer == 0)
    return std::nullopt;
  llvm::StringRef path = sources.getMemoryBuffer(buffer)->getBufferIdentifier();
  if (takeListedPath(path))
    return SourcePlace{path, 0, 0, 0, 0};
  auto [line, column] = sources.getLineAndColumn(range.Start, buffer);
  auto [endLine, endColumn] = sources.getLineAndColumn(range.End, buffer);
  return SourcePlace{path, line, column, endLine, endColumn};
}

std::optional<SourcePlace> Diagnostics::locate(SourceRange range) const {
  return placeOf(sources, range);
}

static void writeJson(const llvm::SourceMgr &sources, const Diagnostic &diag,
                      llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("severity", spelling(diag.severity()));
    json.attribute("id", diag.kind->id);
    if (std::optional<SourcePlace> place = placeOf(sources, diag.range)) {
      json.attribute("file", llvm::json::fixUTF8(place->file));
      if (place->line == 0) {
        json.attribute("place", llvm::json::fixUTF8(listedWords(diag.range)));
      } else {
        json.attribute("line", place->line);
        json.attribute("column", place->column);
        json.attribute("endLine", place->endLine);
        json.attribute("endColumn", place->endColumn);
      }
    } else if (!diag.file.empty()) {
      json.attribute("file", llvm::json::fixUTF8(diag.file));
    }
    // The message can quote bytes of invalid input.
    json.attribute("message", llvm::json::fixUTF8(diag.message));
    if (!diag.notes.empty())
      json.attributeArray("notes", [&] {
        for (const Diagnostic &note : diag.notes)
          writeJson(sources, note, json);
      });
  });
}

void Diagnostics::printJson(llvm::raw_ostream &out) const {
  llvm::json::OStream json(out, 2);
  json.array([&] {
    for (const Diagnostic &diag : diagnostics)
      writeJson(sources, diag, json);
    if (dropped)
      writeJson(sources, summary(dropped), json);
  });
  out << '\n';
}
