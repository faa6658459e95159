//===- Symbols.h - the engine's order of inputs and outputs -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_SYMBOLS_H
#define ANEC_LIB_RUNTIME_ANE_SYMBOLS_H

#include "Program.h"
#include "anec/Runtime/Backend.h"

namespace anec::ane {

enum class Direction : uint8_t { Input, Output };

/// The procedures that the attributes of a loaded program list; 0 when they
/// list none.
unsigned procedureCount(NSDictionary *attributes);
/// Reads the attributes of a procedure of a loaded program. Attributes of
/// unknown form are ignored.
SymbolTable readSymbolTable(NSDictionary *attributes, Direction direction,
                            unsigned procedure = 0);

/// Which port each surface of a request belongs to, and its index there.
struct SymbolOrder {
  std::vector<unsigned> ports;
  std::vector<unsigned> indices;
};
/// The order of the text.
SymbolOrder declaredOrder(size_t count);
/// The engine's own order, if it is known; otherwise inputs sorted by the bytes
/// of their names, and outputs by those of `name@output`. Returns nothing, with
/// the difference reported, when the engine has other names than `ports`.
[[nodiscard]] std::optional<SymbolOrder>
orderSymbols(llvm::ArrayRef<Port> ports, const SymbolTable &table,
             Direction direction, Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_SYMBOLS_H
