//===- Blocks.cpp - the blocks of control flow ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Blocks.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include <cstring>

using namespace anec;

ConstantRef Blocks::make(std::vector<std::unique_ptr<Function>> functions) {
  static_assert(sizeof(void *) == 8, "an address is a uint64");
  std::shared_ptr<const Blocks> blocks(new Blocks(std::move(functions)));
  const auto *bytes = reinterpret_cast<const uint8_t *>(&blocks->self);
  return Constant::view(TensorType(DType::UInt64), DType::UInt64,
                        {bytes, sizeof(self)}, blocks);
}

const Blocks *Blocks::of(const Constant *constant) {
  if (!constant || constant->storedDType() != DType::UInt64 ||
      constant->bytes().size() != sizeof(self))
    return nullptr;
  const uint8_t *bytes = constant->bytes().data();
  const Blocks *blocks = nullptr;
  std::memcpy(&blocks, bytes, sizeof(blocks));
  // `self` is the first member, and so at the address that it has.
  static_assert(std::is_standard_layout_v<Blocks>);
  return reinterpret_cast<const uint8_t *>(blocks) == bytes ? blocks : nullptr;
}

int anec::blocksSlot(const OpDef &def) {
  return def.constantSlot(param::blocks);
}

llvm::ArrayRef<std::unique_ptr<Function>> anec::blocksOf(const Op &op) {
  int slot = blocksSlot(op.def());
  const Blocks *blocks =
      slot < 0 ? nullptr : Blocks::of(op.constants()[slot].get());
  if (!blocks)
    return {};
  return blocks->functions();
}

bool anec::rewriteBlocks(Op &op, llvm::function_ref<bool(Function &)> rewrite) {
  std::vector<std::unique_ptr<Function>> copies;
  bool changed = false;
  for (const auto &block : blocksOf(op)) {
    auto &copy = copies.emplace_back(
        std::make_unique<Function>(block->kind, block->name, block->range));
    copy->opset = block->opset;
    ValueMap map;
    cloneBody(*block, *copy, map);
    changed |= rewrite(*copy);
  }
  if (changed)
    op.setConstant(param::blocks, Blocks::make(std::move(copies)));
  return changed;
}

void anec::setBlockResults(Function &block, llvm::ArrayRef<Value *> values) {
  NameSet names;
  llvm::SmallVector<llvm::StringRef, 4> unique;
  for (const Value *value : values)
    unique.push_back(names.unique(displayName(*value)));
  block.setResults(values, unique);
}

//===----------------------------------------------------------------------===//
// BlockMaker
//===----------------------------------------------------------------------===//

BlockMaker::~BlockMaker() {
  for (Value *placeholder : llvm::reverse(placeholders))
    if (!placeholder->hasUses()) // used only after an error
      function.eraseParameter(placeholder->index());
}

Value *BlockMaker::addPlaceholder(const TensorType &type,
                                  llvm::StringRef name) {
  assert(captured.empty() && blocks.empty() && "placeholders come first");
  placeholders.push_back(function.addParameter(type, name));
  return placeholders.back();
}

/// What stands for `value` in the block.
Value *BlockMaker::inside(Function &block, ValueMap &map, Value *value) {
  if (!value)
    return nullptr;
  auto [found, isNew] = map.try_emplace(value, value);
  if (!isNew)
    return found->second;
  const Op *op = value->definingOp();
  if (op && op->parent() == &block)
    return value;
  if (op && op->def().has(trait::Stored)) {
    Op *copy = copyOp(*op, {});
    block.insert(copy, block.body().empty() ? nullptr : &block.body().front());
    return map[value] = copy->result();
  }
  foundMemory |= value->holder != Holder::Tensor;
  captured.insert(value);
  return map[value] = block.addParameter(value->type, value->name);
}

void BlockMaker::take(Op *last, llvm::ArrayRef<Value *> results,
                      llvm::function_ref<void(const Op &)> erased) {
  auto block =
      std::make_unique<Function>(FunctionKind::Kernel, "block", function.range);
  block->opset = function.opset;
  ValueMap map;
  for (Value *value : placeholders)
    map[value] = block->addParameter(value->type, value->name);
  for (Value *value : captured)
    map[value] = block->addParameter(value->type, value->name);
  llvm::ilist<Op> &body = function.body();
  llvm::SmallVector<Op *, 32> taken;
  for (auto it = last ? std::next(last->getIterator()) : body.begin();
       it != body.end();) {
    Op *op = &*it++;
    body.remove(op);
    block->insert(op);
    taken.push_back(op);
  }
  for (Op *op : taken)
    for (unsigned slot = 0; slot < op->numOperands(); ++slot)
      op->setOperand(slot, inside(*block, map, op->operand(slot)));
  llvm::SmallVector<Value *, 4> values;
  for (Value *value : results) {
    foundMemory |= value->holder != Holder::Tensor;
    values.push_back(inside(*block, map, value));
  }
  setBlockResults(*block, values);
  for (Op *op : llvm::reverse(taken)) {
    bool isUsed = llvm::any_of(op->resultValues(), [](const Value *result) {
      return result->hasUses();
    });
    bool isEffect =
        op->def().has(trait::SideEffect) && blocksSlot(op->def()) < 0;
    if (isUsed || isEffect)
      continue;
    erased(*op);
    op->erase();
  }
  blocks.insert(blocks.begin(), std::move(block));
}

ConstantRef BlockMaker::finish() {
  for (const auto &block : blocks)
    for (size_t i = block->parameters().size() - placeholders.size();
         i < captured.size(); ++i)
      block->addParameter(captured[i]->type, captured[i]->name);
  // Names of parameters differ.
  for (const auto &block : blocks) {
    NameSet names;
    for (const auto &param : block->parameters())
      param->name = names.unique(param->name.empty() ? "x" : param->name).str();
  }
  return Blocks::make(std::move(blocks));
}
