//===- SequenceFilters.cpp - filters of lists -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "TextParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// An iterator of items that are there.
static Value lazily(Evaluator &eval, List items) {
  Ref<Iterator> made(new Iterator);
  made->source = eval.list(std::move(items));
  return eval.iterator(std::move(made));
}

static Value list(Call &call) {
  return call.eval.list(call.eval.items(call.self));
}

static Value length(Call &call) {
  return Value::of(call.eval.length(call.self).value_or(0));
}

static Value first(Call &call) {
  Ref<Iterator> items = call.eval.iterate(call.self);
  std::optional<Value> item = items ? call.eval.next(*items) : std::nullopt;
  return item ? *item : call.eval.undefined("`first`: there is no item");
}

static Value last(Call &call) {
  if (call.self.is(VK::Iterator))
    return call.fail("of a generator is not possible");
  if (call.self.isText())
    return call.self.text().empty()
               ? call.eval.undefined("`last`: there is no item")
               : call.eval.item(call.self, Value::of(int64_t(-1)));
  List items = call.eval.items(call.self);
  return items.empty() ? call.eval.undefined("`last`: there is no item")
                       : items.back();
}

static Value random(Call &call) {
  return call.fail("is not supported, because texts would differ each time");
}

static Value reversed(Call &call) {
  if (call.self.isText()) {
    std::u32string characters = decoded(call.self.text());
    call.eval.spendOn(call.self.text());
    std::reverse(characters.begin(), characters.end());
    return call.eval.text(encoded(characters), call.self.isMarkup());
  }
  if (call.self.is(VK::Iterator)) {
    List items = call.eval.items(call.self);
    std::reverse(items.begin(), items.end());
    return call.eval.list(std::move(items));
  }
  Ref<Iterator> made = call.eval.iterate(call.self);
  if (!made)
    return {};
  made->isReversed = true;
  return call.eval.iterator(std::move(made));
}

static Value join(Call &call) {
  Evaluator &eval = call.eval;
  Ref<Iterator> items = eval.iterate(call.self);
  std::string separator = eval.str(call[0]);
  TextBuilder out(eval);
  for (bool isFirst = true; items && !eval.failed(); isFirst = false) {
    std::optional<Value> item = eval.next(*items);
    if (!item)
      break;
    if (!isFirst)
      out += separator;
    Value value = call[1].isNone() ? *item : eval.path(*item, call[1]);
    if (value.isText())
      out += value.text();
    else
      out += eval.str(value);
  }
  return eval.text(out.take());
}

static Value items(Call &call) {
  if (!call.self.is(VK::Dict) && !call.self.isUndefined())
    return call.fail("a " + call.self.typeName() + " is not a dict");
  List pairs;
  if (call.self.is(VK::Dict))
    for (const auto &[key, value] : call.self.dict().entries)
      pairs.push_back(call.eval.list(List{key, value}, Sequence::Kind::Tuple));
  return lazily(call.eval, std::move(pairs));
}

