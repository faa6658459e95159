//===- Model.mm - the model of each path ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::ane;

bool ane::moveToOwnFolder(const Engine &engine, StagedProgram &staged,
                          Diagnostics &diags) {
  llvm::SmallString<128> folder(engine.temporaryFolder);
  llvm::sys::path::append(folder, staged.name());
  return staged.moveTo(folder, diags);
}

std::unique_ptr<Model> ane::makeModel(const Engine &engine,
                                      StagedProgram &staged,
                                      const ProgramPorts &ports,
                                      Diagnostics &diags) {
  switch (engine.options.path) {
  case AnePath::InMemory:
    return makeInMemoryModel(engine, staged, diags);
  case AnePath::Client:
  case AnePath::Direct:
  case AnePath::RealTime:
    return makeClientModel(engine, staged, diags);
  case AnePath::ProcessRequest:
    return makeProcessRequestModel(engine, staged, diags);
  case AnePath::E5:
    return makeE5Model(engine, staged, ports, diags);
  case AnePath::E5rt:
    return makeE5rtModel(engine, staged, ports, diags);
  }
  llvm_unreachable("no such path");
}
