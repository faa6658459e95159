//===- FieldMutatorTest.cpp - changes of fields of messages ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Fuzz/FieldMutator.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace anec;
using namespace anec::protobuf;
using llvm::StringRef;

namespace {

Bytes bytesOfText(StringRef text) { return llvm::arrayRefFromStringRef(text); }

/// Fields of all kinds; messages are in fields from 10 on.
std::string randomMessage(std::mt19937 &random, unsigned depth) {
  std::string out;
  size_t count = 1 + random() % 5;
  for (size_t i = 0; i != count; ++i) {
    int number = 1 + int(random() % 5);
    switch (random() % (depth == 0 ? 4 : 6)) {
    case 0:
      appendTag(out, number, Wire::Varint);
      appendNumber(out, Wire::Varint, random());
      break;
    case 1:
      appendTag(out, number, Wire::Fixed32);
      appendNumber(out, Wire::Fixed32, random());
      break;
    case 2:
      appendBytes(out, number, std::string(random() % 9, 'a'));
      break;
    case 3:
      appendBytes(out, number, StringRef("\x01\x02\x03", random() % 4));
      break;
    default:
      appendBytes(out, 10 + number, randomMessage(random, depth - 1));
    }
  }
  return out;
}

bool isMessage(StringRef text) {
  return forEachField(bytesOfText(text), [](const Field &) { return true; });
}

/// In place of LLVMFuzzerMutate.
size_t flip(uint8_t *data, size_t size, size_t maxSize) {
  EXPECT_LE(size, maxSize);
  if (size == 0)
    data[size++] = 'x';
  data[size - 1] ^= 1;
  return size;
}

TEST(FieldMutator, ChangedMessagesAreMessages) {
  std::mt19937 random(7);
  std::set<std::string> found;
  unsigned changed = 0, crossed = 0;
  for (unsigned i = 0; i != 5000; ++i) {
    std::string message = randomMessage(random, 4);
    auto result = mutateFields(bytesOfText(message), random, flip);
    ASSERT_TRUE(result);
    EXPECT_TRUE(isMessage(*result));
    changed += *result != message;
    found.insert(*result);
    std::string other = randomMessage(random, 4);
    auto both = crossFields(bytesOfText(message), bytesOfText(other), random);
    ASSERT_TRUE(both);
    EXPECT_TRUE(isMessage(*both));
    crossed += *both != message;
  }
  EXPECT_GT(changed, 4000u);
  EXPECT_GT(crossed, 4000u);
  EXPECT_GT(found.size(), 4000u);
}

TEST(FieldMutator, EqualSeedsChangeAlike) {
  std::mt19937 first(3), second(3), messages(5);
  std::string message = randomMessage(messages, 4);
  for (unsigned i = 0; i != 100; ++i)
    EXPECT_EQ(mutateFields(bytesOfText(message), first, flip),
              mutateFields(bytesOfText(message), second, flip));
}

TEST(FieldMutator, ChangesInnerMessages) {
  // Field 1 of field 11 of field 11.
  std::string inner, middle, outer;
  appendTag(inner, 1, Wire::Varint);
  appendNumber(inner, Wire::Varint, 5);
  appendBytes(middle, 11, inner);
  appendBytes(outer, 11, middle);
  std::mt19937 random(1);
  std::set<uint64_t> numbers;
  for (unsigned i = 0; i != 2000; ++i) {
    std::string result = *mutateFields(bytesOfText(outer), random, flip);
    auto within = [](Bytes bytes, auto next) {
      (void)forEachField(bytes, [&](const Field &field) {
        if (field.number == 11)
          next(field.bytes);
        return true;
      });
    };
    within(bytesOfText(result), [&](Bytes found) {
      within(found, [&](Bytes leaf) {
        (void)forEachField(leaf, [&](const Field &field) {
          numbers.insert(field.number64);
          return true;
        });
      });
    });
  }
  EXPECT_GT(numbers.size(), 50u);
  EXPECT_TRUE(numbers.count(uint64_t(INT64_MIN)));
}

TEST(FieldMutator, NothingOfWhatIsNoMessage) {
  std::mt19937 random(1);
  EXPECT_FALSE(mutateFields({}, random, flip));
  EXPECT_FALSE(mutateFields(bytesOfText("x"), random, flip));
  std::string message = randomMessage(random, 2);
  EXPECT_FALSE(crossFields(bytesOfText(message), bytesOfText("x"), random));
}

} // namespace
