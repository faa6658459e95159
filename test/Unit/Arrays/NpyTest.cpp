//===- NpyTest.cpp - numpy's array files ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Npy.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace anec;
using namespace anec::test;

namespace {

using Doubles = std::vector<double>;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (int value : values)
    text += char(value);
  return text;
}

/// A file of `version` with this header, and these elements.
std::string npy(std::string header, llvm::StringRef elements,
                unsigned version = 1) {
  std::string text = "\x93NUMPY";
  text += char(version);
  text += '\0';
  header += '\n';
  for (unsigned byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    text += char(header.size() >> 8 * byte & 0xff);
  return text + header + elements.str();
}

std::string header(llvm::StringRef descr, llvm::StringRef shape,
                   llvm::StringRef fortran = "False") {
  return ("{'descr': '" + descr + "', 'fortran_order': " + fortran +
          ", 'shape': " + shape + ", }")
      .str();
}

ConstantRef parseNpy(llvm::StringRef file, Diagnostics &diags) {
  return readNpy(inMemory(file), "x.npy", diags);
}

/// The one error that reading `file` gives, without the words before it.
std::string errorOfNpy(llvm::StringRef file) {
  Diagnostics diags;
  EXPECT_EQ(parseNpy(file, diags), nullptr);
  llvm::StringRef text;
  if (diags.all().size() == 1)
    text = diags.all()[0].message;
  EXPECT_TRUE(text.consume_front("not a .npy file that anec can read: "));
  return text.str();
}

TEST(Npy, ReadsEveryElementType) {
  struct Case {
    const char *descr;
    std::string element;
    DType dtype;
    double value;
  };
  const Case cases[] = {
      {"|b1", bytes({1}), DType::Bool, 1},
      {"|i1", bytes({0xfe}), DType::Int8, -2},
      {"|u1", bytes({0xfe}), DType::UInt8, 254},
      {"<i2", bytes({0xfe, 0xff}), DType::Int16, -2},
      {"<u2", bytes({0xfe, 0xff}), DType::UInt16, 65534},
      {"<i4", bytes({0xfe, 0xff, 0xff, 0xff}), DType::Int32, -2},
      {"<u4", bytes({0, 0, 0, 0x80}), DType::UInt32, 2147483648.0},
      {"<i8", bytes({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
       DType::Int64, -2},
      {"<u8", bytes({7, 0, 0, 0, 0, 0, 0, 0}), DType::UInt64, 7},
      {"<f2", bytes({0x01, 0x00}), DType::FP16, 0x1p-24},
      {"<f4", bytes({0, 0, 0xc0, 0x3f}), DType::FP32, 1.5},
      {"<f8", bytes({0, 0, 0, 0, 0, 0, 0xf8, 0xbf}), DType::FP64, -1.5},
  };
  for (const Case &c : cases) {
    Diagnostics diags;
    ConstantRef array =
        parseNpy(npy(header(c.descr, "(1,)"), c.element), diags);
    ASSERT_NE(array, nullptr) << c.descr << ": " << messages(diags);
    EXPECT_EQ(array->type(), TensorType(c.dtype, {1})) << c.descr;
    EXPECT_EQ(array->doubleAt(0), c.value) << c.descr;
  }
}

TEST(Npy, ReadsVersionsAndShapes) {
  Diagnostics diags;
  for (unsigned version : {1, 2, 3}) {
    ConstantRef array =
        parseNpy(npy(header("|u1", "(2, 3)"), "abcdef", version), diags);
    ASSERT_NE(array, nullptr) << messages(diags);
    EXPECT_EQ(array->type(), TensorType(DType::UInt8, {2, 3}));
  }
  EXPECT_EQ(parseNpy(npy(header("|u1", "()"), "a"), diags)->type(),
            TensorType(DType::UInt8));
  EXPECT_EQ(parseNpy(npy(header("<f4", "(0, 7)"), ""), diags)->type(),
            TensorType(DType::FP32, {0, 7}));
}

TEST(Npy, ReordersFortranOrder) {
  Diagnostics diags;
  ConstantRef array = parseNpy(
      npy(header("|u1", "(2, 3)", "True"), bytes({1, 4, 2, 5, 3, 6})), diags);
  ASSERT_NE(array, nullptr) << messages(diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{1, 2, 3, 4, 5, 6}));
  array = parseNpy(npy(header("|u1", "(2, 1, 2)", "True"), bytes({1, 3, 2, 4})),
                   diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{1, 2, 3, 4}));
}

TEST(Npy, ReadsBigEndianElements) {
  Diagnostics diags;
  ConstantRef array = parseNpy(
      npy(header(">i4", "(2,)"), bytes({0, 0, 1, 2, 255, 255, 255, 255})),
      diags);
  ASSERT_NE(array, nullptr) << messages(diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{258, -1}));
  array = parseNpy(
      npy(header(">f2", "(1, 2)", "True"), bytes({0x3c, 0, 0xc0, 0})), diags);
  ASSERT_NE(array, nullptr) << messages(diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{1, -2}));
  array = parseNpy(
      npy(header(">i2", "(2, 2)", "True"), bytes({0, 1, 0, 3, 0, 2, 0, 4})),
      diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{1, 2, 3, 4}));
  array = parseNpy(npy(header(">u1", "(1,)"), bytes({7})), diags);
  EXPECT_EQ(array->asDoubles(), (Doubles{7}));
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_EQ(errorOfNpy(""), "it does not begin as .npy files do");
  EXPECT_EQ(errorOfNpy("PK\x03\x04"), "it does not begin as .npy files do");
  EXPECT_EQ(errorOfNpy("\x93NUMPY"), "it ends within its header");
  EXPECT_EQ(errorOfNpy(npy(header("<f4", "(1,)"), "abcd", 9)),
            "its format version is unknown");
  EXPECT_EQ(errorOfNpy(npy(header("|O", "(1,)"), "abcd")),
            "its element type is not supported (`|O`)");
  EXPECT_EQ(errorOfNpy(npy(header("<c8", "(1,)"), "abcdefgh")),
            "its element type is not supported (`<c8`)");
  EXPECT_EQ(errorOfNpy(npy("{'descr': [('x', '<f4')], 'fortran_order': False, "
                           "'shape': (1,), }",
                           "abcd")),
            "structured arrays are not supported");
  EXPECT_EQ(errorOfNpy(npy("{'descr': '<f4', 'shape': (1,), }", "abcd")),
            "the header lacks `descr`, `fortran_order` or `shape`");
  EXPECT_EQ(errorOfNpy(npy(header("<f4", "(1,)") + " 1", "abcd")),
            "something follows the header");
  EXPECT_EQ(errorOfNpy(npy(header("<f4", "(-1,)"), "abcd")),
            "`shape` has an extent that is not a size");
  EXPECT_EQ(errorOfNpy(npy(header("<f4", "(2,)"), "abcd")),
            "its shape [2] of `<f4` does not fit its 4 bytes of elements");
  // The product overflows, and is 4 then.
  EXPECT_EQ(errorOfNpy(npy(header("|u1", "(4611686018427387905, 4)"), "abcd")),
            "its shape [4611686018427387905, 4] of `|u1` does not fit its 4 "
            "bytes of elements");
  EXPECT_EQ(errorOfNpy(npy(header("|u1", "(0, 4611686018427387905, 4)"), "")),
            "its shape [0, 4611686018427387905, 4] of `|u1` does not fit its "
            "0 bytes of elements");
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string whole = npy(header("<f4", "(2, 2)"), std::string(16, 'x'));
  for (size_t size = 0; size < whole.size(); ++size) {
    Diagnostics diags;
    EXPECT_EQ(parseNpy(llvm::StringRef(whole).take_front(size), diags),
              nullptr);
    EXPECT_TRUE(diags.hasErrors());
  }
}

