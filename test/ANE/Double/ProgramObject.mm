//===- ProgramObject.mm - the program object of a model -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// _ANEProgramForEvaluation: what a loaded model hands requests to. It does not
/// outlive the program, and takes the string id of its model alone.
///
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace ane_double;

@interface _ANEProgramForEvaluation : NSObject {
@public
  /// Of the model that owns it.
  LoadedProgram **program;
  uint64_t stringID;
}
@end

@implementation _ANEProgramForEvaluation
- (BOOL)processRequest:(_ANERequest *)request
                 model:(id)model
                   qos:(unsigned int)qos
                qIndex:(uint64_t)qIndex
         modelStringID:(uint64_t)modelStringID
               options:(NSDictionary *)options
           returnValue:(unsigned int *)returnValue
                 error:(NSError **)error {
  ++ledger().processedRequests;
  if (modelStringID != stringID) {
    // No error, but a status.
    *returnValue = 0x2;
    return NO;
  }
  if (!*program) {
    *returnValue = 14;
    return fail(error, "Program not found");
  }
  if (!evaluate(*program, request, error)) {
    *returnValue = 1;
    return NO;
  }
  leaveStats(*program, options, request);
  *returnValue = 0;
  return YES;
}
@end

static uint64_t stringIDOf(const void *owner) {
  return reinterpret_cast<uint64_t>(owner) | 1;
}

static id programOf(LoadedProgram **program, const void *owner) {
  if (isToFail(NULL) || !*program)
    return nil;
  _ANEProgramForEvaluation *made =
      [[[_ANEProgramForEvaluation alloc] init] autorelease];
  made->program = program;
  made->stringID = stringIDOf(owner);
  return made;
}

@interface _ANEModel (Program)
@end
@implementation _ANEModel (Program)
- (id)program {
  return programOf(&program, self);
}
- (uint64_t)string_id {
  return stringIDOf(self);
}
@end

@interface _ANEInMemoryModel (Inner)
- (NSDictionary *)innerAttributes;
@end

/// The model inside one that is in memory, whose program it has.
@interface AneDoubleInnerModel : _ANEModel {
@public
  _ANEInMemoryModel *outer;
}
@end
@implementation AneDoubleInnerModel
- (id)program {
  return programOf(&outer->program, outer);
}
- (uint64_t)string_id {
  return stringIDOf(outer);
}
- (NSDictionary *)modelAttributes {
  return [outer innerAttributes];
}
@end

@interface _ANEInMemoryModel (Program)
@end
@implementation _ANEInMemoryModel (Program)
// The mask of options is what counts: loading replaces this one.
- (void)setPerfStatsMask:(unsigned int)mask {
}
- (id)model {
  if (isToFail(NULL) || !program)
    return nil;
  AneDoubleInnerModel *made = [[[AneDoubleInnerModel alloc] init] autorelease];
  made->outer = self;
  return made;
}
@end
