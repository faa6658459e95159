//===- Foundation.h - what anec uses of Foundation ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations after developer.apple.com/documentation/foundation/NAME, where
/// NAME is in the comment of each class, function and constant, and a member's
/// page is below that of its class. What has no availability of its own has
/// that of its class.
///
//===----------------------------------------------------------------------===//

#pragma once
#include <CoreFoundation/CoreFoundation.h>
#include <objc/NSObject.h>
#include <objc/runtime.h>
#include <os/availability.h>

#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C"
#else
#define FOUNDATION_EXPORT extern
#endif

#pragma clang assume_nonnull begin

@class NSArray<ObjectType>, NSData, NSDictionary<KeyType, ObjectType>, NSError,
    NSNumber, NSString, NSURL;
typedef struct _NSZone NSZone; // nszone

// nscopying
@protocol NSCopying
- (id)copyWithZone:(nullable NSZone *)zone;
@end

// nsfastenumeration
typedef struct {
  unsigned long state;
  id __unsafe_unretained _Nullable *_Nullable itemsPtr;
  unsigned long *_Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)
    countByEnumeratingWithState:(NSFastEnumerationState *)state
                        objects:
                            (id __unsafe_unretained _Nullable[_Nonnull])buffer
                          count:(NSUInteger)len API_AVAILABLE(macos(10.5));
@end

// nsstring
typedef NSUInteger NSStringEncoding;
enum : NSStringEncoding { NSUTF8StringEncoding = 4 };
API_AVAILABLE(macos(10.0))
@interface NSString : NSObject <NSCopying>
@property(readonly) NSUInteger length;
@property(nullable, readonly) const char *UTF8String;
- (NSInteger)compare:(NSString *)other;
+ (nullable instancetype)stringWithUTF8String:(const char *)text;
- (nullable instancetype)initWithBytes:(const void *)bytes
                                length:(NSUInteger)length
                              encoding:(NSStringEncoding)encoding;
@end

// nsdata
API_AVAILABLE(macos(10.0))
@interface NSData : NSObject <NSCopying>
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes;
+ (instancetype)dataWithBytes:(nullable const void *)bytes
                       length:(NSUInteger)length;
+ (nullable instancetype)dataWithContentsOfFile:(NSString *)path;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
@end

// nsnumber
API_AVAILABLE(macos(10.0))
@interface NSNumber : NSObject <NSCopying>
@property(readonly) unsigned int unsignedIntValue;
@property(readonly) long long longLongValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@property(readonly) NSUInteger unsignedIntegerValue API_AVAILABLE(macos(10.5));
+ (NSNumber *)numberWithBool:(BOOL)value;
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned int)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithUnsignedLongLong:(unsigned long long)value;
@end

// nsarray
API_AVAILABLE(macos(10.0))
@interface NSArray<__covariant ObjectType>
    : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (ObjectType)objectAtIndex:(NSUInteger)index;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index
    API_AVAILABLE(macos(10.8));
+ (instancetype)array;
- (NSArray<ObjectType> *)sortedArrayUsingSelector:(SEL)comparator;
+ (instancetype)arrayWithObjects:(const ObjectType _Nonnull[_Nonnull])objects
                           count:(NSUInteger)count;
@end

// nsmutablearray
API_AVAILABLE(macos(10.0))
@interface NSMutableArray<ObjectType> : NSArray <ObjectType>
- (void)addObject:(ObjectType)object;
@end

// nsdictionary
API_AVAILABLE(macos(10.0))
@interface NSDictionary<__covariant KeyType, __covariant ObjectType>
    : NSObject <NSCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<KeyType> *allKeys;
- (nullable ObjectType)objectForKey:(KeyType)key;
- (nullable ObjectType)objectForKeyedSubscript:(KeyType)key
    API_AVAILABLE(macos(10.8));
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithDictionary:
    (NSDictionary<KeyType, ObjectType> *)other;
+ (instancetype)
    dictionaryWithObjects:(const ObjectType _Nonnull[_Nullable])objects
                  forKeys:(const KeyType<NSCopying> _Nonnull[_Nullable])keys
                    count:(NSUInteger)count;
@end

// nsmutabledictionary
API_AVAILABLE(macos(10.0))
@interface NSMutableDictionary<KeyType, ObjectType>
    : NSDictionary <KeyType, ObjectType>
- (void)setObject:(ObjectType)object forKey:(KeyType<NSCopying>)key;
@end

// nsurl
API_AVAILABLE(macos(10.0))
@interface NSURL : NSObject <NSCopying>
@property(nullable, readonly, copy) NSString *path;
+ (NSURL *)fileURLWithPath:(NSString *)path
               isDirectory:(BOOL)isDirectory API_AVAILABLE(macos(10.5));
@end

// nserror
typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
API_AVAILABLE(macos(10.2))
@interface NSError : NSObject <NSCopying>
@property(readonly) NSInteger code;
@property(readonly, copy) NSErrorDomain domain;
@property(readonly, copy) NSDictionary<NSErrorUserInfoKey, id> *userInfo;
@property(readonly, copy) NSString *localizedDescription;
+ (instancetype)
    errorWithDomain:(NSErrorDomain)domain
               code:(NSInteger)code
           userInfo:(nullable NSDictionary<NSErrorUserInfoKey, id> *)userInfo;
@end
// nsunderlyingerrorkey, nslocalizeddescriptionkey
FOUNDATION_EXPORT NSErrorUserInfoKey const
    NSUnderlyingErrorKey API_AVAILABLE(macos(10.0));
FOUNDATION_EXPORT NSErrorUserInfoKey const
    NSLocalizedDescriptionKey API_AVAILABLE(macos(10.0));

// nsexception
typedef NSString *NSExceptionName;
__attribute__((__objc_exception__)) API_AVAILABLE(macos(10.0))
    @interface NSException : NSObject<NSCopying>
@property(readonly, copy) NSExceptionName name;
@property(nullable, readonly, copy) NSString *reason;
@end

// processinfo
API_AVAILABLE(macos(10.0))
@interface NSProcessInfo : NSObject
@property(class, readonly, strong) NSProcessInfo *processInfo;
@property(readonly, copy)
    NSString *operatingSystemVersionString API_AVAILABLE(macos(10.2));
@end

// nstemporarydirectory(), nsclassfromstring(_:), nsselectorfromstring(_:)
FOUNDATION_EXPORT NSString *NSTemporaryDirectory(void)
    API_AVAILABLE(macos(10.0));
FOUNDATION_EXPORT Class _Nullable NSClassFromString(NSString *name)
    API_AVAILABLE(macos(10.0));
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString *name)
    API_AVAILABLE(macos(10.0));

#pragma clang assume_nonnull end
