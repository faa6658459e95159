//===- TemporaryName.cpp - names of what is not finished yet --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/TemporaryName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

using namespace anec;

static constexpr size_t digits = 8;

static std::string hexadecimal(uint32_t number) {
  std::string text = llvm::utohexstr(number, /*LowerCase=*/true);
  return std::string(digits - text.size(), '0') + text;
}

static std::string checksumOf(llvm::StringRef target, llvm::StringRef random) {
  std::string text = ("anec\n" + target + "\n" + random).str();
  return hexadecimal(llvm::crc32(llvm::arrayRefFromStringRef(text)));
}

std::string anec::temporaryName(llvm::StringRef target) {
  uint32_t number = 0;
  // A system without random numbers still has a clock; a name that is taken is
  // tried again.
  if (::getentropy(&number, sizeof number))
    number =
        uint32_t(std::chrono::steady_clock::now().time_since_epoch().count()) ^
        (uint32_t(::getpid()) << 16);
  std::string random = hexadecimal(number);
  return (target + "." + random + checksumOf(target, random) + ".tmp").str();
}

llvm::StringRef anec::temporaryTarget(llvm::StringRef name) {
  if (!name.consume_back(".tmp"))
    return "";
  auto [target, end] = name.rsplit('.');
  bool isOwn =
      end.size() == 2 * digits && !target.empty() &&
      checksumOf(target, end.take_front(digits)) == end.drop_front(digits);
  return isOwn ? target : "";
}

llvm::StringRef anec::withoutTemporaryEnd(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  llvm::StringRef target = temporaryTarget(name);
  return target.empty() ? path : path.drop_back(name.size() - target.size());
}
