//===- Messages.cpp - reading and writing of Core ML's messages -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "lib/Protobuf/Coding.h"

namespace proto = anec::coreml::proto;

namespace anec::protobuf {

template bool parse(Bytes, proto::ModelDescription &);
template bool parse(Bytes, proto::NamedValueType &);
template bool parse(Bytes, proto::NonMaximumSuppression &);
template bool parse(Bytes, proto::Operation &);
template bool parse(Bytes, proto::Value &);

template std::string serialize(const proto::ModelDescription &);
template std::string serialize(const proto::NamedValueType &);
template std::string serialize(const proto::Operation &);
template std::string serialize(const proto::Value &);
template std::string serialize(const proto::ValueType &);

} // namespace anec::protobuf
