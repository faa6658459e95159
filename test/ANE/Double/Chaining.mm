//===- Chaining.mm - chained requests of the double -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Requests for chained runs: valid with a surface for statistics and without
/// loopback symbols, and refused nevertheless, as published.
///
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace ane_double;

@interface _ANEBuffer : NSObject
@end
@implementation _ANEBuffer
+ (id)bufferWithIOSurfaceObject:(id)surface
                    symbolIndex:(NSNumber *)index
                         source:(long long)source {
  return isToFail(NULL) || !surface || !index
             ? nil
             : [[[self alloc] init] autorelease];
}
@end

@interface _ANEIOSurfaceOutputSets : NSObject
@end
@implementation _ANEIOSurfaceOutputSets
+ (id)objectWithstatsSurRef:(IOSurfaceRef)statistics
               outputBuffer:(NSArray *)buffers {
  return isToFail(NULL) || !statistics || ![buffers count]
             ? nil
             : [[[self alloc] init] autorelease];
}
@end

@interface _ANEChainingRequest : NSObject {
  NSUInteger inputs, outputSets;
}
@end
@implementation _ANEChainingRequest
+ (id)chainingRequestWithInputs:(NSArray *)inputs
                     outputSets:(NSArray *)outputSets
                lbInputSymbolId:(NSArray *)inputSymbols
               lbOutputSymbolId:(NSArray *)outputSymbols
                 procedureIndex:(NSNumber *)procedure
                   signalEvents:(NSArray *)events
              transactionHandle:(NSNumber *)transaction
                 fwEnqueueDelay:(NSNumber *)delay
                   memoryPoolId:(NSNumber *)pool {
  if (isToFail(NULL))
    return nil;
  _ANEChainingRequest *made = [[[self alloc] init] autorelease];
  // Numbers are asked for what arrays have, and the other way round.
  if (inputSymbols)
    (void)[(id)inputSymbols unsignedIntegerValue];
  made->inputs = [inputs count];
  made->outputSets = [outputSets count];
  return made;
}
- (BOOL)validate {
  return !isToFail(NULL) && inputs && outputSets;
}
@end

@interface _ANEClient (Chaining)
@end
@implementation _ANEClient (Chaining)
- (BOOL)prepareChainingWithModel:(_ANEModel *)model
                         options:(NSDictionary *)options
                     chainingReq:(id)request
                             qos:(unsigned int)qos
                           error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (![model isKindOfClass:[_ANEModel class]] || !model->program || !request)
    return fail(error, "prepareChaining: bad argument");
  if (ledger().odd == "chains")
    return YES;
  return fail(error, "Code=15 ANEProgramChainingPrepare() Failed");
}
@end
