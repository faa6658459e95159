//===- ManifestTest.cpp - manifests that are printed ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/ManifestFields.h"
#include "lib/Support/Json.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace anec;
namespace json = llvm::json;

namespace {

//===----------------------------------------------------------------------===//
// The schema
//===----------------------------------------------------------------------===//

/// What a member holds, or each element of it.
template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::vector<T>> : Held<T> {};
template <typename T>
struct Held<std::optional<T>> : Held<T> {};

using Names = std::vector<std::string>;

Names sortedNames(const json::Array *texts) {
  Names names;
  if (texts)
    for (const json::Value &text : *texts)
      names.push_back(text.getAsString().value_or("no text").str());
  llvm::sort(names);
  return names;
}

/// Compares lists of fields with the definitions of a schema.
class SchemaCheck {
public:
  explicit SchemaCheck(const json::Object &schema) : schema(schema) {}

  template <typename T>
  void compare(T &value, const json::Object &definition, std::string where);

  /// What `rule` refers to, or its items do.
  const json::Object &resolve(const json::Object &rule) const {
    if (const json::Object *items = rule.getObject("items"))
      return resolve(*items);
    llvm::StringRef name = rule.getString("$ref").value_or("");
    const json::Object *definitions = schema.getObject("$defs");
    if (!definitions || !name.consume_front("#/$defs/"))
      return rule;
    const json::Object *definition = definitions->getObject(name);
    return definition ? *definition : rule;
  }

private:
  const json::Object &schema;
};

/// Visits the list of one object.
class SchemaVisitor {
public:
  SchemaVisitor(SchemaCheck &check, const json::Object &definition,
                std::string where)
      : check(check), properties(definition.getObject("properties")),
        where(std::move(where)) {}

  template <typename T>
  void operator()(llvm::StringRef name, T &) {
    member<T>(name, true);
  }
  template <typename T, typename Form>
  void operator()(llvm::StringRef name, T &, Form) {
    add(name, true);
  }
  template <typename T>
  void optional(llvm::StringRef name, T &) {
    member<T>(name, false);
  }
  template <typename T>
  void added(llvm::StringRef name, T &) {
    member<T>(name, false);
  }
  void constant(llvm::StringRef name, llvm::StringRef text) {
    if (const json::Object *rule = add(name, true)) {
      EXPECT_EQ(rule->getString("const"), text) << where << name.str();
    }
  }
  template <typename T, typename List>
  void when(bool, std::optional<T> &, List list) {
    T value{};
    isConditional = true;
    list(value);
    isConditional = false;
  }

  Names names, needed;

private:
  const json::Object *add(llvm::StringRef name, bool isNeeded) {
    names.push_back(name.str());
    if (isNeeded && !isConditional)
      needed.push_back(name.str());
    return properties ? properties->getObject(name) : nullptr;
  }

  template <typename T>
  void member(llvm::StringRef name, bool isNeeded) {
    using Type = typename Held<T>::Type;
    const json::Object *rule = add(name, isNeeded);
    if (!rule)
      return;
    if constexpr (JsonRecord<Type>) {
      Type value{};
      check.compare(value, check.resolve(*rule), where + name.str() + ".");
    } else if constexpr (Worded<Type>) {
      Names words(allWords<Type>().begin(), allWords<Type>().end());
      llvm::sort(words);
      EXPECT_EQ(sortedNames(check.resolve(*rule).getArray("enum")), words)
          << where << name.str();
    }
  }

  SchemaCheck &check;
  const json::Object *properties;
  std::string where;
  bool isConditional = false;
};

template <typename T>
void SchemaCheck::compare(T &value, const json::Object &definition,
                          std::string where) {
  SchemaVisitor visitor(*this, definition, where);
  JsonFields<T>::list(value, visitor);
  llvm::sort(visitor.names);
  llvm::sort(visitor.needed);
  Names names;
  if (const json::Object *properties = definition.getObject("properties"))
    for (const auto &[name, rule] : *properties)
      names.push_back(name.str());
  llvm::sort(names);
  EXPECT_EQ(names, visitor.names) << "the members of `" << where << "`";
  EXPECT_EQ(sortedNames(definition.getArray("required")), visitor.needed)
      << "the members that `" << where << "` always has";
  EXPECT_EQ(definition.getBoolean("additionalProperties"), false) << where;
}

TEST(Manifest, HasTheMembersOfItsSchema) {
  const char *path = std::getenv("ANEC_MANIFEST_SCHEMA");
  if (!path)
    GTEST_SKIP() << "ANEC_MANIFEST_SCHEMA does not name the schema";
  auto text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(text)) << path;
  JsonError error;
  std::optional<json::Value> schema = parseJson((*text)->getBuffer(), error);
  ASSERT_TRUE(schema) << error.message;
  const json::Object *root = schema->getAsObject();
  ASSERT_TRUE(root);
  ModelPackage package;
  Manifest<ModelPackage> manifest{package};
  SchemaCheck(*root).compare(manifest, *root, "");
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

TEST(Manifest, IsNotPrintedLargerThanItIsRead) {
  ModelPackage package;
  package.compiler = "anec test";
  package.kernels.resize(100'000);
  std::string text, error;
  llvm::raw_string_ostream out(text);
  EXPECT_FALSE(printManifest(package, out, error));
  EXPECT_EQ(error, "it has more than 100000 objects");
  EXPECT_EQ(text, "");

  package.kernels.clear();
  EXPECT_TRUE(printManifest(package, out, error));
  EXPECT_NE(text, "");
}

} // namespace
