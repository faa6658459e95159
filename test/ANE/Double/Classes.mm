//===- Classes.mm - the double's in-memory models and requests ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The classes of the engine's framework that the ane backend calls, with what
/// is published of how the real ones fail. A shared library that stands for the
/// framework's binary.
///
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "lib/Support/Digest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ane_double;

@interface _ANEInMemoryModelDescriptor : NSObject {
@public
  NSData *text;
  NSDictionary *weights;
}
@end

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

@interface _ANEDeviceInfo : NSObject
@end

@implementation _ANEDeviceInfo
+ (BOOL)isVirtualMachine {
  return !isToFail(NULL) && ledger().isTrapped("virtual-machine");
}
@end

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

@implementation _ANEInMemoryModelDescriptor
+ (id)modelWithMILText:(NSData *)text
               weights:(NSDictionary *)weights
          optionsPlist:(NSData *)options {
  if (isToFail(NULL))
    return nil;
  // A string is no data.
  if (![text isKindOfClass:[NSData class]])
    return nil;
  _ANEInMemoryModelDescriptor *made = [[[self alloc] init] autorelease];
  made->text = [text retain];
  made->weights = [weights retain];
  return made;
}
- (void)dealloc {
  [text release];
  [weights release];
  [super dealloc];
}
@end

//===----------------------------------------------------------------------===//
// Surfaces and requests
//===----------------------------------------------------------------------===//

@implementation _ANEIOSurfaceObject
+ (id)objectWithIOSurface:(IOSurfaceRef)surface {
  if (isToFail(NULL) || !surface)
    return nil;
  _ANEIOSurfaceObject *made = [[[self alloc] init] autorelease];
  made->surface = (IOSurfaceRef)CFRetain(surface);
  return made;
}
- (void)dealloc {
  if (surface)
    CFRelease(surface);
  [super dealloc];
}
@end

