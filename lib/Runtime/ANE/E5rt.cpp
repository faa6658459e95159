//===- E5rt.cpp - functions of Espresso's E5 runtime ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "E5rt.h"
#include <dlfcn.h>

using namespace anec::ane;

E5rt E5rt::find(void *library) {
  E5rt functions;
  if (!library)
    return functions;
#define E5RT(NAME, PARAMETERS)                                                 \
  functions.NAME =                                                             \
      reinterpret_cast<decltype(functions.NAME)>(dlsym(library, #NAME));
#include "E5rt.def"
  functions.e5rt_get_last_error_message =
      reinterpret_cast<decltype(functions.e5rt_get_last_error_message)>(
          dlsym(library, "e5rt_get_last_error_message"));
  return functions;
}
