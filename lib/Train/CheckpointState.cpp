//===- CheckpointState.cpp - state.json -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointState.h"
#include "Resume.h"
#include "lib/Support/Json.h"
#include "lib/Support/JsonFields.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace json = llvm::json;

std::string anec::fileIn(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> joined(folder);
  llvm::sys::path::append(joined, name);
  return std::string(joined);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {

/// By name.
struct FilesJson {
  static bool read(const json::Value &json, std::vector<CheckpointFile> &to,
                   JsonPath path);
  static void write(llvm::ArrayRef<CheckpointFile> files, json::OStream &out);
};

/// What state.json has without its digest.
template <typename State, typename Files>
struct StateFile {
  State &state;
  Files &files;
  int64_t format = checkpointFormat;
};

} // namespace

template <>
struct anec::JsonFields<CheckpointFile> {
  static void list(auto &file, auto &visit) {
    visit("bytes", file.bytes);
    visit("sha256", file.digest);
  }
};

template <>
struct anec::JsonFields<UsedTokenizer> {
  static void list(auto &tokenizer, auto &visit) {
    visit("kind", tokenizer.kind);
    visit("path", tokenizer.path);
    visit("sha256", tokenizer.digest);
  }
};

template <>
struct anec::JsonFields<LossScale> {
  static void list(auto &scale, auto &visit) {
    visit("factor", scale.factor);
    visit("good_steps", scale.goodSteps);
  }
};

template <>
struct anec::JsonFields<Hyperparameters> {
  static void list(auto &hyper, auto &visit) {
    for (const HyperparameterDef &def : hyperparameterTable())
      visit(def.name, hyper.*def.member);
  }
};

template <typename State, typename Files>
struct anec::JsonFields<StateFile<State, Files>> {
  static void list(auto &file, auto &visit) {
    State &state = file.state;
    visit("format", file.format);
    visit("step", state.step);
    visit("updates", state.updates);
    visit("seed", state.seed);
    visit.inside("data", [&](auto &data) {
      data("epoch", state.position.epoch);
      data("window", state.position.window);
      data("tokens", state.tokens);
      data("fingerprint", state.dataFingerprint);
      data("validation", state.validationShare);
      data.optional("validation_fingerprint", state.validationFingerprint);
    });
    visit("loss_scale", state.lossScale);
    visit("hyperparameters", state.hyper);
    visit("numerics", state.numerics);
    visit("entry", state.entry);
    visit.added("positions", state.positions);
    visit("config", state.config);
    visit("package", state.packageDigest);
    visit.optional("base", state.base);
    visit("tokenizer", state.tokenizer);
    visit("loss", state.loss);
    visit("val_loss", state.validationLoss);
    visit.inside("best", [&](auto &best) {
      best("val_loss", state.bestLoss);
      best("step", state.bestStep);
      best.optional("validations_since", state.sinceBest);
    });
    visit("files", file.files, FilesJson());
  }
};

bool FilesJson::read(const json::Value &json, std::vector<CheckpointFile> &to,
                     JsonPath path) {
  std::vector<std::pair<std::string, CheckpointFile>> files;
  if (!JsonForm<decltype(files)>::read(json, files, path))
    return false;
  for (auto &[name, file] : files) {
    file.name = name;
    to.push_back(std::move(file));
  }
  return true;
}

void FilesJson::write(llvm::ArrayRef<CheckpointFile> files,
                      json::OStream &out) {
  out.object([&] {
    for (const CheckpointFile &file : files) {
      out.attributeBegin(file.name);
      writeFields(file, out);
      out.attributeEnd();
    }
  });
}

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

json::Value anec::stateToJson(const TrainState &state,
                              llvm::ArrayRef<CheckpointFile> files) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  writeFields(
      StateFile<const TrainState, llvm::ArrayRef<CheckpointFile>>{state, files},
      out);
  JsonError none;
  json::Value value = *parseJson(text, none);
  json::Object &root = *value.getAsObject();
  root["sha256"] = digestOf(root);
  return value;
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
  JsonMisfit misfit;
  StateFile<TrainState, std::vector<CheckpointFile>> file{state, files};
  if (readFields(*value, file, JsonPath(misfit)))
    wrong = findWrongField(state);
  else
    wrong = "it has no `" + misfit.place + "` of the kind that belongs there";
  return wrong.empty();
}
