//===- Symbols.mm - the engine's order of inputs and outputs --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Symbols.h"
#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::ane;

//===----------------------------------------------------------------------===//
// Attributes of the engine
//===----------------------------------------------------------------------===//

// None of this is documented, so the class of every object is checked before
// use.
static NSArray *arrayAt(NSDictionary *dictionary, NSString *key) {
  if (![dictionary isKindOfClass:[NSDictionary class]])
    return nil;
  id value = [dictionary objectForKey:key];
  return [value isKindOfClass:[NSArray class]] ? (NSArray *)value : nil;
}

static NSDictionary *dictionaryAt(NSArray *array, NSUInteger index) {
  id value = index < [array count] ? [array objectAtIndex:index] : nil;
  return [value isKindOfClass:[NSDictionary class]] ? (NSDictionary *)value
                                                    : nil;
}

static uint64_t numberAt(NSDictionary *dictionary, NSString *key) {
  id value = [dictionary objectForKey:key];
  return [value isKindOfClass:[NSNumber class]]
             ? uint64_t([(NSNumber *)value unsignedLongLongValue])
             : 0;
}

/// The name in the text; the engine calls outputs `y@output`.
static std::string nameInText(id symbol) {
  if (![symbol isKindOfClass:[NSString class]])
    return "";
  std::string name = toString((NSString *)symbol);
  llvm::StringRef stem(name);
  stem.consume_back("@output");
  return stem.str();
}

static void readLayout(NSDictionary *entry, SymbolTable &table) {
  if (![entry isKindOfClass:[NSDictionary class]])
    return;
  // Dumps of different systems have one key or the other.
  std::string name = nameInText([entry objectForKey:@"Name"]);
  if (name.empty() && takes(Measure::EitherKey))
    name = nameInText([entry objectForKey:@"Symbol"]);
  ReportedLayout &layout = table.layouts[name];
  layout.batches = numberAt(entry, @"Batches");
  layout.channels = numberAt(entry, @"Channels");
  // Dumps of tensors of rank 4 have a depth of 1, or none.
  layout.depth = std::max<uint64_t>(numberAt(entry, @"Depth"), 1);
  layout.height = numberAt(entry, @"Height");
  layout.width = numberAt(entry, @"Width");
  layout.rowStride = numberAt(entry, @"RowStride");
  layout.planeStride = numberAt(entry, @"PlaneStride");
  layout.batchStride = numberAt(entry, @"BatchStride");
  layout.interleave = numberAt(entry, @"Interleave");
  id type = [entry objectForKey:@"Type"];
  if ([type isKindOfClass:[NSString class]])
    layout.type = toString((NSString *)type);
}

/// The lists of a procedure that describe inputs or outputs.
static void readLayouts(NSDictionary *status, bool isInput,
                        SymbolTable &table) {
  NSArray *keys =
      isInput ? @[ @"LiveInputList", @"LiveStateList", @"LiveInputParamList" ]
              : @[ @"LiveOutputList" ];
  NSUInteger count = takes(Measure::AllLists) ? [keys count] : 1;
  for (NSUInteger i = 0; i < count; ++i) {
    NSArray *list = arrayAt(status, (NSString *)[keys objectAtIndex:i]);
    for (NSUInteger entry = 0; entry < [list count]; ++entry)
      readLayout((NSDictionary *)[list objectAtIndex:entry], table);
  }
}

/// The description of procedures and their symbols.
static NSDictionary *descriptionIn(NSDictionary *attributes) {
  return [attributes isKindOfClass:[NSDictionary class]]
             ? [attributes objectForKey:@"ANEFModelDescription"]
             : nil;
}

unsigned ane::procedureCount(NSDictionary *attributes) {
  return unsigned(
      [arrayAt(descriptionIn(attributes), @"ANEFModelProcedures") count]);
}

SymbolTable ane::readSymbolTable(NSDictionary *attributes, Direction direction,
                                 unsigned number) {
  SymbolTable table;
  bool isInput = direction == Direction::Input;
  if (![attributes isKindOfClass:[NSDictionary class]])
    return table;
  NSDictionary *description = descriptionIn(attributes);
  NSArray *names =
      arrayAt(description, isInput ? @"kANEFModelInputSymbolsArrayKey"
                                   : @"kANEFModelOutputSymbolsArrayKey");
  NSDictionary *procedure =
      dictionaryAt(arrayAt(description, @"ANEFModelProcedures"), number);
  NSArray *indices =
      arrayAt(procedure, isInput ? @"ANEFModelInputSymbolIndexArray"
                                 : @"ANEFModelOutputSymbolIndexArray");
  // Symbols are numbered across all procedures, and each procedure lists its
  // own. A program has one procedure, and the list may be missing.
  NSUInteger count = indices ? [indices count] : [names count];
  for (NSUInteger i = 0; i < count; ++i) {
    id index = indices ? [indices objectAtIndex:i] : nil;
    NSUInteger symbol = [index isKindOfClass:[NSNumber class]]
                            ? [(NSNumber *)index unsignedIntegerValue]
                            : i;
    if (symbol >= [names count])
      continue;
    table.names.push_back(nameInText([names objectAtIndex:symbol]));
    table.indices.push_back(unsigned(symbol));
  }
  readLayouts(dictionaryAt(arrayAt(attributes, @"NetworkStatusList"), number),
              isInput, table);
  return table;
}

//===----------------------------------------------------------------------===//
// The order of a request
//===----------------------------------------------------------------------===//

SymbolOrder ane::declaredOrder(size_t count) {
  SymbolOrder order;
  for (unsigned port = 0; port < count; ++port) {
    order.ports.push_back(port);
    order.indices.push_back(port);
  }
  return order;
}

static SymbolOrder orderByName(llvm::ArrayRef<Port> ports,
                               Direction direction) {
  SymbolOrder order = declaredOrder(ports.size());
  llvm::StringRef suffix = direction == Direction::Output ? "@output" : "";
  llvm::sort(order.ports, [&](unsigned a, unsigned b) {
    return (ports[a].name + suffix).str() < (ports[b].name + suffix).str();
  });
  return order;
}

std::optional<SymbolOrder> ane::orderSymbols(llvm::ArrayRef<Port> ports,
                                             const SymbolTable &table,
                                             Direction direction,
                                             Diagnostics &diags) {
  if (!takes(Measure::SymbolOrder))
    return declaredOrder(ports.size());
  if (table.names.empty())
    return orderByName(ports, direction);
  SymbolOrder order;
  order.indices = table.indices;
  for (const std::string &name : table.names) {
    auto port = llvm::find_if(
        ports, [&](const Port &candidate) { return candidate.name == name; });
    if (port != ports.end() &&
        !llvm::is_contained(order.ports, unsigned(port - ports.begin())))
      order.ports.push_back(unsigned(port - ports.begin()));
  }
  if (order.ports.size() == ports.size() && table.names.size() == ports.size())
    return order;
  std::vector<std::string> wanted;
  for (const Port &port : ports)
    wanted.push_back(port.name);
  auto list = [](llvm::ArrayRef<std::string> names) {
    return "`" + llvm::join(names, "`, `") + "`";
  };
  diags.report({}, diag::AneSymbolOrder,
               direction == Direction::Input ? "the inputs" : "the outputs",
               list(table.names), list(wanted));
  return std::nullopt;
}
