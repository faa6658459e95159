//===- Programs.cpp - the compiler, for Python ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"

using namespace anec::python;

static anec_compile_options compileOptions(Options &values) {
  auto options = sized<anec_compile_options>();
  options.target = values.text("target");
  options.kernel = values.text("kernel");
  options.defines = values.texts("defines", options.define_count);
  options.assumptions = values.texts("assumptions", options.assumption_count);
  options.weights = values.text("weights");
  options.weight_map = values.text("weight_map");
  options.seed = values.number("seed");
  options.mil_version = values.text("mil_version");
  options.folder = values.text("folder");
  options.forward_only = values.integer("forward_only");
  options.weight_mode = anec_weight_mode(values.integer("weight_mode"));
  options.io = anec_io_mode(values.integer("io"));
  options.fusion = anec_fusion(values.integer("fusion"));
  options.precision = anec_precision(values.integer("precision"));
  options.calibration = values.texts("calibration", options.calibration_count);
  options.shapes = values.texts("shapes", options.shape_count);
  options.framework = values.text("framework");
  options.macos = values.text("macos");
  options.loss = values.text("loss");
  options.train_weights =
      values.texts("train_weights", options.train_weight_count);
  options.quantize = values.text("quantize");
  options.quantize_skip =
      values.texts("quantize_skip", options.quantize_skip_count);
  options.calibration_texts =
      values.texts("calibration_texts", options.calibration_text_count);
  options.calibration_tokenizer = values.text("calibration_tokenizer");
  options.calibration_tokens = values.number("calibration_tokens");
  options.activation_scales = values.text("activation_scales");
  options.activation_margin = values.real("activation_margin");
  options.lora = values.text("lora");
  options.decode = values.integer("decode");
  options.context = values.whole("context");
  options.batch = values.whole("batch");
  options.function = values.text("function");
  options.part = values.number("part");
  options.fixes = values.texts("fixes", options.fix_count);
  options.blocks = values.wholes("blocks", options.block_count);
  options.prefills = values.wholes("prefills", options.prefill_count);
  options.ladder = values.wholes("ladder", options.ladder_count);
  options.remarks = values.integer("remarks");
  return options;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static py::list takeFindings(anec_findings *findings) {
  std::unique_ptr<anec_findings, void (*)(anec_findings *)> owner(
      findings, anec_findings_destroy);
  py::list rows;
  for (size_t i = 0; i < anec_findings_count(findings); ++i) {
    auto row = sized<anec_finding>();
    anec_findings_get(findings, i, &row);
    rows.append(py::make_tuple(row.rule, row.message, row.impact,
                               bool(row.is_error), row.file, row.line,
                               row.column, row.end_line, row.end_column));
  }
  return rows;
}

static py::list takeErrors(anec_logged_errors *errors) {
  std::unique_ptr<anec_logged_errors, void (*)(anec_logged_errors *)> owner(
      errors, anec_logged_errors_destroy);
  py::list rows;
  for (size_t i = 0; i < anec_logged_errors_count(errors); ++i) {
    auto row = sized<anec_logged_error>();
    anec_logged_errors_get(errors, i, &row);
    rows.append(py::make_tuple(row.id, row.summary, row.cause, row.remedy,
                               row.rules, row.source, row.confidence, row.text,
                               row.lines, row.first_line, row.last_line,
                               bool(row.is_vague)));
  }
  return rows;
}

static py::list takeCosts(anec_costs *costs) {
  std::unique_ptr<anec_costs, void (*)(anec_costs *)> owner(costs,
                                                            anec_costs_destroy);
  py::list rows;
  for (size_t i = 0; i < anec_costs_count(costs); ++i) {
    auto row = sized<anec_cost>();
    anec_costs_get(costs, i, &row);
    rows.append(py::make_tuple(row.name, row.dispatches, row.host_ops,
                               row.flops, row.bytes, row.microseconds,
                               row.least, row.most, row.bound,
                               row.element_bytes, row.tasks));
  }
  return rows;
}

static std::unique_ptr<Program> compileFile(const std::string &path,
                                            const py::dict &values) {
  Options kept(values);
  anec_compile_options options = compileOptions(kept);
  anec_program *made = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_compile_file(path.c_str(), &options, &made, reports.get());
  }));
  return std::make_unique<Program>(made);
}

