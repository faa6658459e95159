//===- CoreML.mm - the double's classes of Core ML ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The public classes of Core ML that arrays go through, and the descriptions
/// of a model, as strict as their documentation.
///
//===----------------------------------------------------------------------===//

#include "CoreML.h"
#include <cstring>

using namespace ane_double;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

NSArray *ane_double::shapeOf(const anec::TensorType &type) {
  NSMutableArray *shape = [NSMutableArray array];
  for (int64_t extent : type.shape)
    [shape addObject:[NSNumber numberWithLongLong:extent]];
  // A scalar is an array of one element.
  if (type.isScalar())
    [shape addObject:[NSNumber numberWithLongLong:1]];
  return shape;
}

NSInteger ane_double::dataTypeOf(anec::DType type) {
  return type == anec::DType::FP16    ? Float16
         : type == anec::DType::FP32  ? Float32
         : type == anec::DType::Int32 ? Int32
         : type == anec::DType::Int8  ? Int8
                                      : 0;
}

static size_t elementBytes(NSInteger dataType) {
  return dataType == Int8 ? 1 : dataType == Float16 ? 2 : 4;
}

/// Calls `visit` with the place of each element in memory, in order.
template <typename Visit>
static void eachElement(MLMultiArray *array, NSUInteger axis, size_t offset,
                        Visit visit) {
  if (axis == [array->shape count])
    return visit(array->memory + offset * elementBytes(array->dataType));
  NSInteger extent = [[array->shape objectAtIndex:axis] integerValue];
  NSInteger stride = [[array->strides objectAtIndex:axis] integerValue];
  for (NSInteger i = 0; i < extent; ++i)
    eachElement(array, axis + 1, offset + size_t(i * stride), visit);
}

void ane_double::copyFrom(MLMultiArray *array, uint8_t *dense) {
  size_t bytes = elementBytes(array->dataType);
  eachElement(array, 0, 0, [&](const uint8_t *element) {
    std::memcpy(dense, element, bytes);
    dense += bytes;
  });
}

void ane_double::copyTo(MLMultiArray *array, const uint8_t *dense) {
  size_t bytes = elementBytes(array->dataType);
  eachElement(array, 0, 0, [&](uint8_t *element) {
    std::memcpy(element, dense, bytes);
    dense += bytes;
  });
}

NSString *ane_double::nameOf(const anec::Port &port) {
  return [NSString stringWithUTF8String:port.name.c_str()];
}

/// The array of a port in `arrays`; nil, with an error, when it does not fit.
static MLMultiArray *arrayOf(NSDictionary *arrays, const anec::Port &port,
                             NSError **error) {
  MLMultiArray *array = [arrays objectForKey:nameOf(port)];
  if (!array)
    fail(error, "Feature " + port.name + " is required but not specified.");
  else if (array->dataType != dataTypeOf(port.type.dtype))
    fail(error, "MultiArray dataType should be another for " + port.name);
  else if (![array->shape isEqual:shapeOf(port.type)])
    fail(error, "MultiArray shape is not allowed for " + port.name);
  else
    return array;
  return nil;
}

MLDictionaryFeatureProvider *ane_double::predict(
    anec::Executable &executable, MLDictionaryFeatureProvider *features,
    MLPredictionOptions *options, DenseRun run, NSError **error) {
  std::vector<std::vector<uint8_t>> in, out;
  std::vector<const uint8_t *> inputs;
  std::vector<uint8_t *> outputs;
  NSMutableDictionary *results = [NSMutableDictionary dictionary];
  for (const anec::Port &port : executable.inputs()) {
    MLMultiArray *array = arrayOf(features->arrays, port, error);
    if (!array)
      return nil;
    copyFrom(array, in.emplace_back(port.type.numBytes()).data());
    inputs.push_back(in.back().data());
  }
  bool usesBackings = options->outputBackings && ledger().odd != "own-arrays";
  for (const anec::Port &port : executable.outputs()) {
    MLMultiArray *array =
        usesBackings
            ? arrayOf(options->outputBackings, port, error)
            : [MLMultiArray paddedArrayOfShape:shapeOf(port.type)
                                      dataType:dataTypeOf(port.type.dtype)];
    if (!array)
      return nil;
    copyFrom(array, out.emplace_back(port.type.numBytes()).data());
    outputs.push_back(out.back().data());
    [results setObject:array forKey:nameOf(port)];
  }
  ++ledger().evaluations;
  run(inputs, outputs);
  for (auto [port, bytes] : llvm::zip_equal(executable.outputs(), out))
    copyTo([results objectForKey:nameOf(port)], bytes.data());
  return [[[MLDictionaryFeatureProvider alloc] initWithDictionary:results
                                                            error:error]
      autorelease];
}

@implementation MLMultiArray
- (id)initWithDataPointer:(void *)pointer
                    shape:(NSArray *)extents
                 dataType:(NSInteger)type
                  strides:(NSArray *)steps
              deallocator:(id)deallocator
                    error:(NSError **)error {
  bool isKnown =
      type == Float16 || type == Float32 || type == Int32 || type == Int8;
  if (isToFail(error) || !pointer || !isKnown ||
      [extents count] != [steps count]) {
    if (error && !*error)
      fail(error, "MLMultiArray: not an array");
    [self release];
    return nil;
  }
  memory = static_cast<uint8_t *>(pointer);
  shape = [extents copy];
  strides = [steps copy];
  dataType = type;
  ++ledger().surfaces;
  return self;
}

