//===- ProgramFlags.cpp - flags of commands that take a program -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramFlags.h"
#include "../InputShape.h"

using namespace anec;

std::string ProgramFlags::check() const {
  for (const std::string &shape : shapes)
    if (!parseInputShape(shape))
      return "--shape takes NAME=1x3x64, not `" + shape + "`";
  return "";
}

std::vector<InputShape> ProgramFlags::wantedShapes() const {
  std::vector<InputShape> wanted;
  for (const std::string &shape : shapes)
    wanted.push_back(*parseInputShape(shape));
  return wanted;
}

static std::string checkSources(llvm::StringRef flag,
                                llvm::ArrayRef<std::string> arguments) {
  for (const std::string &argument : arguments) {
    auto [name, source] = llvm::StringRef(argument).split('=');
    if (name.empty() || source.empty())
      return (flag + " takes NAME=SOURCE, not `" + argument + "`").str();
  }
  return "";
}

std::string InputFlags::check() const {
  std::string wrong = checkSources("--input", inputs);
  return wrong.empty() ? checkSources("--state", states) : wrong;
}

WeightOptions WeightFlags::options() const {
  WeightOptions options;
  options.source = weights;
  options.mapping = mapping;
  if (seed.getNumOccurrences())
    options.seed = seed;
  return options;
}
