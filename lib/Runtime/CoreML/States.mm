//===- States.mm - reads and writes states of a model ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "States.h"
#include "../Apple/Call.h"

using namespace anec;
using namespace anec::coreml;

/// Calls `visit` with the array of the state `name`. Returns false, with the
/// reason reported, when there is none or `visit` returns NO.
static bool visitState(id<MlState> state, llvm::StringRef name,
                       llvm::function_ref<BOOL(id<MlMultiArray>)> visit,
                       Diagnostics &diags) {
  @autoreleasepool {
    std::optional<FrameworkError> error =
        callFramework(Stage::Evaluate, [&](NSError **reason) -> BOOL {
          BOOL isVisited = NO;
          // Pointers, so that the block has nothing to copy.
          BOOL *result = &isVisited;
          auto *call = &visit;
          [state getMultiArrayForStateNamed:toNSString(name)
                                    handler:^(id<MlMultiArray> array) {
                                      *result = array && (*call)(array);
                                    }];
          return isVisited ||
                 failWith("there is no state `" + name.str() + "` of that type",
                          reason);
        });
    if (error)
      reportFailure(Stage::Evaluate, *error, diags);
    return !error;
  }
}

bool coreml::writeState(id<MlState> state, llvm::StringRef name,
                        llvm::ArrayRef<uint8_t> elements, Diagnostics &diags) {
  return visitState(
      state, name,
      [&](id<MlMultiArray> array) { return copyTo(array, elements); }, diags);
}

bool coreml::readState(id<MlState> state, llvm::StringRef name,
                       llvm::MutableArrayRef<uint8_t> elements,
                       Diagnostics &diags) {
  return visitState(
      state, name,
      [&](id<MlMultiArray> array) { return copyFrom(array, elements); }, diags);
}
