//===- MultiArray.mm - arrays of Core ML ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "MultiArray.h"
#include "Call.h"
#include "Framework.h"
#include <cstring>

using namespace anec;
using namespace anec::apple;

NSInteger apple::dataTypeOf(DType type) {
  switch (type) {
  case DType::FP16:
    return mlFloat16;
  case DType::FP32:
    return mlFloat32;
  case DType::Int32:
    return mlInt32;
  case DType::Int8:
    return mlInt8;
  default:
    return 0;
  }
}

NSArray *apple::numbersOf(llvm::ArrayRef<int64_t> values) {
  NSMutableArray *numbers = [NSMutableArray array];
  for (int64_t value : values)
    [numbers addObject:[NSNumber numberWithLongLong:value]];
  return numbers;
}

std::vector<int64_t> apple::valuesOf(NSArray *numbers) {
  std::vector<int64_t> values;
  for (NSUInteger i = 0; i < [numbers count]; ++i)
    values.push_back([(NSNumber *)[numbers objectAtIndex:i] longLongValue]);
  return values;
}

Shape apple::arrayShape(const TensorType &type) {
  return type.isScalar() ? Shape{1} : type.shape;
}

id<MlMultiArray> apple::wrap(llvm::ArrayRef<uint8_t> memory,
                             const HostArray &array, NSError **error) {
  Shape shape = arrayShape(array.port().type);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  id<MlMultiArray> made = [(id<MlMultiArray>)allocated("MLMultiArray")
      initWithDataPointer:const_cast<uint8_t *>(memory.data())
                    shape:numbersOf(shape)
                 dataType:dataTypeOf(array.elementType())
                  strides:numbersOf(strides)
              deallocator:nil
                    error:error];
  return [made autorelease];
}

NSDictionary *apple::wrapAll(llvm::ArrayRef<HostArray> arrays,
                             NSError **error) {
  NSMutableDictionary *named = [NSMutableDictionary dictionary];
  for (const HostArray &array : arrays) {
    id<MlMultiArray> wrapped = wrap(array.bytes(), array, error);
    if (!wrapped)
      return nil;
    [named setObject:wrapped forKey:toNSString(array.port().name)];
  }
  return named;
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// Calls `visit` with the offset of each element of an array, in order.
template <typename Visit>
static void eachElement(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> strides, int64_t offset,
                        Visit visit) {
  if (shape.empty())
    return visit(offset);
  for (int64_t i = 0; i < shape.front(); ++i)
    eachElement(shape.drop_front(), strides.drop_front(),
                offset + i * strides.front(), visit);
}

/// Calls `visit` with the place in memory of each element of `array` and its
/// offset among `bytes` contiguous ones. NO when there are not as many.
template <typename Visit>
static BOOL eachPlace(id<MlMultiArray> array, size_t bytes, Visit visit) {
  auto *memory = static_cast<uint8_t *>([array dataPointer]);
  std::vector<int64_t> shape = valuesOf([array shape]),
                       strides = valuesOf([array strides]);
  // The lower bits of a data type are those of an element.
  size_t size = size_t([array dataType] & 0xff) / 8, count = 1;
  for (int64_t extent : shape)
    count *= size_t(extent);
  if (!memory || strides.size() != shape.size() || count * size != bytes)
    return NO;
  size_t at = 0;
  eachElement(shape, strides, 0, [&](int64_t offset) {
    visit(memory + offset * int64_t(size), at, size);
    at += size;
  });
  return YES;
}

BOOL apple::copyTo(id<MlMultiArray> array, llvm::ArrayRef<uint8_t> elements) {
  return eachPlace(array, elements.size(),
                   [&](uint8_t *place, size_t at, size_t size) {
                     std::memcpy(place, elements.data() + at, size);
                   });
}

BOOL apple::copyFrom(id<MlMultiArray> array,
                     llvm::MutableArrayRef<uint8_t> elements) {
  return eachPlace(array, elements.size(),
                   [&](const uint8_t *place, size_t at, size_t size) {
                     std::memcpy(elements.data() + at, place, size);
                   });
}

BOOL apple::take(id<MlMultiArray> computed, HostArray &to, NSError **error) {
  const std::string &name = to.port().name;
  if (!computed)
    return failWith("there is no array `" + name + "` among the outputs",
                    error);
  if ([computed dataPointer] == to.bytes().data())
    return YES;
  Shape wanted = arrayShape(to.port().type);
  if (llvm::ArrayRef(wanted) != llvm::ArrayRef(valuesOf([computed shape])) ||
      [computed dataType] != dataTypeOf(to.elementType()) ||
      !copyFrom(computed, to.bytes()))
    return failWith("the output `" + name + "` has another type", error);
  return YES;
}