static std::unique_ptr<Program> compileText(const std::string &text,
                                            const std::string &name,
                                            const py::dict &values) {
  Options kept(values);
  anec_compile_options options = compileOptions(kept);
  anec_program *made = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_compile_text(text.c_str(), name.c_str(), &options, &made,
                             reports.get());
  }));
  return std::make_unique<Program>(made);
}

static void build(const std::string &path, const std::string &output,
                  const py::dict &values, const py::dict &outputValues) {
  Options kept(values), keptOfOutput(outputValues);
  anec_compile_options options = compileOptions(kept);
  auto build = sized<anec_build_options>();
  build.emit = keptOfOutput.text("emit");
  build.deployment = keptOfOutput.text("deployment");
  build.floats = keptOfOutput.text("floats");
  build.describe = keptOfOutput.text("describe");
  build.describe_text = keptOfOutput.text("describe_text");
  build.quantize_report = keptOfOutput.text("quantize_report");
  build.cache_states = keptOfOutput.integer("cache_states");
  build.passes = keptOfOutput.text("passes");
  build.skip_passes = keptOfOutput.text("skip_passes");
  build.canonical = keptOfOutput.integer("canonical");
  Reports reports;
  reports.check(unlocked([&] {
    return anec_build(path.c_str(), output.c_str(), &options, &build,
                      reports.get());
  }));
}

static void importModel(const std::string &source, const std::string &program,
                        const py::dict &values) {
  Options kept(values);
  auto options = sized<anec_import_options>();
  options.positions = kept.whole("positions");
  options.floats = kept.text("floats");
  options.ignored_keys = kept.texts("ignored_keys", options.ignored_key_count);
  options.tokenizer = kept.text("tokenizer");
  Reports reports;
  reports.check(unlocked([&] {
    return anec_import(source.c_str(), program.c_str(), &options,
                       reports.get());
  }));
}

static void convert(const std::string &input, const std::string &output,
                    const py::dict &values) {
  Options kept(values);
  auto options = sized<anec_convert_options>();
  options.from = kept.text("from");
  options.to = kept.text("to");
  options.config = kept.text("config");
  options.model = kept.text("model");
  options.defines = kept.texts("defines", options.define_count);
  options.weight_map = kept.text("weight_map");
  options.like = kept.text("like");
  options.tokenizer = kept.text("tokenizer");
  options.shard_size = *kept.number("shard_size");
  Reports reports;
  reports.check(unlocked([&] {
    return anec_convert(input.c_str(), output.c_str(), &options, reports.get());
  }));
}

static void merge(const std::string &package, const std::string &adapter,
                  const std::string &output, const py::dict &values) {
  Options kept(values);
  auto options = sized<anec_merge_options>();
  options.weights = kept.text("weights");
  options.weight_map = kept.text("weight_map");
  options.tokenizer = kept.text("tokenizer");
  options.shard_size = *kept.number("shard_size");
  Reports reports;
  reports.check(unlocked([&] {
    return anec_merge(package.c_str(), adapter.c_str(), output.c_str(),
                      &options, reports.get());
  }));
}

static py::list compare(const std::string &path, const py::dict &sessionValues,
                        const py::dict &values) {
  Options keptOfSession(sessionValues), kept(values);
  anec_session_options session = sessionOptions(keptOfSession);
  auto options = sized<anec_compare_options>();
  options.reference = kept.text("reference");
  options.inputs = kept.texts("inputs", options.input_count);
  options.states = kept.texts("states", options.state_count);
  options.atol = kept.real("atol");
  options.rtol = kept.real("rtol");
  options.equal_nan = kept.integer("equal_nan");
  options.function = kept.text("function");
  options.defines = kept.texts("defines", options.define_count);
  anec_comparisons *made = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_compare_file(path.c_str(), &session, &options, &made,
                             reports.get());
  }));
  std::unique_ptr<anec_comparisons, void (*)(anec_comparisons *)> owner(
      made, anec_comparisons_destroy);
  py::list rows;
  for (size_t i = 0; i < anec_comparisons_count(made); ++i) {
    auto row = sized<anec_comparison>();
    anec_comparisons_get(made, i, &row);
    rows.append(py::make_tuple(row.name, bool(row.is_right), row.elements,
                               row.wrong, row.relative_error, row.largest_error,
                               row.allowed, row.worst, row.value,
                               row.reference));
  }
  return rows;
}

