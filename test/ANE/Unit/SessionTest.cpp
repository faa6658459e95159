//===- SessionTest.cpp - training steps across many updates ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A package given as ANE_PACKAGE, whose weights are constants of programs, is
/// run and changed several times on both backends.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Session.h"
#include "Programs.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <cstdlib>

using namespace anec;

static std::unique_ptr<Session> open(Backend &backend, Diagnostics &diags) {
  const char *path = std::getenv("ANE_PACKAGE");
  std::optional<ModelPackage> package =
      readPackage(path ? path : "ANE_PACKAGE is not set", diags);
  if (!package)
    return nullptr;
  SessionOptions options;
  options.weights.seed = 1;
  options.bindMemory = false;
  return Session::open(std::move(*package), backend, options, diags);
}

/// The results and gradients of a run.
static std::vector<float> runStep(Session &session, Diagnostics &diags) {
  std::string entry =
      session.package().findEntries(FunctionRole::Train).front()->name;
  EXPECT_TRUE(session.prepare(entry, diags)) << textOf(diags);
  std::vector<std::vector<uint8_t>> bytes;
  for (const Port &port : session.inputs(entry)) {
    bytes.emplace_back(port.type.numBytes());
    // Ids 0, 1, ..., and no scaling of the loss.
    for (size_t i = 0; i < bytes.back().size(); i += 4)
      if (port.type.dtype == DType::Int32)
        bytes.back()[i] = uint8_t(i / 4);
    if (port.type.dtype == DType::FP32)
      bytes.back()[2] = 0x80, bytes.back()[3] = 0x3f;
  }
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in(bytes.begin(), bytes.end());
  float loss = 0;
  llvm::MutableArrayRef<uint8_t> out(reinterpret_cast<uint8_t *>(&loss), 4);
  EXPECT_TRUE(session.run(entry, in, {out}, diags)) << textOf(diags);
  std::vector<float> outcome{loss};
  for (const NamedFloats &gradient : session.gradients())
    outcome.insert(outcome.end(), gradient.elements.begin(),
                   gradient.elements.end());
  return outcome;
}

static bool descend(Session &session, Diagnostics &diags) {
  for (const NamedFloats &gradient : session.gradients())
    for (const NamedFloats &weight : session.weights())
      if (weight.name == gradient.name)
        for (size_t i = 0; i < weight.elements.size(); ++i)
          weight.elements[i] -= 0.05f * gradient.elements[i];
  return session.weightsChanged(diags);
}

TEST(AneSession, UpdatesAsOnTheCpu) {
  unsigned folders = stagedFolders();
  {
    Diagnostics diags;
    std::unique_ptr<Backend> cpu = createCpuBackend(), ane = openDouble();
    std::unique_ptr<Session> here = open(*ane, diags),
                             there = open(*cpu, diags);
    ASSERT_TRUE(here && there) << textOf(diags);
    float first = 0, last = 0;
    for (int update = 0; update < 8; ++update) {
      std::vector<float> outcome = runStep(*here, diags);
      ASSERT_EQ(outcome, runStep(*there, diags)) << update;
      last = outcome.front();
      first = update ? first : last;
      ASSERT_TRUE(descend(*here, diags) && descend(*there, diags));
    }
    EXPECT_LT(last, first);
    EXPECT_GT(here->programsPerUpdate(), 4u);
    // Weights that change twice before a run are those of the second time.
    ASSERT_TRUE(descend(*here, diags) && descend(*here, diags));
    ASSERT_TRUE(descend(*there, diags) && descend(*there, diags));
    EXPECT_EQ(runStep(*here, diags), runStep(*there, diags));
    // And ends while programs are being loaded.
    ASSERT_TRUE(descend(*here, diags));
  }
  expectNothingLeft(folders);
}

// A program that fails to load in the background fails the run that needs it,
// with a reason, and nothing runs with old weights.
TEST(AneSession, FailsInTheBackground) {
  unsigned folders = stagedFolders();
  {
    Diagnostics diags, said;
    std::unique_ptr<Backend> ane = openDouble();
    std::unique_ptr<Session> session = open(*ane, diags);
    ASSERT_TRUE(session);
    runStep(*session, diags);
    ane_double::ledger().compileLimit = 0;
    ASSERT_TRUE(descend(*session, diags));
    std::string entry =
        session->package().findEntries(FunctionRole::Train).front()->name;
    std::vector<std::vector<uint8_t>> bytes;
    for (const Port &port : session->inputs(entry))
      bytes.emplace_back(port.type.numBytes());
    llvm::SmallVector<llvm::ArrayRef<uint8_t>> in(bytes.begin(), bytes.end());
    float loss = 0;
    llvm::MutableArrayRef<uint8_t> out(reinterpret_cast<uint8_t *>(&loss), 4);
    EXPECT_FALSE(session->run(entry, in, {out}, said));
    EXPECT_NE(textOf(said).find("[ane-refused]"), std::string::npos)
        << textOf(said);
    ane_double::ledger().compileLimit = 1u << 30;
  }
  expectNothingLeft(folders);
}
