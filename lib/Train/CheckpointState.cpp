//===- CheckpointState.cpp - state.json -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointState.h"
#include "Resume.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace json = llvm::json;

std::string anec::fileIn(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> joined(folder);
  llvm::sys::path::append(joined, name);
  return std::string(joined);
}

static json::Value orNull(std::optional<double> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Object toJson(const Hyperparameters &hyper) {
  json::Object object;
  for (const HyperparameterDef &def : hyperparameterTable())
    object[def.name] = hyper.*def.member;
  return object;
}

json::Value anec::stateToJson(const TrainState &state,
                              llvm::ArrayRef<CheckpointFile> files) {
  json::Object config, listed;
  for (const auto &[name, value] : state.config)
    config[name] = value;
  json::Object data{{"epoch", state.position.epoch},
                    {"window", state.position.window},
                    {"tokens", state.tokens},
                    {"fingerprint", state.dataFingerprint},
                    {"validation", state.validationShare}};
  if (!state.validationFingerprint.empty())
    data["validation_fingerprint"] = state.validationFingerprint;
  json::Object best{{"val_loss", orNull(state.bestLoss)},
                    {"step", state.bestStep}};
  if (state.sinceBest)
    best["validations_since"] = state.sinceBest;
  for (const CheckpointFile &file : files)
    listed[file.name] =
        json::Object{{"bytes", file.bytes}, {"sha256", file.digest}};
  json::Object root{
      {"format", checkpointFormat},
      {"step", state.step},
      {"updates", state.updates},
      {"seed", state.seed},
      {"data", std::move(data)},
      {"loss_scale", json::Object{{"factor", state.lossScale.factor},
                                  {"good_steps", state.lossScale.goodSteps}}},
      {"hyperparameters", toJson(state.hyper)},
      {"numerics", state.numerics},
      {"entry", state.entry},
      {"positions", state.positions},
      {"config", std::move(config)},
      {"package", state.packageDigest},
      {"tokenizer", json::Object{{"kind", state.tokenizer.kind},
                                 {"path", state.tokenizer.path},
                                 {"sha256", state.tokenizer.digest}}},
      {"loss", orNull(state.loss)},
      {"val_loss", orNull(state.validationLoss)},
      {"best", std::move(best)},
      {"files", std::move(listed)},
  };
  if (!state.base.empty())
    root["base"] = state.base;
  root["sha256"] = digestOf(root);
  return root;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads fields one by one and remembers the first missing one.
class FieldReader {
public:
  FieldReader(const json::Object &object, std::string &wrong)
      : object(object), wrong(wrong) {}

  void take(llvm::StringRef name, uint64_t &to) {
    if (auto value =
            object.get(name) ? object.get(name)->getAsUINT64() : std::nullopt)
      to = *value;
    else
      miss(name);
  }
  void take(llvm::StringRef name, double &to) {
    if (auto value = object.getNumber(name))
      to = *value;
    else
      miss(name);
  }
  void take(llvm::StringRef name, std::optional<double> &to) {
    to = object.getNumber(name);
    const json::Value *value = object.get(name);
    if (!to && !(value && value->kind() == json::Value::Null))
      miss(name);
  }
  void take(llvm::StringRef name, std::string &to) {
    if (auto value = object.getString(name))
      to = value->str();
    else
      miss(name);
  }
  /// The same for a field that is not always written.
  template <typename T>
  void takeIfThere(llvm::StringRef name, T &to) {
    if (object.get(name))
      take(name, to);
  }
  /// A nested object; an empty one when it is missing.
  FieldReader inside(llvm::StringRef name) {
    static const json::Object none;
    const json::Object *inner = object.getObject(name);
    if (!inner)
      miss(name);
    return {inner ? *inner : none, wrong};
  }
  const json::Object &fields() const { return object; }

private:
  void miss(llvm::StringRef name) {
    if (wrong.empty())
      wrong = "it has no `" + name.str() + "` of the kind that belongs there";
  }
  const json::Object &object;
  std::string &wrong;
};

} // namespace

static void readRun(FieldReader root, TrainState &state) {
  root.take("step", state.step);
  root.take("updates", state.updates);
  root.take("seed", state.seed);
  root.take("numerics", state.numerics);
  root.take("loss", state.loss);
  root.take("val_loss", state.validationLoss);
  FieldReader data = root.inside("data");
  data.take("epoch", state.position.epoch);
  data.take("window", state.position.window);
  data.take("tokens", state.tokens);
  data.take("fingerprint", state.dataFingerprint);
  data.take("validation", state.validationShare);
  data.takeIfThere("validation_fingerprint", state.validationFingerprint);
  FieldReader scale = root.inside("loss_scale");
  scale.take("factor", state.lossScale.factor);
  scale.take("good_steps", state.lossScale.goodSteps);
  FieldReader hyper = root.inside("hyperparameters");
  for (const HyperparameterDef &def : hyperparameterTable())
    hyper.take(def.name, state.hyper.*def.member);
  FieldReader best = root.inside("best");
  best.take("val_loss", state.bestLoss);
  best.take("step", state.bestStep);
  best.takeIfThere("validations_since", state.sinceBest);
}

static void readModel(FieldReader root, TrainState &state) {
  root.take("entry", state.entry);
  // Earlier ones do not have it.
  if (root.fields().get("positions"))
    root.take("positions", state.positions);
  root.take("package", state.packageDigest);
  root.takeIfThere("base", state.base);
  FieldReader tokenizer = root.inside("tokenizer");
  tokenizer.take("kind", state.tokenizer.kind);
  tokenizer.take("path", state.tokenizer.path);
  tokenizer.take("sha256", state.tokenizer.digest);
  FieldReader config = root.inside("config");
  for (const auto &[key, value] : config.fields())
    config.take(key, state.config.emplace_back(key.str(), "").second);
  llvm::sort(state.config);
}

/// The first field that no run writes, and why; empty when there is none.
/// Hyperparameters have the ranges of their flags.
static std::string findWrongField(const TrainState &state) {
  for (const HyperparameterDef &def : hyperparameterTable()) {
    double value = state.hyper.*def.member;
    if (std::string wanted = def.wantedFor(value); !wanted.empty())
      return "`hyperparameters." + def.name.str() + "` takes " + wanted +
             ", not `" + formatNumber(value) + "`";
  }
  double factor = state.lossScale.factor;
  if (!(factor >= LossScale::least && factor <= LossScale::most))
    return "`loss_scale.factor` is " + formatNumber(factor) +
           ", and a loss scale is at least " + formatNumber(LossScale::least) +
           " and at most " + formatNumber(LossScale::most);
  if (!DataOrder::isShare(state.validationShare))
    return "`data.validation` is " + formatNumber(state.validationShare) +
           ", and a share is at least 0 and less than 1";
  if (!parseWord<Numerics>(state.numerics))
    return "`" + state.numerics + "` are not numerics";
  for (const auto &[name, count] :
       {std::pair("updates", state.updates),
        {"loss_scale.good_steps", state.lossScale.goodSteps},
        {"best.step", state.bestStep},
        {"best.validations_since", state.sinceBest}})
    if (count > state.step)
      return "`" + std::string(name) + "` is " + std::to_string(count) +
             ", and there are " + std::to_string(state.step) + " steps";
  return "";
}

bool anec::stateFromJson(llvm::StringRef text, TrainState &state,
                         std::vector<CheckpointFile> &files,
                         std::string &wrong) {
  JsonError error;
  std::optional<json::Value> value = parseJson(text, error);
  if (!value) {
    wrong = "it is not JSON: " + error.message;
    return false;
  }
  const json::Object *root = value->getAsObject();
  if (!root) {
    wrong = "it is not a JSON object";
    return false;
  }
  if (root->getString("sha256").value_or("") != digestOf(*root)) {
    wrong = "its content does not have the digest that was written with it";
    return false;
  }
  if (root->getInteger("format") != checkpointFormat) {
    wrong = "its format is not " + std::to_string(checkpointFormat) +
            ", the only one that is known";
    return false;
  }
  FieldReader reader(*root, wrong);
  readRun(reader, state);
  readModel(reader, state);
  FieldReader listed = reader.inside("files");
  for (const auto &[name, unused] : listed.fields()) {
    FieldReader row = listed.inside(name);
    CheckpointFile &file = files.emplace_back();
    file.name = name.str();
    row.take("bytes", file.bytes);
    row.take("sha256", file.digest);
  }
  if (wrong.empty())
    wrong = findWrongField(state);
  return wrong.empty();
}
