//===- Messages.cpp - reading of ONNX's messages --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "lib/Protobuf/Coding.h"

template bool anec::protobuf::parse(Bytes, onnx::proto::Model &);
