//===- Protocols.h - the methods of the private classes ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the private classes, so that calls have the right types. `id<...>`
/// is an object or, in protocols of class methods, the class itself.
/// docs/use/ane.md lists each method, why it is called and who published it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PROTOCOLS_H
#define ANEC_LIB_RUNTIME_ANE_PROTOCOLS_H

#import <Foundation/Foundation.h>
#import <IOSurface/IOSurfaceRef.h>
#include <cstdint>

/// The class _ANEInMemoryModelDescriptor.
@protocol AneDescriptorClass <NSObject>
- (id)modelWithMILText:(NSData *)text
               weights:(NSDictionary *)weights
          optionsPlist:(NSData *)options;
@end

/// Instances of _ANEModel.
@protocol AneModel <NSObject>
/// The _ANEProgramForEvaluation of a loaded model.
- (id)program;
- (uint64_t)string_id;
@optional
- (NSDictionary *)modelAttributes;
@end

/// Instances of _ANEInMemoryModel.
@protocol AneInMemoryModel <NSObject>
- (NSString *)hexStringIdentifier;
- (BOOL)compileWithQoS:(unsigned int)qos
               options:(NSDictionary *)options
                 error:(NSError **)error;
- (BOOL)loadWithQoS:(unsigned int)qos
            options:(NSDictionary *)options
              error:(NSError **)error;
- (BOOL)evaluateWithQoS:(unsigned int)qos
                options:(NSDictionary *)options
                request:(id)request
                  error:(NSError **)error;
- (BOOL)unloadWithQoS:(unsigned int)qos error:(NSError **)error;
@optional
- (BOOL)compiledModelExists;
- (void)setPerfStatsMask:(unsigned int)mask;
/// Since macOS 27: digests of the files that the compiler's service expects.
- (NSDictionary *)perFileHashes;
/// The model that it wraps. That one has the attributes: asking the wrapper
/// for them can raise an exception on macOS 27.
- (id<AneModel>)model;
@end

/// The class _ANEInMemoryModel.
@protocol AneInMemoryModelClass <NSObject>
- (id<AneInMemoryModel>)inMemoryModelWithDescriptor:(id)descriptor;
@end

/// Instances of _ANEProgramForEvaluation.
@protocol AneProgram <NSObject>
- (BOOL)processRequest:(id)request
                 model:(id)model
                   qos:(unsigned int)qos
                qIndex:(uint64_t)qIndex
         modelStringID:(uint64_t)modelStringID
               options:(NSDictionary *)options
           returnValue:(unsigned int *)returnValue
                 error:(NSError **)error;
@end

/// The class _ANEModel.
@protocol AneModelClass <NSObject>
- (id<AneModel>)modelAtURL:(NSURL *)url key:(NSString *)key;
@end

/// Instances of _ANEClient.
@protocol AneClient <NSObject>
- (BOOL)compileModel:(id)model
             options:(NSDictionary *)options
                 qos:(unsigned int)qos
               error:(NSError **)error;
- (BOOL)loadModel:(id)model
          options:(NSDictionary *)options
              qos:(unsigned int)qos
            error:(NSError **)error;
- (BOOL)unloadModel:(id)model
            options:(NSDictionary *)options
                qos:(unsigned int)qos
              error:(NSError **)error;
// One of these for each path.
- (BOOL)evaluateWithModel:(id)model
                  options:(NSDictionary *)options
                  request:(id)request
                      qos:(unsigned int)qos
                    error:(NSError **)error;
- (BOOL)doEvaluateDirectWithModel:(id)model
                          options:(NSDictionary *)options
                          request:(id)request
                              qos:(unsigned int)qos
                            error:(NSError **)error;
- (BOOL)evaluateRealTimeWithModel:(id)model
                          options:(NSDictionary *)options
                          request:(id)request
                            error:(NSError **)error;
@optional
- (BOOL)compiledModelExistsFor:(id)model;
- (BOOL)prepareChainingWithModel:(id)model
                         options:(NSDictionary *)options
                     chainingReq:(id)request
                             qos:(unsigned int)qos
                           error:(NSError **)error;
@end

/// The class _ANEClient.
@protocol AneClientClass <NSObject>
- (id<AneClient>)sharedConnection;
@end

/// The class _ANEIOSurfaceObject.
@protocol AneSurfaceClass <NSObject>
- (id)objectWithIOSurface:(IOSurfaceRef)surface;
@end

/// The class _ANEDeviceInfo.
@protocol AneDeviceClass <NSObject>
- (BOOL)isVirtualMachine;
@end

/// The class _ANERequest: one of these. Some callers, and some dumps of
/// headers, have the second one only.
@protocol AneRequestClass <NSObject>
@optional
- (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
          weightsBuffer:(id)weightsBuffer
              perfStats:(NSArray *)perfStats
         procedureIndex:(NSNumber *)procedureIndex;
- (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
              perfStats:(NSArray *)perfStats
         procedureIndex:(NSNumber *)procedureIndex;
@end

/// Instances of _ANERequest.
@protocol AneRequest <NSObject>
@optional
- (id)perfStats;
@end

/// Instances of _ANEPerformanceStats.
@protocol AnePerfStats <NSObject>
/// In nanoseconds.
- (unsigned long long)hwExecutionTime;
@end

/// The class _ANEBuffer. `source` is 0 for an input and 1 for an output.
@protocol AneBufferClass <NSObject>
- (id)bufferWithIOSurfaceObject:(id)surface
                    symbolIndex:(NSNumber *)index
                         source:(long long)source;
@end

/// The class _ANEIOSurfaceOutputSets. The surface of statistics is not null.
@protocol AneOutputSetsClass <NSObject>
- (id)objectWithstatsSurRef:(IOSurfaceRef)statistics
               outputBuffer:(NSArray *)buffers;
@end

/// The class _ANEChainingRequest.
@protocol AneChainingClass <NSObject>
- (id)chainingRequestWithInputs:(NSArray *)inputs
                     outputSets:(NSArray *)outputSets
                lbInputSymbolId:(NSArray *)inputSymbols
               lbOutputSymbolId:(NSArray *)outputSymbols
                 procedureIndex:(NSNumber *)procedure
                   signalEvents:(NSArray *)events
              transactionHandle:(NSNumber *)transaction
                 fwEnqueueDelay:(NSNumber *)delay
                   memoryPoolId:(NSNumber *)pool;
@end

/// Instances of _ANEChainingRequest.
@protocol AneChaining <NSObject>
- (BOOL)validate;
@end

#endif // ANEC_LIB_RUNTIME_ANE_PROTOCOLS_H
