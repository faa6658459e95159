//===- TextPrinter.cpp - prints MIL text ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextPrinter.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

void TextPrinter::printHeader(
    StringRef version,
    ArrayRef<std::pair<std::string, std::string>> buildInfo) {
  std::string stringType = spellType({DType::String}, scalars);
  out << "program(" << version << ")\n[buildInfo = dict<" << stringType << ", "
      << stringType << ">({";
  interleaveComma(buildInfo, out, [&](const auto &entry) {
    out << '{';
    writeString(out, entry.first);
    out << ", ";
    writeString(out, entry.second);
    out << '}';
  });
  out << "})]\n{\n";
}

void TextPrinter::printDeclaration(const WrittenDeclaration &declaration) {
  if (declaration.isDictionary)
    out << "dict<" << spellType(declaration.type, scalars) << ", "
        << spellType({DType::FP64}, scalars) << '>';
  else if (declaration.value)
    writeType(out, *declaration.value, scalars);
  else
    writeType(out, declaration.type, scalars);
  out << ' ' << declaration.name;
}

void TextPrinter::beginFunction(StringRef name, StringRef opset,
                                ArrayRef<WrittenDeclaration> parameters) {
  out << "    func " << name << '<' << opset << ">(";
  interleaveComma(parameters, out, [&](const WrittenDeclaration &parameter) {
    printDeclaration(parameter);
  });
  out << ") {\n";
}

void TextPrinter::endFunction(ArrayRef<StringRef> results) {
  out << "    } -> (";
  interleaveComma(results, out);
  out << ");\n";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// `list<string, 2>(["a", "b"])`
void TextPrinter::printList(const Constant &values) {
  out << "list<" << spellType({values.dtype()}, scalars) << ", "
      << values.numElements() << ">([";
  for (int64_t index = 0; index < values.numElements(); ++index) {
    if (index != 0)
      out << ", ";
    writeElement(out, values, index);
  }
  out << "])";
}

void TextPrinter::printArgument(const WrittenArgument &argument) {
  out << argument.name << " = ";
  if (argument.isList)
    return printList(*argument.constant->value);
  if (argument.constant && argument.constant->value)
    return writeValue(out, *argument.constant->value, scalars);
  if (argument.constant)
    return writeBlob(out, argument.constant->type, argument.constant->path,
                     argument.constant->offset, scalars);
  if (argument.isVariadic)
    out << '(';
  interleaveComma(argument.values, out);
  if (argument.isVariadic)
    out << ')';
}

/// The attributes in alphabetical order, `name` among them.
void TextPrinter::printAttributes(const WrittenStatement &statement) {
  bool named = false;
  auto printName = [&] {
    if (std::exchange(named, true))
      return;
    out << "name = ";
    writeType(out, {DType::String}, scalars);
    out << "(\"" << statement.label << "\")";
  };
  StringRef separator;
  for (const WrittenArgument &attribute : statement.attributes) {
    out << separator;
    separator = ", ";
    if (!named && attribute.name > "name") {
      printName();
      out << separator;
    }
    printArgument(attribute);
  }
  if (!named)
    out << separator;
  printName();
}

void TextPrinter::addStatement(const WrittenStatement &statement) {
  out.indent(4 * depth);
  interleaveComma(
      statement.results, out,
      [&](const WrittenDeclaration &result) { printDeclaration(result); });
  if (!statement.results.empty())
    out << " = ";
  out << statement.opName;
  if (!statement.opsetTag.empty())
    out << '<' << statement.opsetTag << '>';
  out << '(';
  interleaveComma(
      statement.arguments, out,
      [&](const WrittenArgument &argument) { printArgument(argument); });
  out << ")[";
  printAttributes(statement);
  out << ']';
  for (const WrittenBlock &block : statement.blocks)
    printBlock(block);
  out << ";\n";
}

/// ` (int32 i) { ... } -> (y)`; without inputs, there are no brackets.
void TextPrinter::printBlock(const WrittenBlock &block) {
  if (!block.inputs.empty()) {
    out << " (";
    interleaveComma(block.inputs, out, [&](const WrittenDeclaration &input) {
      printDeclaration(input);
    });
    out << ')';
  }
  out << " {\n";
  ++depth;
  SmallVector<StringRef, 4> results = block.emit();
  --depth;
  out.indent(4 * depth) << "} -> (";
  interleaveComma(results, out);
  out << ')';
}
