//===- DefaultBackendTest.cpp - what runs without --backend ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../../tools/ane-run/DefaultBackend.h"
#include "gtest/gtest.h"

using namespace anec;

static constexpr Platform appleSilicon{true, true, true},
    intelMac{true, false, true}, withoutAne{true, true, false},
    linuxOnArm{false, false, false}, linuxWithDouble{false, false, true};

TEST(DefaultBackend, OfPlatforms) {
  EXPECT_EQ(defaultBackend(appleSilicon), BackendKind::Ane);
  for (const Platform &other :
       {intelMac, withoutAne, linuxOnArm, linuxWithDouble})
    EXPECT_EQ(defaultBackend(other), BackendKind::Cpu);
}

// A flag that one backend alone has names it, wherever it is given.
TEST(DefaultBackend, OfFlags) {
  for (const Platform &platform :
       {appleSilicon, intelMac, withoutAne, linuxOnArm, linuxWithDouble}) {
    EXPECT_EQ(defaultBackend(platform, true, false), BackendKind::Cpu);
    EXPECT_EQ(defaultBackend(platform, false, true), BackendKind::Ane);
    // Both are an error, whatever is chosen.
    EXPECT_EQ(defaultBackend(platform, true, true), defaultBackend(platform));
  }
}

// What this build is for.
TEST(DefaultBackend, Here) {
  Platform here = thisPlatform();
#if defined(__APPLE__) && defined(__arm64__)
  EXPECT_TRUE(here.isMac && here.isAppleSilicon);
#else
  EXPECT_FALSE(here.isAppleSilicon);
  EXPECT_EQ(defaultBackend(here), BackendKind::Cpu);
#endif
}