TEST(Npy, NamesTheFile) {
  Diagnostics diags;
  EXPECT_EQ(readNpy("no/such.npy", diags), nullptr);
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].file, "no/such.npy");
}

TEST(Npy, WritesWhatNumpyWrites) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ASSERT_TRUE(
      writeNpy(out, *Constant::fromDoubles({DType::FP32, {3}}, {1, 2, 3})));
  std::string expected = npy(header("<f4", "(3,)") + std::string(60, ' '), "");
  EXPECT_EQ(text.substr(0, 128), expected);
  EXPECT_EQ(text.size(), 128u + 12);
}

TEST(Npy, RoundTrips) {
  std::vector<ConstantRef> arrays = {
      Constant::scalar(DType::FP16, 0.1),
      Constant::fromDoubles({DType::Int64, {2, 1}}, {-5, 6}),
      Constant::fromDoubles({DType::UInt8, {0, 3}}, {}),
      Constant::booleans({true, false, true}),
  };
  for (const ConstantRef &array : arrays) {
    std::string text;
    llvm::raw_string_ostream out(text);
    ASSERT_TRUE(writeNpy(out, *array));
    EXPECT_EQ((text.size() - array->bytes().size()) % 64, 0u);
    Diagnostics diags;
    ConstantRef again = parseNpy(text, diags);
    ASSERT_NE(again, nullptr) << messages(diags);
    EXPECT_TRUE(again->equals(*array));
  }
}

TEST(Npy, NumpyHasNoSuchType) {
  std::string text;
  llvm::raw_string_ostream out(text);
  EXPECT_FALSE(writeNpy(out, *Constant::scalar(DType::BF16, 1)));
  EXPECT_FALSE(writeNpy(out, *Constant::string("\xff")));
  EXPECT_EQ(text, "");
}

TEST(Npy, WritesStringsAsUTF32) {
  std::string text;
  llvm::raw_string_ostream out(text);
  EXPECT_TRUE(writeNpy(
      out, *Constant::strings({DType::String, {2}}, {"a", "b\xc3\xb6"})));
  EXPECT_NE(text.find("'<U2'"), std::string::npos);
  EXPECT_EQ(llvm::StringRef(text).take_back(16),
            llvm::StringRef("a\0\0\0\0\0\0\0b\0\0\0\xf6\0\0\0", 16));
}

} // namespace
