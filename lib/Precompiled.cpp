//===- Precompiled.cpp - the precompiled headers' own source --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Precompiled.h"