+ (MLMultiArray *)paddedArrayOfShape:(NSArray *)extents
                            dataType:(NSInteger)type {
  NSMutableArray *steps = [NSMutableArray array];
  size_t perRow = 64 / elementBytes(type), step = 1;
  for (NSUInteger axis = [extents count]; axis-- > 0;) {
    [steps insertObject:[NSNumber numberWithUnsignedLong:step] atIndex:0];
    step *= size_t([[extents objectAtIndex:axis] integerValue]);
    if (axis + 1 == [extents count])
      step = (step + perRow - 1) / perRow * perRow;
  }
  // Owned by what is released even if making the array raises.
  NSMutableData *zeros =
      [NSMutableData dataWithLength:(step + 1) * elementBytes(type)];
  MLMultiArray *made = [[self alloc] initWithDataPointer:[zeros mutableBytes]
                                                   shape:extents
                                                dataType:type
                                                 strides:steps
                                             deallocator:nil
                                                   error:NULL];
  if (made)
    made->owned = [zeros retain];
  return [made autorelease];
}

- (void)dealloc {
  if (memory)
    --ledger().surfaces;
  [owned release];
  [shape release];
  [strides release];
  [super dealloc];
}
- (void *)dataPointer {
  return memory;
}
- (NSArray *)shape {
  return shape;
}
- (NSArray *)strides {
  return strides;
}
- (NSInteger)dataType {
  return dataType;
}
@end

@implementation MLFeatureValue
- (MLMultiArray *)multiArrayValue {
  return array;
}
- (void)dealloc {
  [array release];
  [super dealloc];
}
@end

@implementation MLDictionaryFeatureProvider
- (id)initWithDictionary:(NSDictionary *)values error:(NSError **)error {
  if (isToFail(error)) {
    [self release];
    return nil;
  }
  arrays = [values copy];
  return self;
}
- (MLFeatureValue *)featureValueForName:(NSString *)name {
  MLMultiArray *array = [arrays objectForKey:name];
  if (isToFail(NULL) || !array)
    return nil;
  MLFeatureValue *value = [[[MLFeatureValue alloc] init] autorelease];
  value->array = [array retain];
  return value;
}
- (void)dealloc {
  [arrays release];
  [super dealloc];
}
@end

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

@implementation MLModelConfiguration
- (void)setComputeUnits:(NSInteger)units {
  if (units < 0 || units > 3)
    [NSException raise:NSInvalidArgumentException format:@"no such units"];
  computeUnits = units;
}
@end

@implementation MLPredictionOptions
- (void)setOutputBackings:(NSDictionary *)arrays {
  outputBackings = [arrays copy];
}
- (void)dealloc {
  [outputBackings release];
  [super dealloc];
}
@end

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

@implementation MLMultiArrayConstraint
+ (id)constraintWithShape:(NSArray *)extents dataType:(long long)type {
  if (isToFail(NULL))
    return nil;
  MLMultiArrayConstraint *made = [[[self alloc] init] autorelease];
  made->shape = [extents copy];
  made->dataType = type;
  return made;
}
- (NSArray *)shape {
  return shape;
}
- (NSInteger)dataType {
  return dataType;
}
- (void)dealloc {
  [shape release];
  [super dealloc];
}
@end

@implementation MLFeatureDescription
+ (id)featureDescriptionWithName:(NSString *)featureName
                            type:(long long)type
                        optional:(BOOL)isOptional
                     constraints:(NSArray *)constraints {
  // 5 is an array.
  if (isToFail(NULL) || type != 5 || [constraints count] != 1)
    return nil;
  MLFeatureDescription *made = [[[self alloc] init] autorelease];
  made->name = [featureName copy];
  made->constraint = [[constraints objectAtIndex:0] retain];
  return made;
}
- (NSInteger)type {
  return 5;
}
- (MLMultiArrayConstraint *)multiArrayConstraint {
  return constraint;
}
- (void)dealloc {
  [name release];
  [constraint release];
  [super dealloc];
}
@end

@implementation MLModelDescription
- (id)initWithInputDescriptions:(NSDictionary *)inputsByName
             outputDescriptions:(NSDictionary *)outputsByName
           predictedFeatureName:(NSString *)feature
     predictedProbabilitiesName:(NSString *)probabilities
                       metadata:(NSDictionary *)metadata {
  if (isToFail(NULL)) {
    [self release];
    return nil;
  }
  inputs = [inputsByName copy];
  outputs = [outputsByName copy];
  return self;
}
- (NSDictionary *)inputDescriptionsByName {
  return inputs;
}
- (NSDictionary *)outputDescriptionsByName {
  return outputs;
}
- (void)dealloc {
  [inputs release];
  [outputs release];
  [super dealloc];
}
@end