static py::tuple diff(const std::string &left, const std::string &right,
                      const py::dict &values) {
  Options kept(values);
  auto options = sized<anec_diff_options>();
  options.ignore_weights = kept.integer("ignore_weights");
  options.shapes = kept.texts("shapes", options.shape_count);
  options.part = kept.number("part");
  anec_differences *made = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_diff_files(left.c_str(), right.c_str(), &options, &made,
                           reports.get());
  }));
  std::unique_ptr<anec_differences, void (*)(anec_differences *)> owner(
      made, anec_differences_destroy);
  py::list rows;
  for (size_t i = 0; i < anec_differences_count(made); ++i) {
    auto row = sized<anec_difference>();
    anec_differences_get(made, i, &row);
    rows.append(py::make_tuple(row.kind, row.function, row.op, row.part,
                               row.left, row.right, row.elements, row.differing,
                               row.absolute, row.relative, row.text));
  }
  return py::make_tuple(rows, anec_differences_text(made),
                        anec_differences_counts(made));
}

static void writeProgram(const Program &program, const std::string &path) {
  Reports reports;
  reports.check(unlocked([&] {
    return anec_program_write(program.handle, path.c_str(), reports.get());
  }));
}

static void writeCoreML(const Program &program, const std::string &path,
                        const py::dict &values) {
  Options kept(values);
  auto options = sized<anec_coreml_options>();
  options.deployment = kept.text("deployment");
  options.floats = kept.text("floats");
  options.describe = kept.text("describe");
  options.describe_text = kept.text("describe_text");
  Reports reports;
  reports.check(unlocked([&] {
    return anec_program_write_coreml(program.handle, path.c_str(), &options,
                                     reports.get());
  }));
}

/// Findings or costs of a program or a file: `call` is the function of the C
/// API, `subject` its first argument.
template <typename Result, typename Call, typename Subject>
static Result *inspect(Call call, Subject subject, const py::dict &values) {
  Options kept(values);
  anec_compile_options options = compileOptions(kept);
  Result *result = nullptr;
  Reports reports;
  reports.check(unlocked(
      [&] { return call(subject, &options, &result, reports.get()); }));
  return result;
}

static py::list checkProgram(const Program &program, const py::dict &values) {
  return takeFindings(
      inspect<anec_findings>(anec_check, program.handle, values));
}

static py::list predictProgram(const Program &program, const py::dict &values) {
  return takeCosts(inspect<anec_costs>(anec_predict, program.handle, values));
}

static py::list checkFile(const std::string &path, const py::dict &values) {
  return takeFindings(
      inspect<anec_findings>(anec_check_file, path.c_str(), values));
}

static py::list predictFile(const std::string &path, const py::dict &values) {
  return takeCosts(
      inspect<anec_costs>(anec_predict_file, path.c_str(), values));
}

static py::tuple explain(const std::string &id) {
  auto rule = sized<anec_rule>();
  Reports reports;
  reports.check(anec_explain(id.c_str(), &rule, reports.get()));
  size_t count = 0;
  reports.check(
      anec_explain_text(id.c_str(), nullptr, 0, &count, reports.get()));
  std::string text(count, '\0');
  reports.check(
      anec_explain_text(id.c_str(), text.data(), count, &count, reports.get()));
  return py::make_tuple(rule.id, rule.summary, rule.impact, rule.source,
                        rule.confidence, rule.advice, text);
}

static py::list explainLogFile(const std::string &path) {
  anec_logged_errors *errors = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_explain_log_file(path.c_str(), &errors, reports.get());
  }));
  return takeErrors(errors);
}

