//===- Sessions.cpp - running and training, for Python --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Interruptible.h"
#include "Turns.h"

using namespace anec::python;

static py::tuple shapeOf(const int64_t *dims, size_t rank) {
  py::tuple shape(rank);
  for (size_t i = 0; i < rank; ++i)
    shape[i] = dims[i];
  return shape;
}

namespace {
/// Passes texts, tokens and progress to Python functions; an exception ends the
/// call.
struct Callback {
  py::function text;
  py::object token;    ///< can be None
  py::object progress; ///< can be None
  std::unique_ptr<py::error_already_set> error;

  static int callText(const char *piece, size_t length, void *user) {
    auto &self = *static_cast<Callback *>(user);
    return self.run([&] { self.text(py::str(piece, length)); });
  }
  static int callToken(int32_t id, double logProbability, void *user) {
    auto &self = *static_cast<Callback *>(user);
    return self.run([&] { self.token(id, logProbability); });
  }
  static int callProgress(uint64_t done, uint64_t tokens, double perplexity,
                          void *user) {
    auto &self = *static_cast<Callback *>(user);
    return self.run([&] {
      if (!self.progress.is_none())
        self.progress(done, tokens, perplexity);
    });
  }

private:
  template <typename Call>
  int run(Call call) {
    py::gil_scoped_acquire acquire;
    try {
      call();
      if (PyErr_CheckSignals())
        throw py::error_already_set();
      return 0;
    } catch (py::error_already_set &caught) {
      error = std::make_unique<py::error_already_set>(std::move(caught));
      return 1;
    }
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

static const char *entryName(const py::object &entry, std::string &kept) {
  if (entry.is_none())
    return nullptr;
  kept = takeText(entry, "entry");
  return kept.c_str();
}

namespace {
class Session {
public:
  explicit Session(anec_session *handle) : handle(handle) {}
  ~Session() { anec_session_destroy(handle); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  static std::unique_ptr<Session> program(const Program &program,
                                          const py::dict &values) {
    return open(anec_session_open, program.handle, values);
  }
  static std::unique_ptr<Session> file(const std::string &path,
                                       const py::dict &values) {
    return open(anec_session_open_file, path.c_str(), values);
  }

  py::list entries() const {
    py::list rows;
    for (size_t i = 0; i < anec_session_entry_count(handle); ++i) {
      auto row = sized<anec_entry>();
      anec_session_entry(handle, i, &row);
      rows.append(py::make_tuple(row.name, row.role, bool(row.trains)));
    }
    return rows;
  }
  py::tuple ports(const py::object &entry) const {
    return py::make_tuple(
        list(anec_session_input_count, anec_session_input, entry),
        list(anec_session_output_count, anec_session_output, entry));
  }

  void run(const py::object &entry, const py::dict &inputs,
           const py::dict &outputs) const {
    Arrays<anec_input> in(inputs);
    Arrays<anec_output> out(outputs);
    std::string kept;
    const char *name = entryName(entry, kept);
    Reports reports;
    Turn turn({&turns});
    Interruptible guard(handle);
    anec_status status = unlocked([&] {
      return anec_session_run(handle, name, in.data(), in.size(), out.data(),
                              out.size(), reports.get());
    });
    guard.check();
    reports.check(status);
  }

  void interrupt() const { anec_session_interrupt(handle); }

  py::dict weights(const py::object &owner) const {
    return views(anec_session_weight_count, anec_session_weight, owner);
  }
  py::dict gradients(const py::object &owner) const {
    return views(anec_session_gradient_count, anec_session_gradient, owner);
  }
  void weightsChanged() const {
    Reports reports;
    Turn turn({&turns});
    reports.check(unlocked(
        [&] { return anec_session_weights_changed(handle, reports.get()); }));
  }
  void takeAdapter(const py::object &path) const {
    Reports reports;
    std::optional<std::string> given;
    if (!path.is_none())
      given = path.cast<std::string>();
    Turn turn({&turns});
    reports.check(unlocked([&] {
      return anec_session_take_adapter(handle, given ? given->c_str() : nullptr,
                                       reports.get());
    }));
  }
  void saveWeights(const std::string &path) const {
    Reports reports;
    Turn turn({&turns});
    reports.check(unlocked([&] {
      return anec_session_save_weights(handle, path.c_str(), reports.get());
    }));
  }
  void setState(const std::string &name, const py::buffer &array) const {
    Arrays<anec_input> state(name, array);
    Reports reports;
    Turn turn({&turns});
    reports.check(anec_session_set_state(handle, state.data(), reports.get()));
  }
  void getState(const std::string &name, const py::buffer &array) const {
    Arrays<anec_output> state(name, array);
    Reports reports;
    Turn turn({&turns});
    reports.check(anec_session_get_state(handle, state.data(), reports.get()));
  }

  /// `prompt` is a text or a list of ids. `text` gets texts, and `token` new
  /// tokens with their log-probabilities, unless it is None.
  void generate(const Tokenizer *tokenizer, const py::object &prompt,
                const py::dict &values, const Session *draft,
                const py::function &text, const py::object &token) const {
    auto options = sized<anec_generate_options>();
    options.tokens = take<unsigned>(values["tokens"], "tokens");
    options.temperature = take<double>(values["temperature"], "temperature");
    options.top_p = take<double>(values["top_p"], "top_p");
    options.top_k = take<unsigned>(values["top_k"], "top_k");
    options.min_p = take<double>(values["min_p"], "min_p");
    options.repeat_penalty =
        take<double>(values["repeat_penalty"], "repeat_penalty");
    options.repeat_window =
        take<unsigned>(values["repeat_window"], "repeat_window");
    options.seed = take<uint64_t>(values["seed"], "seed");
    options.mark_beginning =
        take<bool>(values["mark_beginning"], "mark_beginning");
    options.no_echo = !take<bool>(values["echo"], "echo");
    options.keep = take<int64_t>(values["keep"], "keep");
    options.lookup = take<bool>(values["lookup"], "lookup");
    options.draft_tokens =
        take<unsigned>(values["draft_tokens"], "draft_tokens");
    options.draft = draft ? draft->handle : nullptr;
    std::vector<std::string> stops;
    for (const auto &stop : values["stop"].cast<py::list>())
      stops.push_back(stop.cast<std::string>());
    std::vector<const char *> stopTexts;
    for (const std::string &stop : stops)
      stopTexts.push_back(stop.c_str());
    options.stop_texts = stopTexts.data();
    options.stop_text_count = stopTexts.size();
    std::string written;
    std::vector<int32_t> ids;
    bool isText = py::isinstance<py::str>(prompt);
    if (isText)
      written = prompt.cast<std::string>();
    else
      for (const auto &id : prompt.cast<py::list>())
        ids.push_back(id.cast<int32_t>());
    static const int32_t none = 0;
    options.prompt_ids = ids.empty() ? &none : ids.data();
    options.prompt_id_count = ids.size();
    options.token_callback = token.is_none() ? nullptr : Callback::callToken;
    Callback callback;
    callback.text = text;
    callback.token = token;
    Reports reports;
    Turn turn({&turns, draft ? &draft->turns : nullptr});
    anec_status status = unlocked([&] {
      return anec_session_generate(
          handle, tokenizer ? tokenizer->handle : nullptr,
          isText ? written.c_str() : nullptr, &options, Callback::callText,
          &callback, reports.get());
    });
    if (callback.error)
      throw std::move(*callback.error);
    reports.check(status);
  }

  /// `progress` gets the numbers of tokens, those done and all, and the
  /// perplexity, unless it is None.
  py::dict evaluate(const Tokenizer *tokenizer, const py::list &paths,
                    const py::dict &values, const Session *baseline,
                    const py::object &progress) const {
    auto options = sized<anec_evaluate_options>();
    options.window = take<size_t>(values["window"], "window");
    options.stride = take<size_t>(values["stride"], "stride");
    options.tokens = take<uint64_t>(values["tokens"], "tokens");
    options.mark_beginning =
        take<bool>(values["mark_beginning"], "mark_beginning");
    options.baseline = baseline ? baseline->handle : nullptr;
    std::vector<std::string> texts;
    for (const auto &path : paths)
      texts.push_back(path.cast<std::string>());
    std::vector<const char *> data;
    for (const std::string &text : texts)
      data.push_back(text.c_str());
    options.paths = data.data();
    options.path_count = data.size();
    Callback callback;
    callback.progress = progress;
    auto result = sized<anec_evaluation>();
    Reports reports;
    Turn turn({&turns, baseline ? &baseline->turns : nullptr});
    anec_status status = unlocked([&] {
      return anec_session_evaluate(
          handle, tokenizer ? tokenizer->handle : nullptr, &options,
          Callback::callProgress, &callback, &result, reports.get());
    });
    if (callback.error)
      throw std::move(*callback.error);
    reports.check(status);
    py::dict row;
    row["windows"] = result.windows;
    row["tokens"] = result.tokens;
    row["loss"] = result.loss;
    row["loss_error"] = result.loss_error;
    row["perplexity"] = result.perplexity;
    row["seconds"] = result.seconds;
    if (!baseline)
      return row;
    row["baseline_loss"] = result.baseline_loss;
    row["loss_change"] = result.loss_change;
    row["loss_change_error"] = result.loss_change_error;
    row["divergence"] = result.divergence;
    row["divergence_error"] = result.divergence_error;
    row["agreements"] = result.agreements;
    return row;
  }

  anec_session *const handle;
  mutable Turns turns;

private:
  /// `call` is the function of the C API, `subject` its first argument.
  template <typename Call, typename Subject>
  static std::unique_ptr<Session> open(Call call, Subject subject,
                                       const py::dict &values) {
    Options kept(values);
    anec_session_options options = sessionOptions(kept);
    anec_session *made = nullptr;
    Reports reports;
    reports.check(unlocked(
        [&] { return call(subject, &options, &made, reports.get()); }));
    return std::make_unique<Session>(made);
  }

  using CountPorts = anec_status (*)(anec_session *, const char *, size_t *,
                                     anec_diagnostics *);
  using GetPort = anec_status (*)(anec_session *, const char *, size_t,
                                  anec_port *, anec_diagnostics *);
  py::list list(CountPorts count, GetPort get, const py::object &entry) const {
    std::string kept;
    const char *name = entryName(entry, kept);
    size_t ports = 0;
    Reports reports;
    Turn turn({&turns});
    reports.check(
        unlocked([&] { return count(handle, name, &ports, reports.get()); }));
    py::list rows;
    for (size_t i = 0; i < ports; ++i) {
      auto port = sized<anec_port>();
      reports.check(get(handle, name, i, &port, reports.get()));
      rows.append(py::make_tuple(port.name, nameOf(port.dtype),
                                 shapeOf(port.dims, port.rank), port.role));
    }
    return rows;
  }

  using CountFloats = size_t (*)(const anec_session *);
  using GetFloats = anec_status (*)(const anec_session *, size_t,
                                    anec_floats *);
  /// Returns memory that keeps `owner`, the Python object of the session,
  /// alive.
  py::dict views(CountFloats count, GetFloats get,
                 const py::object &owner) const {
    py::dict arrays;
    Turn turn({&turns});
    for (size_t i = 0; i < count(handle); ++i) {
      auto row = sized<anec_floats>();
      get(handle, i, &row);
      std::vector<py::ssize_t> shape(row.dims, row.dims + row.rank);
      arrays[row.name] = Memory(row.data, std::move(shape), owner);
    }
    return arrays;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

namespace {
struct HyperparameterName {
  const char *name;
  double anec_hyperparameters::*member;
};
constexpr HyperparameterName hyperparameters[] = {
    {"learning_rate", &anec_hyperparameters::learning_rate},
    {"min_learning_rate", &anec_hyperparameters::min_learning_rate},
    {"warmup", &anec_hyperparameters::warmup},
    {"decay_steps", &anec_hyperparameters::decay_steps},
    {"beta1", &anec_hyperparameters::beta1},
    {"beta2", &anec_hyperparameters::beta2},
    {"epsilon", &anec_hyperparameters::epsilon},
    {"weight_decay", &anec_hyperparameters::weight_decay},
    {"clip", &anec_hyperparameters::clip},
    {"loss_scale", &anec_hyperparameters::loss_scale},
    {"loss_scale_growth", &anec_hyperparameters::loss_scale_growth},
};

class Trainer {
public:
  Trainer(const Session &session, const py::object &entry,
          const py::dict &values)
      : session(session.handle), turns(session.turns) {
    auto hyper = sized<anec_hyperparameters>();
    anec_hyperparameters_init(&hyper, sizeof(hyper),
                              anec_session_numerics(session.handle));
    for (auto [key, value] : values)
      set(hyper, key.cast<std::string>(), value);
    // As `ane-run train` has it.
    if (values.contains("learning_rate") &&
        !values.contains("min_learning_rate"))
      hyper.min_learning_rate = hyper.learning_rate / 10;
    std::string kept;
    Reports reports;
    Turn turn({&turns});
    reports.check(anec_trainer_open(session.handle, entryName(entry, kept),
                                    &hyper, &handle, reports.get()));
  }
  ~Trainer() { anec_trainer_destroy(handle); }
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;

  float accumulate(const py::dict &inputs) const {
    Arrays<anec_input> in(inputs);
    float loss = 0;
    Reports reports;
    Turn turn({&turns});
    Interruptible guard(session);
    anec_status status = unlocked([&] {
      return anec_trainer_accumulate(handle, in.data(), in.size(), &loss,
                                     reports.get());
    });
    guard.check();
    reports.check(status);
    return loss;
  }
  py::tuple update() const {
    auto step = sized<anec_step>();
    Reports reports;
    Turn turn({&turns});
    reports.check(unlocked(
        [&] { return anec_trainer_update(handle, &step, reports.get()); }));
    return py::make_tuple(step.step, step.loss, step.gradient_norm,
                          step.learning_rate, step.loss_scale,
                          bool(step.skipped));
  }

private:
  static void set(anec_hyperparameters &hyper, const std::string &name,
                  py::handle value) {
    if (name == "seed") {
      hyper.seed = value.cast<uint64_t>();
      return;
    }
    for (const HyperparameterName &row : hyperparameters)
      if (name == row.name) {
        hyper.*row.member = value.cast<double>();
        return;
      }
    throw py::type_error("there is no hyperparameter `" + name + "`");
  }

  // Of the session, which pybind11 keeps alive.
  anec_session *session;
  Turns &turns;
  anec_trainer *handle = nullptr;
};
} // namespace

void anec::python::addSessions(py::module_ &module) {
  module.def("open_session", Session::program);
  module.def("open_session_file", Session::file);
  py::class_<Session>(module, "Session")
      .def("entries", &Session::entries)
      .def("interrupt", &Session::interrupt)
      .def("ports", &Session::ports)
      .def("run", &Session::run)
      .def("weights", &Session::weights)
      .def("gradients", &Session::gradients)
      .def("weights_changed", &Session::weightsChanged)
      .def("take_adapter", &Session::takeAdapter)
      .def("save_weights", &Session::saveWeights)
      .def("set_state", &Session::setState)
      .def("get_state", &Session::getState)
      .def("generate", &Session::generate)
      .def("evaluate", &Session::evaluate);
  py::class_<Trainer>(module, "Trainer")
      .def(py::init<const Session &, const py::object &, const py::dict &>(),
           py::keep_alive<1, 2>())
      .def("accumulate", &Trainer::accumulate)
      .def("update", &Trainer::update);
}

PYBIND11_MODULE(_anec, module) {
  // An argument without a name here: of another type, or beyond its range.
  py::register_local_exception_translator([](std::exception_ptr caught) {
    try {
      if (caught)
        std::rethrow_exception(caught);
    } catch (const py::cast_error &) {
      PyErr_SetString(PyExc_TypeError, "an argument has the wrong type, or is "
                                       "out of range");
    }
  });
  module.doc() = "The C API of anec; the package anec is what people use.";
  addArrays(module);
  addPrograms(module);
  addSessions(module);
}
