//===- E5Protocols.h - the methods of Core ML's classes ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the private classes of Core ML that `--path=e5` calls, like
/// Protocols.h: nothing links Core ML. docs/use/ane.md says who published the
/// private ones.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_E5PROTOCOLS_H
#define ANEC_LIB_RUNTIME_ANE_E5PROTOCOLS_H

#include "../Apple/CoreMLProtocols.h"

//===----------------------------------------------------------------------===//
// Private
//===----------------------------------------------------------------------===//

/// The class MLMultiArrayConstraint.
@protocol MlMultiArrayConstraintClass <NSObject>
- (id)constraintWithShape:(NSArray *)shape dataType:(long long)dataType;
@end

/// The class MLFeatureDescription.
@protocol MlFeatureDescriptionClass <NSObject>
- (id)featureDescriptionWithName:(NSString *)name
                            type:(long long)type
                        optional:(BOOL)isOptional
                     constraints:(NSArray *)constraints;
@end

/// Instances of MLModelDescription; descriptions of features by name.
@protocol MlModelDescription <NSObject>
- (instancetype)initWithInputDescriptions:(NSDictionary *)inputs
                       outputDescriptions:(NSDictionary *)outputs
                     predictedFeatureName:(NSString *)feature
               predictedProbabilitiesName:(NSString *)probabilities
                                 metadata:(NSDictionary *)metadata;
@end

/// Instances of MLE5ProgramLibraryOnDeviceAOTCompilationImpl.
@protocol MlE5Compilation <NSObject>
- (instancetype)initWithMILTextAtURL:(NSURL *)url
                           container:(id)container
                       configuration:(id)configuration;
@end

/// Instances of MLE5ProgramLibrary.
@protocol MlE5ProgramLibrary <NSObject>
- (instancetype)initWithImpl:(id)compilation
                   container:(id)container
               configuration:(id)configuration;
- (BOOL)prepareAndReturnError:(NSError **)error;
@end

/// Instances of MLE5Engine.
@protocol MlE5Engine <NSObject>
- (instancetype)initWithProgramLibrary:(id)library
                      modelDescription:(id)description
                         configuration:(id)configuration
                          functionName:(NSString *)function
         classProbabilitiesFeatureName:(NSString *)probabilities
            optionalInputDefaultValues:(NSDictionary *)defaults
                   compilerVersionInfo:(id)version;
- (BOOL)prepareWithConcurrencyHint:(long long)hint error:(NSError **)error;
- (id<MlFeatureProvider>)predictionFromFeatures:(id)features
                                        options:(id)options
                                          error:(NSError **)error;
@end

#endif // ANEC_LIB_RUNTIME_ANE_E5PROTOCOLS_H