@implementation _ANERequest
/// The form with weights, which frameworks need not have.
+ (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
          weightsBuffer:(id)weightsBuffer
              perfStats:(NSArray *)perfStats
         procedureIndex:(NSNumber *)procedureIndex {
  if (ledger().isTrapped("short-requests"))
    [NSException
         raise:NSInvalidArgumentException
        format:@"+[_ANERequest requestWithInputs:...weightsBuffer:...]: "
               @"unrecognized selector"];
  return [self requestWithInputs:inputs
                    inputIndices:inputIndices
                         outputs:outputs
                   outputIndices:outputIndices
                       perfStats:perfStats
                  procedureIndex:procedureIndex];
}
+ (BOOL)respondsToSelector:(SEL)selector {
  return [super respondsToSelector:selector] &&
         !(ledger().isTrapped("short-requests") &&
           [NSStringFromSelector(selector) rangeOfString:@"weightsBuffer"]
                   .location != NSNotFound);
}
+ (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
              perfStats:(NSArray *)perfStats
         procedureIndex:(NSNumber *)procedureIndex {
  if (isToFail(NULL) || [inputs count] != [inputIndices count] ||
      [outputs count] != [outputIndices count] || !procedureIndex)
    return nil;
  _ANERequest *made = [[[self alloc] init] autorelease];
  made->inputs = [inputs copy];
  made->inputIndices = [inputIndices copy];
  made->outputs = [outputs copy];
  made->outputIndices = [outputIndices copy];
  made->procedureIndex = [procedureIndex unsignedIntegerValue];
  made->perfStatsGiven = [perfStats retain];
  ++ledger().requests;
  return made;
}
- (void)dealloc {
  if (inputs)
    --ledger().requests;
  [inputs release];
  [inputIndices release];
  [outputs release];
  [outputIndices release];
  [perfStatsGiven release];
  [perfStats release];
  [super dealloc];
}
- (id)perfStats {
  return isToFail(NULL) ? nil : perfStats;
}
@end

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// The wrapper's own method, which its inner model calls.
@interface _ANEInMemoryModel (Inner)
- (NSDictionary *)innerAttributes;
@end

static llvm::ArrayRef<uint8_t> bytesOf(NSData *data) {
  return {static_cast<const uint8_t *>([data bytes]), size_t([data length])};
}

/// Text, weights, options: what the real name is a digest of.
static NSString *identify(_ANEInMemoryModelDescriptor *descriptor) {
  std::string weights;
  NSArray *keys = [[descriptor->weights allKeys]
      sortedArrayUsingSelector:@selector(compare:)];
  for (NSString *key in keys) {
    NSDictionary *entry = [descriptor->weights objectForKey:key];
    weights += [key UTF8String];
    weights += anec::sha256(bytesOf([entry objectForKey:@"data"]));
  }
  llvm::ArrayRef<uint8_t> weightBytes(
      reinterpret_cast<const uint8_t *>(weights.data()), weights.size());
  std::string name = anec::sha256(bytesOf(descriptor->text)) + "_" +
                     anec::sha256(weightBytes) + "_" +
                     anec::sha256(llvm::ArrayRef<uint8_t>());
  return [NSString stringWithUTF8String:name.c_str()];
}

@implementation _ANEInMemoryModel
+ (id)inMemoryModelWithDescriptor:(_ANEInMemoryModelDescriptor *)descriptor {
  if (isToFail(NULL) || !descriptor)
    return nil;
  _ANEInMemoryModel *made = [[[self alloc] init] autorelease];
  made->descriptor = [descriptor retain];
  made->identifier = [identify(descriptor) retain];
  ++ledger().models;
  return made;
}

- (void)dealloc {
  if (descriptor)
    --ledger().models;
  // Without unloading, the engine keeps the program: `loaded` stays as it is.
  delete program;
  [descriptor release];
  [identifier release];
  [super dealloc];
}

- (NSString *)hexStringIdentifier {
  return isToFail(NULL) ? nil : identifier;
}

static std::string folderOf(NSString *identifier) {
  return std::string([NSTemporaryDirectory() UTF8String]) + "/" +
         [identifier UTF8String];
}

/// Where the system's daemon keeps what it compiled, by the name of the model.
static std::string cacheOf(NSString *identifier) {
  llvm::SmallString<128> path(
      llvm::sys::path::parent_path([NSTemporaryDirectory() UTF8String]));
  llvm::sys::path::append(path, "GNUstep-aned", [identifier UTF8String]);
  return path.str().str();
}

/// The name of a weight file in the folder, by its key.
static std::string nameIn(NSString *key) {
  std::string path = [key UTF8String];
  const std::string root = "@model_path/";
  return path.rfind(root, 0) ? path : path.substr(root.size());
}

static NSData *contentOf(const std::string &path) {
  return [NSData
      dataWithContentsOfFile:[NSString stringWithUTF8String:path.c_str()]];
}

static std::string digestOf(NSData *data) {
  return anec::sha256(bytesOf(data));
}

/// What the descriptor got for each file.
static NSDictionary *filesOf(_ANEInMemoryModelDescriptor *descriptor) {
  NSMutableDictionary *files =
      [NSMutableDictionary dictionaryWithObject:descriptor->text
                                         forKey:@"model.mil"];
  for (NSString *key in descriptor->weights)
    [files
        setObject:[[descriptor->weights objectForKey:key] objectForKey:@"data"]
           forKey:[NSString stringWithUTF8String:nameIn(key).c_str()]];
  return files;
}

/// A link in the folder or below it; empty for none.
static std::string linkIn(const std::string &folder) {
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, code, false), end;
       it != end && !code; it.increment(code))
    if (llvm::sys::fs::is_symlink_file(it->path()))
      return it->path();
  return llvm::sys::fs::is_symlink_file(folder) ? folder : "";
}

/// Why the compiler's service refuses the staged files: they are links, they
/// are not what the descriptor got, or they are several, which it takes in
/// another order.
static std::string verifyBundle(_ANEInMemoryModelDescriptor *descriptor,
                                const std::string &folder) {
  if (std::string link = linkIn(folder); !link.empty())
    return "refusing model bundle containing a symbolic link: " + link;
  const std::string mismatch = "verifyBundleAtPath: hash mismatch";
  if (ledger().isTrapped("refused-bundles"))
    return "verifyBundleAtPath: invalid model";
  NSDictionary *files = filesOf(descriptor);
  NSData *first = nil;
  for (NSString *name in files) {
    NSData *bytes = [files objectForKey:name];
    if (![bytes isEqual:contentOf(folder + "/" + [name UTF8String])])
      return mismatch;
    if ([name isEqual:@"model.mil"])
      continue;
    if (first && ![first isEqual:bytes])
      return mismatch;
    first = bytes;
  }
  return "";
}

