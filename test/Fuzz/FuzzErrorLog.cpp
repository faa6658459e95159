//===- FuzzErrorLog.cpp - any bytes as a log ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, and whatever blocks they come in, the same is found,
/// at lines that there are, and what is shown is printable. The first byte is
/// the size of blocks.
///
//===----------------------------------------------------------------------===//

#include "lib/Report/ErrorReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;

/// The report as text, which no terminal takes for more.
static std::string shown(ErrorLog log) {
  ExplainedLog explained;
  explained.path = "log";
  explained.log = std::move(log);
  std::string text;
  llvm::raw_string_ostream out(text);
  Diagnostics diags;
  printErrors(explained, diags, out);
  for (char c : text)
    if (((unsigned char)(c) < ' ' && c != '\n') || c == 0x7f)
      std::abort();
  printErrorsJson(explained, diags, out);
  return text;
}

static void expectInside(const LoggedLines &lines, uint64_t most) {
  if (lines.first < 1 || lines.first > lines.last || lines.last > most ||
      lines.count < 1 || lines.count > lines.last - lines.first + 1)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  llvm::StringRef text =
      llvm::toStringRef(llvm::ArrayRef<uint8_t>(data + 1, size - 1));
  ErrorLog whole = findErrors(text);
  if (whole.lines != text.count('\n') + (!text.empty() && text.back() != '\n'))
    std::abort();
  for (const LoggedError &logged : whole.errors)
    expectInside(logged, whole.lines);
  for (const LoggedLines &unknown : whole.unknown)
    expectInside(unknown, whole.lines);
  ErrorLogReader reader;
  for (size_t at = 0; at < text.size(); at += data[0] + 1)
    reader.read(text.substr(at, data[0] + 1));
  if (shown(std::move(whole)) != shown(reader.finish()))
    std::abort();
  return 0;
}
