//===- AsanOptions.cpp - options of AddressSanitizer ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's allocators poison memory that they have not given out. Its functions
/// of the installed libraries are built without AddressSanitizer, and do not
/// remove the poison: `StringSaver::save` would be reported.
///
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
