//===- ShownText.h - text of files in messages ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Names and texts that come from files can have control characters, which a
/// terminal obeys and which begin new lines of a log. Whatever prints them for
/// people prints showText of them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_SHOWNTEXT_H
#define ANEC_LIB_SUPPORT_SHOWNTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec {

/// Whether a control character is in `text`: 0 to 31, 127, or U+0080 to U+009F
/// in UTF-8.
bool hasControl(llvm::StringRef text);

/// `text` with each byte of its control characters as `\0A`, on one line.
std::string showText(llvm::StringRef text);

/// Whether a line of a file can be printed as it is: it has no control
/// characters but tabs, and does not begin as a command of a CI service does,
/// with two colons or two number signs.
bool isShownLine(llvm::StringRef line);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_SHOWNTEXT_H
