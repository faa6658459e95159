//===- Terminal.cpp - the terminal of standard output ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Terminal.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

bool anec::hasColors(llvm::raw_ostream &out) {
  const char *no = std::getenv("NO_COLOR");
  return out.has_colors() && !(no && *no);
}

unsigned anec::terminalColumns() {
  unsigned columns = 0;
  if (const char *text = std::getenv("COLUMNS");
      text && !llvm::StringRef(text).getAsInteger(10, columns) && columns)
    return columns;
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
