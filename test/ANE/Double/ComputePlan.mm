//===- ComputePlan.mm - the double's plans of Core ML ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A plan has the operations of each function. Constants have no devices. Ops
/// on integers run on the CPU, softmax on the GPU if that is among the units,
/// and the others on the engine.
///
//===----------------------------------------------------------------------===//

#include "CoreML.h"
#include "lib/IR/OpDef.h"
#include <thread>

using namespace anec;
using namespace ane_double;

#define DEVICE(NAME)                                                           \
  @interface NAME : NSObject                                                   \
  @end                                                                         \
  @implementation NAME                                                         \
  @end
DEVICE(MLCPUComputeDevice)
DEVICE(MLGPUComputeDevice)
DEVICE(MLNeuralEngineComputeDevice)

static NSString *textOf(llvm::StringRef text) {
  return [NSString stringWithUTF8String:text.str().c_str()];
}

//===----------------------------------------------------------------------===//
// The structure: dictionaries answer to the names of its properties
//===----------------------------------------------------------------------===//

@interface ANEDoubleNode : NSObject {
@public
  NSMutableDictionary *properties;
}
+ (ANEDoubleNode *)nodeWith:(NSDictionary *)properties;
@end

@implementation ANEDoubleNode
+ (ANEDoubleNode *)nodeWith:(NSDictionary *)properties {
  ANEDoubleNode *made = [[[self alloc] init] autorelease];
  made->properties = [properties mutableCopy];
  return made;
}
- (void)dealloc {
  [properties release];
  [super dealloc];
}
#define PROPERTY(NAME)                                                         \
  -(id)NAME {                                                                  \
    return [properties objectForKey:@ #NAME];                                  \
  }
PROPERTY(name)
PROPERTY(operatorName)
PROPERTY(outputs)
PROPERTY(blocks)
PROPERTY(operations)
PROPERTY(block)
PROPERTY(functions)
PROPERTY(program)
PROPERTY(supportedComputeDevices)
PROPERTY(preferredComputeDevice)
- (double)weight {
  return [[properties objectForKey:@"weight"] doubleValue];
}
@end

/// A node for an operation, with the device usage that the plan answers with.
static ANEDoubleNode *nodeOf(const Op &op, NSInteger units, size_t count) {
  id cpu = [[[MLCPUComputeDevice alloc] init] autorelease];
  id gpu = [[[MLGPUComputeDevice alloc] init] autorelease];
  id engine = [[[MLNeuralEngineComputeDevice alloc] init] autorelease];
  NSMutableArray *outputs = [NSMutableArray array];
  for (const Value *result : op.resultValues())
    [outputs
        addObject:[ANEDoubleNode nodeWith:@{@"name" : textOf(result->name)}]];
  ANEDoubleNode *node = [ANEDoubleNode nodeWith:@{
    @"operatorName" : [@"ios18." stringByAppendingString:textOf(op.def().name)],
    @"outputs" : outputs,
    @"blocks" : @[]
  }];
  bool isFloat = op.numResults() > 0 && anec::isFloat(op.result()->type.dtype);
  NSMutableArray *supported = [NSMutableArray arrayWithObject:cpu];
  id preferred = cpu;
  if (isFloat && (units == 1 || units == 2)) {
    [supported addObject:gpu];
    preferred = gpu;
  }
  if (isFloat && units >= 2) {
    [supported addObject:engine];
    bool toGpu = op.def().name == "softmax" && units == 2;
    preferred = toGpu ? gpu : engine;
  }
  [node->properties setObject:[ANEDoubleNode nodeWith:@{
                      @"supportedComputeDevices" : supported,
                      @"preferredComputeDevice" : preferred
                    }]
                       forKey:@"usage"];
  [node->properties setObject:[ANEDoubleNode nodeWith:@{
                      @"weight" : [NSNumber numberWithDouble:1.0 / count]
                    }]
                       forKey:@"cost"];
  return node;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

@interface MLComputePlan : NSObject {
  ANEDoubleNode *structure;
}
@end

@implementation MLComputePlan
- (id)initWithModule:(const Module &)module units:(NSInteger)units {
  NSMutableDictionary *functions = [NSMutableDictionary dictionary];
  for (const auto &function : module.functions) {
    if (ledger().odd == "plans")
      continue;
    NSMutableArray *operations =
        [NSMutableArray arrayWithObject:[ANEDoubleNode nodeWith:@{
                          @"operatorName" : @"const",
                          @"outputs" : @[],
                          @"blocks" : @[]
                        }]];
    for (const Op &op : function->body())
      [operations addObject:nodeOf(op, units, function->body().size())];
    ANEDoubleNode *block =
        [ANEDoubleNode nodeWith:@{@"operations" : operations}];
    [functions setObject:[ANEDoubleNode nodeWith:@{@"block" : block}]
                  forKey:textOf(function->name)];
  }
  ANEDoubleNode *program = [ANEDoubleNode nodeWith:@{@"functions" : functions}];
  structure = [[ANEDoubleNode nodeWith:@{@"program" : program}] retain];
  return self;
}

+ (void)loadContentsOfURL:(NSURL *)url
            configuration:(MLModelConfiguration *)configuration
        completionHandler:(void (^)(MLComputePlan *, NSError *))handler {
  // Another thread answers. The caller waits for it, so the block stays.
  NSInteger units = configuration->computeUnits;
  NSURL *kept = [url retain];
  NSError *failure = nil;
  bool fails = isToFail(&failure);
  [failure retain];
  std::thread([=] {
    @autoreleasepool {
      NSError *error = [failure autorelease];
      MLComputePlan *plan = nil;
      std::unique_ptr<Module> module =
          fails ? nullptr : readCompiled(kept, nil, &error);
      if (module)
        plan = [[[self alloc] initWithModule:*module units:units] autorelease];
      [kept release];
      handler(plan, error);
    }
  }).detach();
}

- (void)dealloc {
  [structure release];
  [super dealloc];
}
- (id)modelStructure {
  return structure;
}
- (id)computeDeviceUsageForMLProgramOperation:(ANEDoubleNode *)operation {
  return [operation->properties objectForKey:@"usage"];
}
- (id)estimatedCostOfMLProgramOperation:(ANEDoubleNode *)operation {
  return [operation->properties objectForKey:@"cost"];
}
@end
