//===- OutputNames.cpp - names of outputs ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OutputNames.h"
#include "JsonTree.h"

using namespace anec;
using namespace anec::torch;
using llvm::StringRef;

/// The strings in `json`, at any depth.
static void collectTexts(const JsonValue &json,
                         std::vector<std::string> &texts) {
  if (json.isString())
    texts.push_back(json.text().str());
  for (const JsonValue &element : json.elements())
    collectTexts(element, texts);
}

/// The keys of a node of the tree: a JSON text of a list in `context`.
static std::vector<std::string> keysOf(const JsonValue &node, size_t count) {
  std::vector<std::string> keys;
  JsonTree context;
  std::string ignored;
  if (context.parse(node["context"].text(), ignored))
    collectTexts(context.root(), keys);
  // Beside the keys, the context of a class has its name.
  if (keys.size() > count)
    keys.erase(keys.begin(), keys.begin() + long(keys.size() - count));
  return keys.size() == count ? keys : std::vector<std::string>();
}

static void collectNames(const JsonValue &node, const std::string &path,
                         std::vector<std::string> &names) {
  llvm::ArrayRef<JsonValue> children = node["children_spec"].elements();
  if (node["type"].isNull()) {
    names.push_back(path);
    return;
  }
  std::vector<std::string> keys = keysOf(node, children.size());
  for (size_t i = 0; i != children.size(); ++i) {
    std::string step = path;
    if (!keys.empty())
      step += (path.empty() ? "" : "_") + keys[i];
    else if (!path.empty())
      step += "_" + std::to_string(i);
    collectNames(children[i], step, names);
  }
}

std::vector<std::string> torch::outputNames(StringRef spec) {
  std::vector<std::string> names;
  JsonTree tree;
  std::string ignored;
  if (!tree.parse(spec, ignored))
    return names;
  llvm::ArrayRef<JsonValue> parts = tree.root().elements();
  if (parts.size() == 2)
    collectNames(parts[1], "", names);
  return names;
}