/// What the framework itself writes, once: a copy of the text. The compiler
/// wants it in the folder.
- (BOOL)saveModelFiles {
  std::string folder = folderOf(identifier), file = folder + "/net.plist";
  if (isSaved)
    return llvm::sys::fs::exists(file);
  isSaved = YES;
  return !llvm::sys::fs::create_directories(folder) &&
         [descriptor->text
             writeToFile:[NSString stringWithUTF8String:file.c_str()]
              atomically:YES];
}

- (NSDictionary *)perFileHashes {
  if (isToFail(NULL))
    return nil;
  NSMutableDictionary *hashes = [NSMutableDictionary dictionary];
  NSDictionary *files = filesOf(descriptor);
  for (NSString *name in files)
    [hashes
        setObject:[NSString
                      stringWithUTF8String:digestOf([files objectForKey:name])
                                               .c_str()]
           forKey:name];
  return hashes;
}
- (BOOL)respondsToSelector:(SEL)selector {
  return [super respondsToSelector:selector] &&
         (ledger().system >= 27 || selector != @selector(perFileHashes));
}

- (BOOL)compiledModelExists {
  return !isToFail(NULL) && isCompiled(cacheOf(identifier), "");
}

- (BOOL)compileWithQoS:(unsigned int)qos
               options:(NSDictionary *)options
                 error:(NSError **)error {
  if (isToFail(error))
    return NO;
  // What is too much fails without a word, and so does nil for no weights.
  if (++ledger().compiles > ledger().compileLimit || !descriptor->weights ||
      !options)
    return NO;
  std::set<std::string> paths;
  for (NSString *key in descriptor->weights) {
    NSDictionary *entry = [descriptor->weights objectForKey:key];
    if ([[entry objectForKey:@"data"] isKindOfClass:[NSData class]] &&
        [entry objectForKey:@"offset"])
      paths.insert([key UTF8String]);
  }
  if (![self saveModelFiles])
    return fail(error, "ANECCompile() FAILED: err=(no access to " +
                           folderOf(identifier) + ")");
  if (ledger().system >= 27)
    if (std::string failure = verifyBundle(descriptor, folderOf(identifier));
        !failure.empty())
      return fail(error, failure, 10);
  CompileJob job{folderOf(identifier), "", cacheOf(identifier)};
  job.knownPaths = &paths;
  std::string failure = compile(job);
  return failure.empty() ? YES : fail(error, failure);
}

- (BOOL)loadWithQoS:(unsigned int)qos
            options:(NSDictionary *)options
              error:(NSError **)error {
  if (isToFail(error))
    return NO;
  if (!loadInto(program, cacheOf(identifier), "", error))
    return NO;
  wantStats(program, options);
  return YES;
}

- (BOOL)unloadWithQoS:(unsigned int)qos error:(NSError **)error {
  if (!program)
    return fail(error, "Program is not loaded");
  // It is unloaded even when it says that it is not: nothing can be done.
  unload(program);
  (void)llvm::sys::fs::remove_directories(folderOf(identifier));
  if (ledger().isTrapped("forgets"))
    (void)llvm::sys::fs::remove_directories(cacheOf(identifier));
  return !isToFail(error);
}

- (BOOL)evaluateWithQoS:(unsigned int)qos
                options:(NSDictionary *)options
                request:(_ANERequest *)request
                  error:(NSError **)error {
  if (!evaluate(program, request, error))
    return NO;
  leaveStats(program, options, request);
  return YES;
}

- (NSDictionary *)modelAttributes {
  if (ledger().system >= 27)
    [NSException raise:NSInvalidArgumentException
                format:@"-[_ANEInMemoryModel externConstants]: unrecognized "
                       @"selector"];
  return [self innerAttributes];
}

- (NSDictionary *)innerAttributes {
  return isToFail(NULL) ? nil : attributesOf(program);
}
@end
