//===- CoreML.h - the double's classes of Core ML ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_COREML_H
#define ANEC_TEST_ANE_COREML_H

#include "Classes.h"

/// Values of MLMultiArrayDataType.
enum : NSInteger {
  Float16 = 65552,
  Float32 = 65568,
  Int32 = 131104,
  Int8 = 131080
};

@interface MLMultiArray : NSObject {
@public
  uint8_t *memory;
  NSArray *shape, *strides;
  NSInteger dataType;
  NSData *owned; ///< the memory, if it is the array's
}
/// An array of zeros whose rows begin at multiples of 64 bytes.
+ (MLMultiArray *)paddedArrayOfShape:(NSArray *)shape
                            dataType:(NSInteger)dataType;
- (void *)dataPointer;
- (NSArray *)shape;
- (NSArray *)strides;
- (NSInteger)dataType;
@end

@interface MLFeatureValue : NSObject {
@public
  MLMultiArray *array;
}
- (MLMultiArray *)multiArrayValue;
@end

@interface MLDictionaryFeatureProvider : NSObject {
@public
  NSDictionary *arrays;
}
- (id)initWithDictionary:(NSDictionary *)values error:(NSError **)error;
- (MLFeatureValue *)featureValueForName:(NSString *)name;
@end

@interface MLModelConfiguration : NSObject {
@public
  NSInteger computeUnits;
}
@end

@interface MLPredictionOptions : NSObject {
@public
  NSDictionary *outputBackings;
}
@end

@interface MLMultiArrayConstraint : NSObject {
@public
  NSArray *shape;
  long long dataType;
}
+ (id)constraintWithShape:(NSArray *)extents dataType:(long long)type;
@end

@interface MLFeatureDescription : NSObject {
@public
  NSString *name;
  MLMultiArrayConstraint *constraint;
}
+ (id)featureDescriptionWithName:(NSString *)featureName
                            type:(long long)type
                        optional:(BOOL)isOptional
                     constraints:(NSArray *)constraints;
@end

@interface MLModelDescription : NSObject {
@public
  NSDictionary *inputs, *outputs;
}
- (id)initWithInputDescriptions:(NSDictionary *)inputsByName
             outputDescriptions:(NSDictionary *)outputsByName
           predictedFeatureName:(NSString *)feature
     predictedProbabilitiesName:(NSString *)probabilities
                       metadata:(NSDictionary *)metadata;
@end

/// A folder that Core ML compiled a package to, as it is loaded.
@interface MLModel : NSObject {
@public
  ane_double::LoadedProgram *program;
  MLModelDescription *description;
  std::atomic<bool> *isUsed;
}
@end

/// Arrays of the states of one model.
@interface MLState : NSObject {
@public
  MLModel *model;
  NSDictionary *arrays;
}
@end

namespace ane_double {

/// The shape and element type of a port, as Core ML has them.
NSArray *shapeOf(const anec::TensorType &type);
NSInteger dataTypeOf(anec::DType type);
NSString *nameOf(const anec::Port &port);
/// Runs a program with contiguous arrays, in the order of its ports.
using DenseRun = llvm::function_ref<void(llvm::ArrayRef<const uint8_t *> inputs,
                                         llvm::ArrayRef<uint8_t *> outputs)>;
/// What a program computes from `features`, in the backings of `options` or in
/// arrays of its own; nil, with an error, when an array does not fit.
MLDictionaryFeatureProvider *predict(anec::Executable &executable,
                                     MLDictionaryFeatureProvider *features,
                                     MLPredictionOptions *options, DenseRun run,
                                     NSError **error);
/// Reads the package that `url`, a compiled model, has: the function that
/// `configuration` names, or the only one. Null, with an error, on failure.
std::unique_ptr<anec::Module> readCompiled(NSURL *url, NSString *function,
                                           NSError **error);
/// An error of Core ML.
BOOL failInCoreML(NSError **error, const std::string &text, int code);
/// Copies between contiguous elements and an array with any strides.
void copyFrom(MLMultiArray *array, uint8_t *dense);
void copyTo(MLMultiArray *array, const uint8_t *dense);

} // namespace ane_double

#endif // ANEC_TEST_ANE_COREML_H
