//===- WrongDriver.h - what drivers with mistakes are made of --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_WRONGDRIVER_H
#define ANEC_TEST_ANE_WRONGDRIVER_H

#include "Programs.h"
#include "anec/MIL/Printer.h"
#include "lib/Runtime/ANE/Protocols.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <dlfcn.h>
#include <fstream>

namespace anec {

/// The program twoByTwo, and a convolution, as files.
struct Files {
  std::string text, weights;
};

inline Files printed(const std::string &mil) {
  TestProgram program(mil);
  llvm::SmallString<128> folder;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("trap", folder));
  std::string path = (folder + "/weight.mil").str();
  EXPECT_TRUE(writeMIL(*program.module, path, {}, program.diags));
  auto read = [](const std::string &file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  };
  Files files{read(path), read((folder + "/weights/weight.bin").str())};
  (void)llvm::sys::fs::remove_directories(folder);
  return files;
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string sayError(NSError *error) {
  return error ? [[error localizedDescription] UTF8String] : "";
}

inline IOSurfaceRef makeSurface(size_t bytes) {
  NSNumber *size = [NSNumber numberWithUnsignedLong:bytes];
  return IOSurfaceCreate((CFDictionaryRef) @{
    (NSString *)kIOSurfaceWidth : size,
    (NSString *)kIOSurfaceHeight : @1,
    (NSString *)kIOSurfaceBytesPerElement : @1,
    (NSString *)kIOSurfaceBytesPerRow : size,
    (NSString *)kIOSurfaceAllocSize : size,
    (NSString *)kIOSurfacePixelFormat : @0
  });
}

/// 8 rows of 40 halves that are all `value`.
inline void fill(IOSurfaceRef surface, uint16_t value) {
  auto *halves = reinterpret_cast<uint16_t *>(anecShimMemory(surface));
  for (size_t i = 0; i < IOSurfaceGetAllocSize(surface) / 2; ++i)
    halves[i] = value;
}

inline float firstOf(IOSurfaceRef surface) {
  auto *halves = reinterpret_cast<uint16_t *>(anecShimMemory(surface));
  // Small integers are all that these tests have.
  int exponent = (halves[0] >> 10) & 31;
  float magnitude =
      exponent ? std::ldexp(1024 + (halves[0] & 1023), exponent - 25) : 0;
  return halves[0] & 0x8000 ? -magnitude : magnitude;
}

/// A request of surfaces in this order, with indices 0, 1, ...
inline id makeRequest(llvm::ArrayRef<IOSurfaceRef> inputs,
                      llvm::ArrayRef<IOSurfaceRef> outputs) {
  NSMutableArray *arrays[4];
  for (NSMutableArray *&array : arrays)
    array = [NSMutableArray array];
  auto add = [&](llvm::ArrayRef<IOSurfaceRef> surfaces, NSMutableArray *objects,
                 NSMutableArray *indices) {
    auto wrapper =
        (id<AneSurfaceClass>)NSClassFromString(@"_ANEIOSurfaceObject");
    for (IOSurfaceRef surface : surfaces) {
      [objects addObject:[wrapper objectWithIOSurface:surface]];
      [indices addObject:[NSNumber numberWithUnsignedInt:[indices count]]];
    }
  };
  add(inputs, arrays[0], arrays[1]);
  add(outputs, arrays[2], arrays[3]);
  return [(id<AneRequestClass>)NSClassFromString(@"_ANERequest")
      requestWithInputs:arrays[0]
           inputIndices:arrays[1]
                outputs:arrays[2]
          outputIndices:arrays[3]
          weightsBuffer:nil
              perfStats:nil
         procedureIndex:@0];
}

} // namespace anec

#endif // ANEC_TEST_ANE_WRONGDRIVER_H
