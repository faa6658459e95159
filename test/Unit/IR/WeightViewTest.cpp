//===- WeightViewTest.cpp - views of weights ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Views are compared with a list of element numbers that each step rearranges
/// by computing one index after the other.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/WeightView.h"
#include "lib/Package/ViewJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace anec;
using Kind = ViewStep::Kind;

//===----------------------------------------------------------------------===//
// The other way to say it
//===----------------------------------------------------------------------===//

namespace {

/// An array whose elements are numbers of source elements from 1; 0 is padding.
struct Numbered {
  Shape shape;
  std::vector<double> elements;

  static Numbered all(Shape shape) {
    Numbered array{shape, {}};
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t number = 1; number <= count; ++number)
      array.elements.push_back(double(number));
    return array;
  }

  double at(const std::vector<int64_t> &index) const {
    int64_t place = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (index[axis] < 0 || index[axis] >= shape[axis])
        return 0;
      place = place * shape[axis] + index[axis];
    }
    return elements[size_t(place)];
  }

  Numbered after(const ViewStep &step) const {
    if (step.kind == Kind::Reshape)
      return {step.first, elements};
    Numbered result{shape, {}};
    int64_t count = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t &extent = result.shape[axis];
      if (step.kind == Kind::Slice)
        extent = step.second[axis] - step.first[axis];
      else if (step.kind == Kind::Pad)
        extent += step.first[axis] + step.second[axis];
      else
        extent = shape[size_t(step.first[axis])];
      count *= extent;
    }
    for (int64_t number = 0; number < count; ++number) {
      std::vector<int64_t> index(shape.size()), source(shape.size());
      int64_t rest = number;
      for (size_t axis = shape.size(); axis-- > 0;) {
        index[axis] = rest % result.shape[axis];
        rest /= result.shape[axis];
      }
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (step.kind == Kind::Slice)
          source[axis] = index[axis] + step.first[axis];
        else if (step.kind == Kind::Pad)
          source[axis] = index[axis] - step.first[axis];
        else
          source[size_t(step.first[axis])] = index[axis];
      }
      result.elements.push_back(at(source));
    }
    return result;
  }
};

class RandomViews {
public:
  explicit RandomViews(unsigned seed) : random(seed) {}

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Shape shape() {
    Shape result;
    for (int64_t rank = number(0, 4); rank > 0; --rank)
      result.push_back(number(0, 2) ? number(1, 6) : 1);
    return result;
  }

  /// A step that fits `shape`.
  ViewStep step(const Shape &shape, bool pads = true) {
    Shape first, second;
    switch (number(0, pads ? 3 : 2)) {
    case 0:
      for (int64_t extent : shape) {
        bool whole = number(0, 1);
        first.push_back(whole ? 0 : number(0, extent - 1));
        second.push_back(whole ? extent : number(first.back() + 1, extent));
      }
      return ViewStep::slice(first, second);
    case 1:
      first.resize(shape.size());
      std::iota(first.begin(), first.end(), 0);
      std::shuffle(first.begin(), first.end(), random);
      return ViewStep::permute(first);
    case 2:
      return ViewStep::reshape(factors(shape));
    default:
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        first.push_back(number(0, 3) ? 0 : number(0, 3));
        second.push_back(number(0, 3) ? 0 : number(0, 3));
      }
      return ViewStep::pad(first, second);
    }
  }

private:
  /// Extents of as many elements as `shape` has: often its own, split and
  /// joined here and there.
  Shape factors(const Shape &shape) {
    std::vector<int64_t> result(shape.begin(), shape.end());
    for (int64_t change = number(1, 4); change > 0; --change) {
      size_t axis = size_t(number(0, int64_t(result.size())));
      if (axis == result.size() || number(0, 3) == 0) {
        if (result.size() < 6)
          result.insert(result.begin() + int64_t(axis), 1);
      } else if (number(0, 1) && axis + 1 < result.size()) {
        result[axis] *= result[axis + 1];
        result.erase(result.begin() + int64_t(axis) + 1);
      } else {
        int64_t factor = number(1, 6);
        if (result[axis] % factor || result.size() >= 6)
          continue;
        result[axis] /= factor;
        result.insert(result.begin() + int64_t(axis), factor);
      }
    }
    return Shape(result.begin(), result.end());
  }

  std::mt19937 random;
};