static py::list explainLogText(const std::string &text) {
  anec_logged_errors *errors = nullptr;
  Reports reports;
  reports.check(unlocked([&] {
    return anec_explain_log_text(text.data(), text.size(), &errors,
                                 reports.get());
  }));
  return takeErrors(errors);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static Memory encode(const Tokenizer &tokenizer, const std::string &text) {
  size_t count = 0;
  Reports reports;
  reports.check(anec_tokenizer_encode(tokenizer.handle, text.c_str(), nullptr,
                                      0, &count, reports.get()));
  Memory ids(count);
  reports.check(anec_tokenizer_encode(tokenizer.handle, text.c_str(),
                                      ids.elements(), count, &count,
                                      reports.get()));
  return ids;
}

static py::bytes decode(const Tokenizer &tokenizer, const py::buffer &ids) {
  Arrays<anec_input> array("ids", ids);
  if (array.data()->dtype != ANEC_INT32)
    throw py::type_error("token ids are int32");
  auto *elements = static_cast<const int32_t *>(array.data()->data);
  size_t length = array.data()->bytes / sizeof(int32_t), count = 0;
  Reports reports;
  reports.check(anec_tokenizer_decode(tokenizer.handle, elements, length,
                                      nullptr, 0, &count, reports.get()));
  std::string bytes(count, '\0');
  reports.check(anec_tokenizer_decode(tokenizer.handle, elements, length,
                                      bytes.data(), count, &count,
                                      reports.get()));
  return bytes;
}

namespace {

class Windows {
public:
  Windows(const py::list &paths, size_t length, const Tokenizer *tokenizer,
          int64_t vocabulary, double validation, uint64_t seed)
      : length(length) {
    std::vector<std::string> kept;
    for (py::handle path : paths)
      kept.push_back(path.cast<std::string>());
    std::vector<const char *> names;
    for (const std::string &path : kept)
      names.push_back(path.c_str());
    auto options = sized<anec_windows_options>();
    options.paths = names.data();
    options.path_count = names.size();
    options.length = length;
    options.vocabulary = vocabulary;
    options.validation_share = validation;
    options.seed = seed;
    Reports reports;
    reports.check(anec_windows_open(&options,
                                    tokenizer ? tokenizer->handle : nullptr,
                                    &handle, reports.get()));
  }
  ~Windows() { anec_windows_destroy(handle); }
  Windows(const Windows &) = delete;
  Windows &operator=(const Windows &) = delete;

  uint64_t count() const { return anec_windows_count(handle); }
  py::tuple next() const {
    Memory tokens(length), targets(length);
    Reports reports;
    reports.check(anec_windows_next(handle, tokens.elements(),
                                    targets.elements(), reports.get()));
    return py::make_tuple(std::move(tokens), std::move(targets));
  }

private:
  anec_windows *handle = nullptr;
  size_t length;
};

} // namespace

void anec::python::addPrograms(py::module_ &module) {
  module.def("version", anec_version);
  module.def("compile_file", compileFile);
  module.def("compile_text", compileText);
  module.def("build", build);
  module.def("compare", compare);
  module.def("import_model", importModel);
  module.def("convert", convert);
  module.def("merge", merge);
  module.def("diff", diff);
  module.def("check_file", checkFile);
  module.def("predict_file", predictFile);
  module.def("explain", explain);
  module.def("explain_log_file", explainLogFile);
  module.def("explain_log_text", explainLogText);
  py::class_<Program>(module, "Program")
      .def("is_model",
           [](const Program &program) {
             return bool(anec_program_is_model(program.handle));
           })
      .def("folder",
           [](const Program &program) {
             const char *folder = nullptr;
             Reports reports;
             reports.check(
                 anec_program_folder(program.handle, &folder, reports.get()));
             return folder;
           })
      .def("mil",
           [](const Program &program) {
             const char *text = nullptr;
             Reports reports;
             reports.check(
                 anec_program_mil(program.handle, &text, reports.get()));
             return text;
           })
      .def("write", writeProgram)
      .def("write_coreml", writeCoreML)
      .def("check", checkProgram)
      .def("predict", predictProgram);
  py::class_<Tokenizer>(module, "Tokenizer")
      .def(py::init<const std::string &>())
      .def("vocabulary",
           [](const Tokenizer &tokenizer) {
             return anec_tokenizer_vocabulary(tokenizer.handle);
           })
      .def("encode", encode)
      .def("decode", decode);
  py::class_<Windows>(module, "Windows")
      .def(py::init<const py::list &, size_t, const Tokenizer *, int64_t,
                    double, uint64_t>())
      .def("count", &Windows::count)
      .def("next", &Windows::next);
}
