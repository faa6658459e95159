//===- Classes.h - what the double's classes share -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_CLASSES_H
#define ANEC_TEST_ANE_CLASSES_H

#include "../Shim/Ledger.h"
#include "Compiler.h"
#import <Foundation/Foundation.h>
#import <IOSurface/IOSurfaceRef.h>
#include <memory>

@interface _ANEIOSurfaceObject : NSObject {
@public
  IOSurfaceRef surface;
}
@end

@interface _ANERequest : NSObject {
@public
  NSArray *inputs, *inputIndices, *outputs, *outputIndices;
  NSUInteger procedureIndex;
  id perfStatsGiven;
  id perfStats;
}
- (id)perfStats;
@end

@class _ANEInMemoryModelDescriptor;

@interface _ANEInMemoryModel : NSObject {
@public
  _ANEInMemoryModelDescriptor *descriptor;
  NSString *identifier;
  ane_double::LoadedProgram *program;
  BOOL isSaved;
}
@end

@interface _ANEModel : NSObject {
@public
  NSURL *url;
  NSString *key;
  ane_double::LoadedProgram *program;
}
@end

@interface _ANEClient : NSObject
@end

namespace ane_double {

/// NO, with an error that says `text`, or with none.
BOOL fail(NSError **error, const std::string &text, int code = 1);
/// Whether this call is one that has to fail, as it was told.
bool isToFail(NSError **error);

/// Makes `program` what was compiled in `folder`, with `tag`.
BOOL loadInto(LoadedProgram *&program, const std::string &folder,
              const std::string &tag, NSError **error);
void unload(LoadedProgram *&program);
/// What options of loading say about statistics, and what a run with options
/// leaves in its request.
void wantStats(LoadedProgram *program, NSDictionary *options);
void leaveStats(const LoadedProgram *program, NSDictionary *options,
                _ANERequest *request);
/// Runs `program`, which may be null: not loaded.
BOOL evaluate(LoadedProgram *program, _ANERequest *request, NSError **error);
/// What a loaded program says of itself.
NSDictionary *attributesOf(const LoadedProgram *program);

} // namespace ane_double

#endif // ANEC_TEST_ANE_CLASSES_H
