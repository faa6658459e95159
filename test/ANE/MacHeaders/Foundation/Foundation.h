//===- Foundation.h - what the ane backend may use of it -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations of Apple's Foundation, as its public documentation has them:
/// only what the backend calls. With nothing else to see, a source that needs
/// more than macOS has does not compile.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_FOUNDATION_H
#define ANEC_TEST_ANE_FOUNDATION_H

#include <cstddef>

// <objc/objc.h>
typedef struct objc_class *Class;
typedef struct objc_object {
  Class isa;
} * id;
typedef struct objc_selector *SEL;
typedef bool BOOL;
#define YES true
#define NO false
#define nil nullptr
#define Nil nullptr

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef NSUInteger NSStringEncoding;
enum : NSUInteger { NSUTF8StringEncoding = 4 };

@class NSString, NSArray, NSDictionary, NSNumber, NSData;

@protocol NSObject
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)respondsToSelector:(SEL)aSelector;
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject>
+ (instancetype)alloc;
- (instancetype)init;
+ (Class)class;
+ (BOOL)instancesRespondToSelector:(SEL)aSelector;
@end

enum NSComparisonResult : NSInteger;

@interface NSString : NSObject
- (NSComparisonResult)compare:(NSString *)string;
+ (instancetype)stringWithUTF8String:(const char *)nullTerminatedCString;
- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)len
                     encoding:(NSStringEncoding)encoding;
@property(readonly) NSUInteger length;
@property(readonly) const char *UTF8String;
@end

@interface NSURL : NSObject
@property(readonly) NSString *path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)isDir;
@end

@interface NSData : NSObject
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
@property(readonly) const void *bytes;
@property(readonly) NSUInteger length;
@end

@interface NSNumber : NSObject
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned int)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithUnsignedLongLong:(unsigned long long)value;
@property(readonly) long long longLongValue;
@property(readonly) NSUInteger unsignedIntegerValue;
@property(readonly) unsigned int unsignedIntValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@end

typedef struct {
  unsigned long state;
  id *itemsPtr;
  unsigned long *mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@interface NSArray : NSObject
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id[])buffer
                                    count:(NSUInteger)len;
+ (instancetype)array;
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)cnt;
@property(readonly) NSUInteger count;
- (id)objectAtIndex:(NSUInteger)index;
- (NSArray *)sortedArrayUsingSelector:(SEL)comparator;
@end

@interface NSMutableArray : NSArray
- (void)addObject:(id)anObject;
@end

@protocol NSCopying
@end

@interface NSDictionary : NSObject
@property(readonly) NSUInteger count;
+ (instancetype)dictionaryWithObjects:(const id[])objects
                              forKeys:(const id<NSCopying>[])keys
                                count:(NSUInteger)cnt;
+ (instancetype)dictionary;
- (id)objectForKey:(id)aKey;
@property(readonly, copy) NSArray *allKeys;
@end

@interface NSMutableDictionary : NSDictionary
+ (instancetype)dictionaryWithDictionary:(NSDictionary *)dict;
- (void)setObject:(id)anObject forKey:(id<NSCopying>)aKey;
@end

@interface NSString (Copying) <NSCopying>
@end

@interface NSError : NSObject
+ (instancetype)errorWithDomain:(NSString *)domain
                           code:(NSInteger)code
                       userInfo:(NSDictionary *)dict;
@property(readonly, copy) NSString *domain;
@property(readonly) NSInteger code;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSString *localizedDescription;
@end
extern "C" NSString *const NSUnderlyingErrorKey;
extern "C" NSString *const NSLocalizedDescriptionKey;

@interface NSException : NSObject
@property(readonly, copy) NSString *name;
@property(readonly, copy) NSString *reason;
@end

@interface NSProcessInfo : NSObject
+ (NSProcessInfo *)processInfo;
@property(readonly, copy) NSString *operatingSystemVersionString;
@end

extern "C" {
NSString *NSTemporaryDirectory(void);
Class NSClassFromString(NSString *aClassName);
SEL NSSelectorFromString(NSString *aSelectorName);
}

#endif // ANEC_TEST_ANE_FOUNDATION_H
