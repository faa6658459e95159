//===- PackedLayout.cpp - several tensors packed into one -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/PackedLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;

Region anec::matrixOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = TensorType(DType::FP16, shape).numElements();
  int64_t columns = shape.size() < 2 ? 1 : shape.back();
  int64_t channels = shape.size() < 2 ? count : 1;
  if (shape.size() >= 2)
    for (int64_t extent : shape.drop_back())
      channels *= extent;
  return {0, 0, channels, columns};
}

PackedLayout anec::packTensors(llvm::ArrayRef<TensorType> tensors,
                               int64_t alignment) {
  PackedLayout layout;
  for (const TensorType &tensor : tensors)
    layout.parts.push_back(matrixOf(tensor.shape));
  int64_t channels = 0;
  bool isAlike = llvm::all_of(layout.parts, [&](const Region &part) {
    channels += part.channels;
    return part.columns == layout.parts.front().columns;
  });
  if (isAlike && (channels <= mostStackedChannels || layout.parts.size() < 2)) {
    for (Region &part : layout.parts) {
      part.channel = layout.channels;
      layout.channels += part.channels;
      layout.columns = part.columns;
    }
    return layout;
  }
  for (bool isNarrow : {false, true})
    for (Region &part : layout.parts)
      if ((part.columns < alignment) == isNarrow) {
        part.column = layout.columns;
        layout.columns =
            int64_t(llvm::alignTo(layout.columns + part.columns, alignment));
        layout.channels = std::max(layout.channels, part.channels);
      }
  return layout;
}

bool anec::isPacked(llvm::ArrayRef<TensorType> tensors) {
  return tensors.size() == 1 && tensors[0].rank() == 2;
}