std::vector<double> elementsOf(const ArrayView &view) {
  WeightView weight{"w", {}, DType::FP32, view};
  return weight.materialize(
      llvm::ArrayRef<double>(Numbered::all(view.sourceShape()).elements));
}

/// What its own comment promises of a canonical view.
void expectCanonical(const ArrayView &view) {
  Shape shape = view.sourceShape();
  const ViewStep *last = nullptr;
  for (const ViewStep &step : view.steps()) {
    EXPECT_EQ(step.misfit(shape), "");
    if (last) {
      EXPECT_NE(unsigned(last->kind), unsigned(step.kind)) << view.str();
      if (last->kind != Kind::Reshape && last->kind > step.kind)
        // What a slice has left of a padding is zeros alone.
        EXPECT_TRUE(last->kind == Kind::Pad && step.kind == Kind::Slice)
            << view.str();
    }
    Shape after = step.apply(shape);
    bool isIdentity = Numbered::all(shape).elements ==
                          Numbered::all(shape).after(step).elements &&
                      after == shape;
    EXPECT_FALSE(isIdentity) << view.str();
    if (step.kind == Kind::Permute)
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] == 1)
          EXPECT_EQ(step.first[axis], int64_t(axis)) << view.str();
    shape = after;
    last = &step;
  }
  EXPECT_EQ(view.shape(), shape);
}

std::string text(llvm::StringRef steps, Shape shape) {
  std::string why;
  std::optional<ArrayView> view = ArrayView::parse(steps, shape, why);
  return view ? view->str() : "error: " + why;
}

std::string weightText(llvm::StringRef line) {
  std::string why;
  std::optional<WeightView> view = WeightView::parse(line, why);
  return view ? view->str() : "error: " + why;
}

std::string manifestOf(const WeightView &view) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  llvm::json::OStream out(stream);
  writeFields(view, out);
  return line;
}

std::string jsonText(llvm::StringRef object) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(object);
  if (!value)
    return "not JSON: " + llvm::toString(value.takeError());
  JsonMisfit misfit;
  WeightView view;
  if (readFields(*value, view, JsonPath(misfit)))
    return view.str();
  return "error: " + misfit.str("view");
}

} // namespace

//===----------------------------------------------------------------------===//
// Random sequences
//===----------------------------------------------------------------------===//

static constexpr int cases = 8000;

TEST(WeightView, HasTheElementsThatItsStepsSay) {
  RandomViews random(1);
  for (int number = 0; number < cases; ++number) {
    Numbered expected = Numbered::all(random.shape());
    ArrayView view(expected.shape);
    std::string written;
    for (int64_t count = random.number(0, 7); count > 0; --count) {
      ViewStep step = random.step(expected.shape);
      ASSERT_EQ(step.misfit(expected.shape), "");
      view = view.then(step);
      expected = expected.after(step);
      if (expected.elements.size() > 20000)
        break;
    }
    ASSERT_EQ(view.shape(), expected.shape) << view.str();
    ASSERT_EQ(elementsOf(view), expected.elements) << view.str();
    expectCanonical(view);

    std::string why;
    std::optional<ArrayView> parsed =
        ArrayView::parse(view.str(), view.sourceShape(), why);
    ASSERT_TRUE(parsed) << view.str() << ": " << why;
    EXPECT_EQ(*parsed, view) << view.str();
    EXPECT_EQ(hash_value(*parsed), hash_value(view));

    WeightInstance instances[] = {
        {}, WeightInstance::own(), WeightInstance::of(number)};
    WeightView weight{"layer.w", instances[number % 3], DType::FP16, view};
    EXPECT_EQ(jsonText(manifestOf(weight)), weight.str());
    EXPECT_EQ(weightText(weight.str()), weight.str());
  }
}

TEST(WeightView, ComposesAsItsParts) {
  RandomViews random(2);
  for (int number = 0; number < cases; ++number) {
    ArrayView first(random.shape());
    for (int64_t count = random.number(0, 3); count > 0; --count)
      first = first.then(random.step(first.shape()));
    ArrayView second(first.shape());
    Numbered expected{first.shape(), elementsOf(first)};
    for (int64_t count = random.number(0, 3); count > 0; --count) {
      ViewStep step = random.step(second.shape());
      second = second.then(step);
      expected = expected.after(step);
    }
    ArrayView both = first.compose(second);
    ASSERT_EQ(elementsOf(both), expected.elements)
        << first.str() << " | " << second.str() << " | " << both.str();
    EXPECT_EQ(both.shape(), second.shape());
    expectCanonical(both);
  }
}

