//===- CoreMLProtocols.h - public methods of Core ML ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares what is called of Core ML's public classes, as Apple documents it.
/// Nothing links Core ML: classes are found by name when they are used, so that
/// those of later systems can be missing.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_COREMLPROTOCOLS_H
#define ANEC_LIB_RUNTIME_APPLE_COREMLPROTOCOLS_H

#import <Foundation/Foundation.h>

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Values of MLMultiArrayDataType: a family, and the bits of an element. Int8
/// is that of macOS 26.
enum : NSInteger {
  mlFloat16 = 0x10000 | 16,
  mlFloat32 = 0x10000 | 32,
  mlInt32 = 0x20000 | 32,
  mlInt8 = 0x20000 | 8,
};
/// A value of MLFeatureType.
enum : NSInteger { mlFeatureMultiArray = 5 };

/// Instances of MLMultiArray.
@protocol MlMultiArray <NSObject>
/// `strides` are in elements; without a `deallocator`, which is a block, the
/// memory stays the caller's.
- (instancetype)initWithDataPointer:(void *)memory
                              shape:(NSArray *)shape
                           dataType:(NSInteger)dataType
                            strides:(NSArray *)strides
                        deallocator:(id)deallocator
                              error:(NSError **)error;
- (void *)dataPointer;
- (NSArray *)shape;
- (NSArray *)strides;
- (NSInteger)dataType;
@end

/// Instances of MLFeatureValue.
@protocol MlFeatureValue <NSObject>
- (id<MlMultiArray>)multiArrayValue;
@end

/// Of MLFeatureProvider.
@protocol MlFeatureProvider <NSObject>
- (id<MlFeatureValue>)featureValueForName:(NSString *)name;
@end

/// Instances of MLDictionaryFeatureProvider.
@protocol MlDictionaryFeatureProvider <NSObject>
- (instancetype)initWithDictionary:(NSDictionary *)values
                             error:(NSError **)error;
@end

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Values of MLComputeUnits.
enum : NSInteger {
  mlCpuOnly = 0,
  mlCpuAndGpu = 1,
  mlAllUnits = 2,
  mlCpuAndNeuralEngine = 3
};

/// Instances of MLModelConfiguration.
@protocol MlModelConfiguration <NSObject>
- (void)setComputeUnits:(NSInteger)units;
@end

/// Instances of MLPredictionOptions.
@protocol MlPredictionOptions <NSObject>
@optional
- (void)setOutputBackings:(NSDictionary *)arrays;
@end

/// Instances of MLMultiArrayConstraint and MLFeatureDescription.
@protocol MlMultiArrayConstraint <NSObject>
- (NSArray *)shape;
- (NSInteger)dataType;
@end
@protocol MlFeatureDescription <NSObject>
- (NSInteger)type;
/// Nil for features that are not arrays.
- (id<MlMultiArrayConstraint>)multiArrayConstraint;
@end

/// Instances of MLModelDescription; features by name.
@protocol MlPublicModelDescription <NSObject>
- (NSDictionary *)inputDescriptionsByName;
- (NSDictionary *)outputDescriptionsByName;
@end

/// What visits the array of a state, which is valid during the call.
typedef void (^MlStateVisitor)(id<MlMultiArray> array);

/// Instances of MLState, since macOS 15.
@protocol MlState <NSObject>
- (void)getMultiArrayForStateNamed:(NSString *)name
                           handler:(MlStateVisitor)visitor;
@end

/// The class MLModel.
@protocol MlModelClass <NSObject>
/// Returns a folder `.mlmodelc` in the temporary folder, which is the caller's.
- (NSURL *)compileModelAtURL:(NSURL *)package error:(NSError **)error;
- (id)modelWithContentsOfURL:(NSURL *)compiled
               configuration:(id<MlModelConfiguration>)configuration
                       error:(NSError **)error;
@end

/// Instances of MLModel, of which one thread at a time may use one.
@protocol MlModel <NSObject>
- (id<MlPublicModelDescription>)modelDescription;
- (id<MlFeatureProvider>)predictionFromFeatures:(id)features
                                        options:(id)options
                                          error:(NSError **)error;
@optional
/// Since macOS 15.
- (id<MlState>)newState;
- (id<MlFeatureProvider>)predictionFromFeatures:(id)features
                                     usingState:(id<MlState>)state
                                        options:(id)options
                                          error:(NSError **)error;
@end

//===----------------------------------------------------------------------===//
// Plans, since macOS 14.4
//===----------------------------------------------------------------------===//

@protocol MlComputePlan;
/// Called once, by any thread.
typedef void (^MlComputePlanHandler)(id<MlComputePlan> plan, NSError *error);

/// The class MLComputePlan.
@protocol MlComputePlanClass <NSObject>
- (void)loadContentsOfURL:(NSURL *)compiled
            configuration:(id<MlModelConfiguration>)configuration
        completionHandler:(MlComputePlanHandler)handler;
@end

/// Instances of the classes MLModelStructure..., for programs alone.
@protocol MlNamedValue <NSObject>
- (NSString *)name;
@end
@protocol MlProgramOperation <NSObject>
- (NSString *)operatorName;
- (NSArray *)outputs; ///< of MlNamedValue
- (NSArray *)blocks;  ///< of MlProgramBlock
@end
@protocol MlProgramBlock <NSObject>
- (NSArray *)operations;
@end
@protocol MlProgramFunction <NSObject>
- (id<MlProgramBlock>)block;
@end
@protocol MlProgramStructure <NSObject>
- (NSDictionary *)functions; ///< MlProgramFunction by name
@end
@protocol MlModelStructure <NSObject>
- (id<MlProgramStructure>)program; ///< nil for other models
@end

/// Instances of MLComputePlanDeviceUsage; devices are instances of
/// MLCPUComputeDevice, MLGPUComputeDevice and MLNeuralEngineComputeDevice.
@protocol MlDeviceUsage <NSObject>
- (NSArray *)supportedComputeDevices;
- (id)preferredComputeDevice;
@end

/// Instances of MLComputePlanCost.
@protocol MlPlanCost <NSObject>
- (double)weight; ///< of the whole program's cost, from 0 to 1
@end

/// Instances of MLComputePlan.
@protocol MlComputePlan <NSObject>
- (id<MlModelStructure>)modelStructure;
/// Nil for operations that do not run, such as constants.
- (id<MlDeviceUsage>)computeDeviceUsageForMLProgramOperation:(id)operation;
- (id<MlPlanCost>)estimatedCostOfMLProgramOperation:(id)operation;
@end

#endif // ANEC_LIB_RUNTIME_APPLE_COREMLPROTOCOLS_H