static Value sum(Call &call) {
  Evaluator &eval = call.eval;
  Value total = call[1];
  if (total.isText())
    return call.fail("texts are joined, and not added");
  Ref<Iterator> items = eval.iterate(call.self);
  while (items && !eval.failed()) {
    std::optional<Value> item = eval.next(*items);
    if (!item)
      break;
    total = eval.binary(Operator::Add, total,
                        call[0].isNone() ? *item : eval.path(*item, call[0]));
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Parting
//===----------------------------------------------------------------------===//

static Value batch(Call &call) {
  int64_t size = call.integer(0);
  List rows, row;
  auto finish = [&] {
    rows.push_back(call.eval.list(std::move(row)));
    row.clear();
  };
  for (const Value &item : call.eval.items(call.self)) {
    if (int64_t(row.size()) == size)
      finish();
    row.push_back(item);
  }
  if (!row.empty()) {
    if (!call[1].isNone() && size > int64_t(row.size())) {
      if (uint64_t(size) > Budget::mostBytes ||
          !call.eval.reserve(size_t(size) * sizeof(Value)))
        return call.eval.reserve(SIZE_MAX), Value();
      row.resize(size_t(size), call[1]);
    }
    finish();
  }
  return lazily(call.eval, std::move(rows));
}

static Value slice(Call &call) {
  int64_t count = call.integer(0);
  List all = call.eval.items(call.self), parts;
  if (count == 0)
    return call.fail("there are no slices");
  if (count > 100'000)
    return call.fail("there are too many slices");
  int64_t each = int64_t(all.size()) / std::max<int64_t>(count, 1),
          extra = int64_t(all.size()) % std::max<int64_t>(count, 1), at = 0;
  for (int64_t index = 0; index < count && !call.eval.failed(); ++index) {
    int64_t end = at + each + (index < extra);
    List part(all.begin() + at, all.begin() + end);
    if (!call[1].isNone() && index >= extra)
      part.push_back(call[1]);
    parts.push_back(call.eval.list(std::move(part)));
    at = end;
  }
  return lazily(call.eval, std::move(parts));
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// A key without case, unless it counts.
static Value keyOf(Evaluator &eval, const Value &value, bool hasCase) {
  if (hasCase || !value.isText())
    return value;
  eval.spend(1 + value.text().size() / 4);
  return eval.text(withCase(value.text(), Case::Lower));
}

/// The key of an item at the paths in `attribute`, which has commas between.
static Value keyAt(Evaluator &eval, const Value &item, const Value &attribute,
                   bool hasCase) {
  if (!attribute.isText())
    return keyOf(eval, eval.path(item, attribute), hasCase);
  List keys;
  StringRef rest = attribute.text();
  for (bool goesOn = true; goesOn && !eval.failed();) {
    auto [path, others] = rest.split(',');
    goesOn = path.size() < rest.size();
    rest = others;
    keys.push_back(
        keyOf(eval, eval.path(item, eval.text(path.str())), hasCase));
  }
  return eval.list(std::move(keys));
}

using Keyed = std::pair<Value, Value>; // key and item

static void sortByKey(Evaluator &eval, std::vector<Keyed> &keyed,
                      bool isReversed) {
  stable_sort(keyed, [&](const Keyed &lhs, const Keyed &rhs) {
    return isReversed ? eval.less(rhs.first, lhs.first)
                      : eval.less(lhs.first, rhs.first);
  });
}

static List itemsOf(const std::vector<Keyed> &keyed) {
  List items;
  for (const Keyed &each : keyed)
    items.push_back(each.second);
  return items;
}

static Value sort(Call &call) {
  std::vector<Keyed> keyed;
  for (const Value &item : call.eval.items(call.self))
    keyed.emplace_back(keyAt(call.eval, item, call[2], call[1].isTrue()), item);
  // Python takes an integer, also true and false.
  sortByKey(call.eval, keyed, call.integer(0) != 0);
  return call.eval.list(itemsOf(keyed));
}

static Value dictSort(Call &call) {
  StringRef by = call.text(1);
  if (by != "key" && by != "value")
    return call.fail("`by` is neither `key` nor `value`");
  if (!call.self.is(VK::Dict)) {
    call.eval.failUndefined(call.self);
    return call.fail("a " + call.self.typeName() + " is not a dict");
  }
  std::vector<Keyed> keyed;
  for (const auto &[key, value] : call.self.dict().entries)
    keyed.emplace_back(
        keyOf(call.eval, by == "key" ? key : value, call[0].isTrue()),
        call.eval.list(List{key, value}, Sequence::Kind::Tuple));
  sortByKey(call.eval, keyed, call.integer(2) != 0);
  return call.eval.list(itemsOf(keyed));
}

static Value groupBy(Call &call) {
  Evaluator &eval = call.eval;
  bool hasCase = call[2].isTrue();
  std::vector<Keyed> keyed;
  for (const Value &item : eval.items(call.self))
    keyed.emplace_back(
        keyOf(eval, eval.path(item, call[0], &call.values[1]), hasCase), item);
  sortByKey(eval, keyed, false);
  List groups;
  for (size_t at = 0; at < keyed.size() && !eval.failed();) {
    size_t end = at;
    List members;
    while (end < keyed.size() && eval.same(keyed[end].first, keyed[at].first))
      members.push_back(keyed[end++].second);
    if (end == at) // NaN equals nothing
      members.push_back(keyed[end++].second);
    Value grouper = hasCase
                        ? keyed[at].first
                        : eval.path(members.front(), call[0], &call.values[1]);
    Value list = eval.list(std::move(members));
    groups.push_back(eval.list(List{grouper, list}, Sequence::Kind::Group));
    at = end;
  }
  return eval.list(std::move(groups));
}

template <bool isLeast>
static Value extreme(Call &call) {
  Evaluator &eval = call.eval;
  std::optional<Keyed> best;
  Ref<Iterator> items = eval.iterate(call.self);
  while (items && !eval.failed()) {
    std::optional<Value> item = eval.next(*items);
    if (!item)
      break;
    Value key = keyOf(eval, eval.path(*item, call[1]), call[0].isTrue());
    if (!best ||
        (isLeast ? eval.less(key, best->first) : eval.less(best->first, key)))
      best = Keyed(key, *item);
  }
  return best ? best->second
              : eval.undefined("`" + call.row.name + "`: there is no item");
}

static Value withoutRepeats(Call &call) {
  Ref<Iterator> made(new Iterator);
  if (!call.self.is(VK::Iterator) && !call.eval.iterate(call.self))
    return {};
  made->source = call.self;
  made->step = [seen = Ref<Dict>(new Dict), hasCase = call[0].isTrue(),
                attribute = call[1]](
                   Evaluator &eval, const Value &item) -> std::optional<Value> {
    Value key = keyOf(eval, eval.path(item, attribute), hasCase);
    if (!isHashable(key)) {
      eval.fail("`unique`: a " + key.typeName() + " is not a key");
      return std::nullopt;
    }
    if (seen->find(key) || !eval.reserve(seen->entries.size() * 100))
      return std::nullopt;
    seen->set(key, Value::none());
    return item;
  };
  return call.eval.iterator(std::move(made));
}

//===----------------------------------------------------------------------===//
// Each item
//===----------------------------------------------------------------------===//

/// An iterator of what `step` makes of each item.
template <typename Step>
static Value each(Call &call, Step step) {
  Ref<Iterator> made(new Iterator);
  if (call.self.isTrue()) {
    if (!call.self.is(VK::Iterator) && !call.eval.iterate(call.self))
      return {};
    made->source = call.self;
  }
  made->step = std::move(step);
  return call.eval.iterator(std::move(made));
}

static Value map(Call &call) {
  if (call.rest.empty() && !call.named.empty()) {
    Value attribute = Value::none(), fallback = Value::none();
    bool isGiven = false;
    for (const auto &[name, value] : call.named) {
      isGiven |= name == "attribute";
      if (name == "attribute")
        attribute = value;
      else if (name == "default")
        fallback = value;
      else
        return call.fail("there is no argument `" + name + "`");
    }
    if (!isGiven)
      return call.fail("needs a filter, or `attribute`");
    return each(call, [=](Evaluator &eval, const Value &item) {
      return std::optional<Value>(eval.path(item, attribute, &fallback));
    });
  }
  if (call.rest.empty() || !call.rest.front().isText())
    return call.fail("needs the name of a filter");
  Arguments more{List(call.rest.begin() + 1, call.rest.end()), call.named};
  return each(call, [name = call.rest.front(), more](Evaluator &eval,
                                                     const Value &item) {
    return std::optional<Value>(eval.filter(name.text(), item, more));
  });
}

/// select and reject, of items or of an attribute of each.
template <bool keeps, bool ofAttribute>
static Value choose(Call &call) {
  List given = call.rest;
  Value attribute = Value::none();
  if (ofAttribute) {
    if (given.empty())
      return call.fail("needs an attribute");
    attribute = given.front();
    given.erase(given.begin());
  }
  if (given.empty() && !call.named.empty())
    return call.fail("needs the name of a test");
  Value name = given.empty() ? Value::none() : given.front();
  if (!given.empty() && !name.isText())
    return call.fail("needs the name of a test");
  if (!given.empty())
    given.erase(given.begin());
  Arguments more{std::move(given), call.named};
  return each(
      call, [=](Evaluator &eval, const Value &item) -> std::optional<Value> {
        Value tested = ofAttribute ? eval.path(item, attribute) : item;
        bool holds = name.isNone() ? tested.isTrue()
                                   : !eval.failed() &&
                                         eval.test(name.text(), tested, more);
        return holds == keeps ? std::optional(item) : std::nullopt;
      });
}

static constexpr CallRow ofSequences[] = {
    {"batch", "linecount, fill_with=none", batch},
    {"count", "", length},
    {"dictsort", "case_sensitive=false, by=key, reverse=false", dictSort},
    {"first", "", first},
    {"groupby", "attribute, default=none, case_sensitive=false", groupBy},
    {"items", "", items},
    {"join", "d=, attribute=none", join},
    {"last", "", last},
    {"length", "", length},
    {"list", "", list},
    {"max", "case_sensitive=false, attribute=none", extreme<false>},
    {"min", "case_sensitive=false, attribute=none", extreme<true>},
    {"random", "", random},
    {"reverse", "", reversed},
    {"slice", "slices, fill_with=none", slice},
    {"sort", "reverse=false, case_sensitive=false, attribute=none", sort},
    {"sum", "attribute=none, start=0", sum},
    {"unique", "case_sensitive=false, attribute=none", withoutRepeats},
};
ArrayRef<CallRow> anec::jinja::sequenceFilters() { return ofSequences; }

static constexpr CallRow ofItems[] = {
    {"map", "*, **", map},
    {"reject", "*, **", choose<false, false>},
    {"rejectattr", "*, **", choose<false, true>},
    {"select", "*, **", choose<true, false>},
    {"selectattr", "*, **", choose<true, true>},
};
ArrayRef<CallRow> anec::jinja::itemFilters() { return ofItems; }