TEST(WeightView, InverseScattersWhatTheViewTakes) {
  RandomViews random(3);
  for (int number = 0; number < cases; ++number) {
    ArrayView view(random.shape());
    for (int64_t count = random.number(0, 5); count > 0; --count)
      view = view.then(random.step(view.shape()));
    std::vector<double> taken = elementsOf(view);
    std::vector<double> expected(Numbered::all(view.sourceShape()).elements);
    std::fill(expected.begin(), expected.end(), 0.0);
    for (size_t place = 0; place < taken.size(); ++place)
      if (taken[place] != 0)
        expected[size_t(taken[place]) - 1] = double(place + 1);
    ArrayView inverse = view.inverse();
    EXPECT_EQ(inverse.sourceShape(), view.shape());
    EXPECT_EQ(inverse.shape(), view.sourceShape());
    ASSERT_EQ(elementsOf(inverse), expected) << view.str();
    EXPECT_EQ(elementsOf(inverse.inverse()), elementsOf(view)) << view.str();
  }
}

TEST(WeightView, InverseAndViewAreNothing) {
  RandomViews random(4);
  for (int number = 0; number < cases; ++number) {
    ArrayView view(random.shape());
    bool slices = false;
    for (int64_t count = random.number(0, 6); count > 0; --count)
      view = view.then(random.step(view.shape(), /*pads=*/false));
    for (const ViewStep &step : view.steps())
      slices |= step.kind == Kind::Slice;
    EXPECT_TRUE(view.inverse().compose(view).isIdentity())
        << view.str() << " | " << view.inverse().str();
    if (!slices)
      EXPECT_TRUE(view.compose(view.inverse()).isIdentity())
          << view.str() << " | " << view.inverse().str();
  }
}

TEST(WeightView, KnowsWhenElementsLieTogether) {
  RandomViews random(5);
  int together = 0, missed = 0;
  for (int number = 0; number < cases; ++number) {
    ArrayView view(random.shape());
    for (int64_t count = random.number(0, 3); count > 0; --count)
      view = view.then(random.step(view.shape(), /*pads=*/false));
    std::vector<double> elements = elementsOf(view);
    bool follow = true;
    for (size_t place = 1; place < elements.size(); ++place)
      follow &= elements[place] == elements[place - 1] + 1;
    std::optional<int64_t> offset = view.contiguousOffset();
    if (offset) {
      ASSERT_TRUE(follow) << view.str();
      EXPECT_EQ(double(*offset + 1), elements[0]);
    }
    together += follow;
    missed += follow && !offset;
    EXPECT_EQ(elementsOf(view.withoutLastReshape()), elements);
  }
  EXPECT_GT(together, cases / 4);
  // Slices that cannot come before a permutation, and undo it.
  EXPECT_LE(missed, cases / 1000);
}

//===----------------------------------------------------------------------===//
// The canonical form
//===----------------------------------------------------------------------===//

TEST(WeightView, MergesSteps) {
  EXPECT_EQ(text("permute[1, 2, 0] permute[1, 2, 0]", {2, 3, 4}),
            "permute[2, 0, 1]");
  EXPECT_EQ(text("permute[1, 0] permute[1, 0]", {2, 3}), "");
  EXPECT_EQ(text("reshape[6] reshape[3, 2]", {2, 3}), "reshape[3, 2]");
  EXPECT_EQ(text("reshape[6] reshape[2, 3]", {2, 3}), "");
  EXPECT_EQ(text("slice[1:5, :] slice[1:3, :]", {6, 2}), "slice[2:4, :]");
  EXPECT_EQ(text("slice[0:6, 0:2]", {6, 2}), "");
  EXPECT_EQ(text("pad[1:0, :] pad[1:2, 0:1]", {6, 2}), "pad[2:2, 0:1]");
  EXPECT_EQ(text("pad[1:1] slice[1:4]", {3}), "");
  EXPECT_EQ(text("pad[2:2] slice[1:6]", {3}), "pad[1:1]");
  EXPECT_EQ(text("pad[2:0] slice[0:1]", {3}), "pad[2:0] slice[0:1]");
  EXPECT_EQ(text("permute[1, 0] slice[0:2, 1:2]", {3, 4}),
            "slice[1:2, 0:2] reshape[2, 1]");
}

TEST(WeightView, MovesAxesOfOneElementByReshapes) {
  EXPECT_EQ(text("permute[1, 0]", {1, 3}), "reshape[3, 1]");
  EXPECT_EQ(text("permute[2, 1, 0]", {2, 1, 3}), "permute[2, 1, 0]");
  EXPECT_EQ(text("permute[1, 2, 0]", {2, 1, 3}),
            "permute[2, 1, 0] reshape[1, 3, 2]");
  EXPECT_EQ(text("reshape[2, 3, 1, 1] permute[1, 0, 2, 3]", {2, 3}),
            "permute[1, 0] reshape[3, 2, 1, 1]");
  EXPECT_EQ(text("reshape[2, 3] permute[1, 0]", {2, 1, 3}),
            "permute[2, 1, 0] reshape[3, 2]");
}

TEST(WeightView, PutsSlicesFirst) {
  EXPECT_EQ(text("permute[1, 0] slice[0:2, 1:3]", {4, 3}),
            "slice[1:3, 0:2] permute[1, 0]");
  EXPECT_EQ(text("reshape[4, 3, 1, 1] slice[1:3, :, :, :]", {4, 3}),
            "slice[1:3, :] reshape[2, 3, 1, 1]");
  EXPECT_EQ(text("reshape[2, 2, 3] slice[1:2, :, :]", {4, 3}),
            "slice[2:4, :] reshape[1, 2, 3]");
  EXPECT_EQ(text("reshape[12] slice[3:9]", {4, 3}), "slice[1:3, :] reshape[6]");
  // Half a row more than ranges can say.
  EXPECT_EQ(text("reshape[12] slice[3:8]", {4, 3}), "reshape[12] slice[3:8]");
  EXPECT_EQ(text("reshape[6, 2] permute[1, 0]", {6, 1, 2}),
            "permute[2, 1, 0] reshape[2, 6]");
  EXPECT_EQ(text("reshape[2, 12] permute[1, 0]", {2, 3, 4}),
            "permute[1, 2, 0] reshape[12, 2]");
  EXPECT_EQ(text("reshape[3, 4] permute[1, 0]", {2, 6}),
            "reshape[3, 4] permute[1, 0]");
}

TEST(WeightView, ComparesAndHashes) {
  WeightView view{"attention.wq", WeightInstance::own(), DType::FP16,
                  ArrayView({4, 6})};
  auto differs = [&](auto change) {
    WeightView other = view;
    change(other);
    EXPECT_NE(other, view);
    EXPECT_NE(hash_value(other), hash_value(view));
  };
  differs([](WeightView &other) { other.weight = "attention.wk"; });
  differs([](WeightView &other) { other.instance = {}; });
  differs([](WeightView &other) { other.instance = WeightInstance::of(0); });
  differs([](WeightView &other) { other.dtype = DType::FP32; });
  differs([](WeightView &other) { other.array = ArrayView({6, 4}); });
  differs([](WeightView &other) { other.array = other.array.permute({1, 0}); });
  WeightView same = view;
  same.array = same.array.permute({1, 0}).reshape({6, 4, 1}).permute({1, 0, 2});
  same.array = same.array.reshape({4, 6});
  EXPECT_EQ(same, view);
  EXPECT_EQ(hash_value(same), hash_value(view));
}

TEST(WeightInstance, ResolvesToAnInstance) {
  EXPECT_EQ(WeightInstance().resolve(3), std::nullopt);
  EXPECT_EQ(WeightInstance::own().resolve(3), 3);
  EXPECT_EQ(WeightInstance::own().resolve(std::nullopt), std::nullopt);
  EXPECT_EQ(WeightInstance::of(2).resolve(3), 2);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

TEST(WeightView, CopiesLargePlanes) {
  // Beyond the squares that a plane is copied by, and not a multiple of them.
  for (Shape shape : {Shape{70, 45}, Shape{3, 70, 45}, Shape{33, 2, 65}}) {
    Shape order(shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
    Shape begin(shape.size(), 1);
    for (ArrayView view :
         {ArrayView(shape).permute(order), ArrayView(shape).slice(begin, shape),
          ArrayView(shape).slice(begin, shape).permute(order),
          ArrayView(shape).pad(begin, begin).permute(order)}) {
      Numbered expected = Numbered::all(shape);
      for (const ViewStep &step : view.steps())
        expected = expected.after(step);
      EXPECT_EQ(elementsOf(view), expected.elements) << view.str();
      WeightView weight{"w", {}, DType::FP32, view};
      std::vector<double> all = Numbered::all(shape).elements;
      std::vector<float> floats(all.begin(), all.end());
      std::vector<float> same(expected.elements.begin(),
                              expected.elements.end());
      EXPECT_EQ(weight.materialize(llvm::ArrayRef<float>(floats)), same);
    }
  }
}

TEST(WeightView, KeepsTheStoredElementType) {
  TensorType type(DType::FP16, {2, 3});
  std::vector<float> stored = {0, 1, 2, 3, 4, 5};
  ConstantRef floats = Constant::view(
      type, DType::FP32,
      {reinterpret_cast<const uint8_t *>(stored.data()), 6 * sizeof(float)},
      std::shared_ptr<const void>(std::shared_ptr<void>(), stored.data()));
  ConstantRef bytes =
      Constant::fromDoubles({DType::UInt8, {2, 3}}, {0, 1, 2, 3, 4, 5});
  for (auto [source, dtype] :
       {std::pair(floats, DType::FP32), std::pair(bytes, DType::UInt8)}) {
    WeightView view{"w",
                    {},
                    source->dtype(),
                    ArrayView({2, 3}).slice({0, 1}, {2, 3}).permute({1, 0})};
    ConstantRef value = view.materialize(source);
    EXPECT_EQ(value->type(), view.type());
    EXPECT_EQ(value->storedDType(), dtype);
    EXPECT_EQ(value->asDoubles(), (std::vector<double>{1, 4, 2, 5}));
  }
}

TEST(WeightView, DoesNotCopyWhatLiesTogether) {
  std::vector<double> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0);
  ConstantRef stored = Constant::fromDoubles({DType::FP32, {4, 6}}, numbers);
  WeightView view{"w", {}, DType::FP32, ArrayView({4, 6})};
  EXPECT_EQ(view.materialize(stored).get(), stored.get());
  view.array = view.array.reshape({24, 1});
  EXPECT_EQ(view.materialize(stored)->bytes().data(), stored->bytes().data());
  view.array = ArrayView({4, 6}).slice({1, 0}, {3, 6}).reshape({12});
  ConstantRef part = view.materialize(stored);
  EXPECT_EQ(part->bytes().data(), stored->bytes().data() + 24);
  EXPECT_EQ(part->doubleAt(0), 6);
  // A small constant has its elements in itself.
  ConstantRef small = Constant::fromDoubles({DType::FP32, {2}}, {7, 8});
  view.array = ArrayView(Shape{2}).slice({1}, {2});
  part = view.materialize(small);
  small = nullptr;
  EXPECT_EQ(part->asDoubles(), std::vector<double>{8});
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(WeightView, PrintsAndReadsText) {
  for (llvm::StringRef line :
       {"w: fp32", "w: fp16[2]", "attention.wq[i]: fp16[4, 6] permute[1, 0]",
        "attention.wq[12]: fp32[4, 6] slice[1:3, :] pad[0:1, 2:0] "
        "permute[1, 0] reshape[8, 3, 1]",
        "\"a b\\\"[i]\": fp16[2]", "\"\\\\\": fp16[2]", "\"\": fp16[2]"})
    EXPECT_EQ(weightText(line), line.str());
  EXPECT_EQ(weightText("  w [ 3 ] :fp16[ 2,3 ]permute[ 1,0 ]  "),
            "w[3]: fp16[2, 3] permute[1, 0]");
  EXPECT_EQ(text("slice[0 : 1]", {1}), "");
  EXPECT_EQ(text("reshape[]", {1}), "reshape[]");
}

TEST(WeightView, RefusesStepsThatDoNotFit) {
  EXPECT_EQ(text("permute[0, 2]", {2, 3}),
            "error: `[0, 2]` is not a permutation of 2 axes");
  EXPECT_EQ(text("permute[0, 0]", {2, 3}),
            "error: `[0, 0]` is not a permutation of 2 axes");
  EXPECT_EQ(text("permute[0]", {2, 3}),
            "error: `permute` has 1 axes, and `[2, 3]` has 2");
  EXPECT_EQ(text("slice[:]", {2, 3}),
            "error: `slice` has 1 axes, and `[2, 3]` has 2");
  EXPECT_EQ(text("slice[:, :, :]", {2, 3}),
            "error: `slice` has 3 axes, and `[2, 3]` has 2");
  EXPECT_EQ(text("slice[1:1]", {2}),
            "error: `1:1` is not a range of an axis of 2");
  EXPECT_EQ(text("slice[1:3]", {2}),
            "error: `1:3` is not a range of an axis of 2");
  EXPECT_EQ(text("reshape[2, 2]", {2, 3}),
            "error: `[2, 3]` cannot be reshaped to `[2, 2]`");
  EXPECT_EQ(text("reshape[6, 0]", {2, 3}),
            "error: `[2, 3]` cannot be reshaped to `[6, 0]`");
  EXPECT_EQ(text("pad[2147483647:1]", {2}), "error: `[2]` gets too large");
  EXPECT_EQ(text("pad[99999999999:0]", {2}),
            "error: `99999999999:0` is not an amount of padding");
  // Too many elements to count, though each extent is fine.
  EXPECT_EQ(text("pad[2000000000:0, 2000000000:0, 2000000000:0]", {1, 1, 1}),
            "error: `[1, 1, 1]` gets too large");
}

TEST(WeightView, RefusesBrokenText) {
  EXPECT_EQ(text("turn[0]", {2}),
            "error: there should be `slice`, `pad`, `permute` or `reshape` at "
            "`turn[0]`");
  EXPECT_EQ(text("slice", {2}), "error: there should be `[` at the end");
  EXPECT_EQ(text("slice[", {2}), "error: there should be a number at the end");
  EXPECT_EQ(text("slice[0:1", {2}), "error: there should be `,` at the end");
  EXPECT_EQ(text("slice[-1:1]", {2}),
            "error: there should be a number at `-1:1]`");
  EXPECT_EQ(text("reshape[18446744073709551618]", {2}),
            "error: there should be a number at `18446744073709551618`");
  EXPECT_EQ(text("reshape[2,]", {2}), "error: there should be a number at `]`");
  std::string many;
  for (size_t count = 0; count < maxViewSteps; ++count)
    many += "permute[1, 0] ";
  EXPECT_EQ(text(many, {2, 3}), "");
  EXPECT_EQ(text(many + "permute[1, 0]", {2, 3}),
            "error: there are more than 64 steps");

  EXPECT_EQ(weightText(""),
            "error: there should be the name of a weight at the end");
  EXPECT_EQ(weightText("\"w: fp16[2]"),
            "error: there should be `\"` at the end");
  EXPECT_EQ(weightText("\"w\\"), "error: there should be `\"` at the end");
  EXPECT_EQ(weightText("w[j]: fp16"),
            "error: there should be a number at `j]: fp16`");
  EXPECT_EQ(weightText("w[i: fp16"), "error: there should be `]` at `: fp16`");
  EXPECT_EQ(weightText("w fp16"), "error: there should be `:` at `fp16`");
  for (llvm::StringRef dtype : {"fp17[2]", "string[2]", "uint4[2]"})
    EXPECT_EQ(weightText("w: " + dtype.str()),
              "error: there should be an element type of whole bytes at `" +
                  dtype.str() + "`");
  EXPECT_EQ(weightText("w: fp16[0]"),
            "error: `[0]` cannot be reshaped to `[0]`");
}

TEST(WeightView, PrintsAndReadsObjects) {
  std::string why;
  std::string line = "layer.w[i]: fp16[4, 6] slice[1:3, :] pad[0:1, 2:0] "
                     "permute[1, 0] reshape[8, 3, 1]";
  std::string object = manifestOf(*WeightView::parse(line, why));
  EXPECT_EQ(object, R"({"weight":"layer.w","instance":"own","dtype":"fp16",)"
                    R"("stored":[4,6],"steps":[{"slice":[[1,3],[0,6]]},)"
                    R"({"pad":[[0,1],[2,0]]},{"permute":[1,0]},)"
                    R"({"reshape":[8,3,1]}],"shape":[8,3,1]})");
  EXPECT_EQ(jsonText(object), line);
}

TEST(WeightView, RefusesBrokenObjects) {
  auto withSteps = [](llvm::StringRef steps, llvm::StringRef shape) {
    return jsonText(R"({"weight": "w", "dtype": "fp16", "stored": [2, 3], )"
                    R"("steps": )" +
                    steps.str() + R"(, "shape": )" + shape.str() + "}");
  };
  EXPECT_EQ(withSteps("[]", "[2, 3]"), "w: fp16[2, 3]");
  EXPECT_EQ(withSteps("[]", "[3, 2]"),
            "error: the steps give another shape at view.shape");
  EXPECT_EQ(withSteps("[{\"permute\": [1, 0]}]", "[2, 3]"),
            "error: the steps give another shape at view.shape");
  EXPECT_EQ(withSteps("1", "[2, 3]"), "error: expected array at view.steps");
  EXPECT_EQ(withSteps("[1]", "[2, 3]"),
            "error: expected one of slice, pad, permute, reshape at "
            "view.steps[0]");
  EXPECT_EQ(withSteps("[{\"turn\": [1, 0]}]", "[2, 3]"),
            "error: expected one of slice, pad, permute, reshape at "
            "view.steps[0]");
  EXPECT_EQ(withSteps("[{\"permute\": [1, 0], \"pad\": []}]", "[2, 3]"),
            "error: expected one of slice, pad, permute, reshape at "
            "view.steps[0]");
  EXPECT_EQ(withSteps("[{\"permute\": [1, 0]}, {\"permute\": [0]}]", "[3, 2]"),
            "error: the step does not fit at view.steps[1]");
  EXPECT_EQ(withSteps("[{\"slice\": [[0, 1], [0]]}]", "[1, 3]"),
            "error: expected pairs at view.steps[0].slice");
  EXPECT_EQ(withSteps("[{\"slice\": [0, 1]}]", "[1, 3]"),
            "error: expected array at view.steps[0].slice[0]");
  EXPECT_EQ(withSteps("[{\"pad\": [[0, 1e30], [0, 0]]}]", "[2, 3]"),
            "error: expected integer at view.steps[0].pad[0][1]");
  std::string many = "[{\"permute\": [1, 0]}";
  for (size_t count = 0; count < maxViewSteps; ++count)
    many += ", {\"permute\": [1, 0]}";
  EXPECT_EQ(withSteps(many + "]", "[2, 3]"),
            "error: too many steps at view.steps");

  EXPECT_EQ(jsonText("[]"), "error: expected object when parsing view");
  EXPECT_EQ(jsonText("{}"), "error: missing value at view.weight");
  EXPECT_EQ(jsonText(R"({"weight": "w", "dtype": "fp17"})"),
            "error: no element type of whole bytes at view.dtype");
  EXPECT_EQ(jsonText(R"({"weight": "w", "dtype": "string"})"),
            "error: no element type of whole bytes at view.dtype");
  EXPECT_EQ(jsonText(R"({"weight": "w", "dtype": "fp16"})"),
            "error: missing value at view.stored");
  for (llvm::StringRef instance : {"-1", "\"mine\"", "1.5", "null"})
    EXPECT_EQ(jsonText(R"({"weight": "w", "dtype": "fp16", "instance": )" +
                       instance.str() + "}"),
              "error: expected \"own\" or a number from 0 at view.instance");
  for (llvm::StringRef stored :
       {"[0]", "[-1]", "[4294967296]", "[2000000000, 2000000000, 2000000000]"})
    EXPECT_EQ(jsonText(R"({"weight": "w", "dtype": "fp16", "stored": )" +
                       stored.str() + R"(, "steps": [], "shape": []})"),
              "error: no shape at view.stored");
}

TEST(WeightView, SurvivesRandomText) {
  std::mt19937 random(6);
  llvm::StringRef pieces[] = {"slice[", "pad[", "permute[", "reshape[",   "]",
                              ",",      ":",    "0",        "1",          "2",
                              "3",      " ",    "-",        "9999999999", "w",
                              "fp16",   "\"",   "\\",       "i"};
  for (int number = 0; number < cases; ++number) {
    std::string line = random() % 2 ? "w: fp16[2, 3, 1] " : "";
    for (unsigned count = random() % 12; count > 0; --count)
      line += pieces[random() % std::size(pieces)];
    std::string why;
    if (std::optional<WeightView> view = WeightView::parse(line, why)) {
      EXPECT_EQ(weightText(view->str()), view->str()) << line;
      continue;
    }
    EXPECT_FALSE(why.empty()) << line;
  }
}
