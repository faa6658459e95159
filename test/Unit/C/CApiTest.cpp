//===- CApiTest.cpp - misuse of the C API ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Null and wrong arguments give an error status and a diagnostic. What right
/// calls do test/C shows.
///
//===----------------------------------------------------------------------===//

#include "anec-c.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr char kernel[] = "kernel linear(x: fp16[16, 8]) -> fp16[4, 8] {\n"
                          "  weight w: fp16[4, 16];\n"
                          "  return relu(w @ x);\n"
                          "}\n";
constexpr char model[] = "layer dense(x: fp16[16, 8]) -> fp16[4, 8] {\n"
                         "  weight w: fp16[4, 16];\n"
                         "  return w @ x;\n"
                         "}\n"
                         "model classify(x: fp16[16, 8], labels: int32[8])"
                         " -> fp32 {\n"
                         "  return cross_entropy(dense(x), labels);\n"
                         "}\n";

class CApi : public ::testing::Test {
protected:
  ~CApi() override {
    anec_trainer_destroy(trainer);
    anec_session_destroy(session);
    anec_program_destroy(program);
    anec_diagnostics_destroy(diags);
  }

  /// What was reported since it was asked for last.
  std::string reports() {
    std::string text;
    for (size_t i = 0; i < anec_diagnostics_count(diags); ++i) {
      anec_diagnostic diagnostic = {sizeof diagnostic};
      EXPECT_EQ(anec_diagnostics_get(diags, i, &diagnostic), ANEC_OK);
      text +=
          std::string("[") + diagnostic.id + "] " + diagnostic.message + "\n";
    }
    anec_diagnostics_clear(diags);
    return text;
  }
  void compile(const char *text) {
    anec_compile_options options;
    ASSERT_EQ(anec_compile_options_init(&options, sizeof options), ANEC_OK);
    options.seed = &seed;
    ASSERT_EQ(
        anec_compile_text(text, "program.tdsl", &options, &program, diags),
        ANEC_OK)
        << anec_diagnostics_text(diags);
    ASSERT_EQ(anec_session_open(program, nullptr, &session, diags), ANEC_OK)
        << anec_diagnostics_text(diags);
  }

  uint64_t seed = 7;
  anec_diagnostics *diags = anec_diagnostics_create();
  anec_program *program = nullptr;
  anec_session *session = nullptr;
  anec_trainer *trainer = nullptr;
};

} // namespace

TEST_F(CApi, ErrorsHaveAPlace) {
  EXPECT_EQ(anec_compile_text("kernel k(x: fp16[2]) -> fp16[2] {\n"
                              "  return relu(y);\n}\n",
                              "k.tdsl", nullptr, &program, diags),
            ANEC_INPUT_ERROR);
  EXPECT_EQ(program, nullptr);
  ASSERT_EQ(anec_diagnostics_count(diags), 1u);
  anec_diagnostic diagnostic = {sizeof diagnostic};
  ASSERT_EQ(anec_diagnostics_get(diags, 0, &diagnostic), ANEC_OK);
  EXPECT_EQ(diagnostic.severity, ANEC_SEVERITY_ERROR);
  EXPECT_STREQ(diagnostic.file, "k.tdsl");
  EXPECT_EQ(diagnostic.line, 2u);
  EXPECT_EQ(diagnostic.column, 15u);
  EXPECT_NE(std::string(anec_diagnostics_text(diags)).find("return relu(y);"),
            std::string::npos);
}

TEST_F(CApi, StatusesAndSeveritiesHaveNames) {
  EXPECT_STREQ(anec_status_name(ANEC_OK), "ANEC_OK");
  EXPECT_STREQ(anec_status_name(ANEC_MACHINE_ERROR), "ANEC_MACHINE_ERROR");
  EXPECT_STREQ(anec_status_text(ANEC_USAGE_ERROR), "an argument is invalid");
  EXPECT_STREQ(anec_severity_name(ANEC_SEVERITY_NOTE), "note");
  for (int wrong : {-1, 4, 99}) {
    EXPECT_STREQ(anec_status_name(anec_status(wrong)), "not a status");
    EXPECT_STREQ(anec_status_text(anec_status(wrong)), "not a status");
    EXPECT_STREQ(anec_severity_name(anec_severity(wrong)), "not a severity");
  }
  // Programs that were written for them keep compiling.
  EXPECT_EQ(ANEC_ERROR, ANEC_SEVERITY_ERROR);
  anec_error *logged = nullptr;
  EXPECT_EQ(anec_errors_get(nullptr, 0, logged), ANEC_USAGE_ERROR);
  static_assert(ANEC_C_VERSION >= ANEC_C_MAKE_VERSION(0, 1, 0) &&
                ANEC_C_VERSION < ANEC_C_MAKE_VERSION(1, 0, 0));
}

TEST_F(CApi, NullArgumentsAreRefused) {
  size_t count = 0;
  float loss = 0;
  int32_t id = 0;
  anec_differences *differences = nullptr;
  anec_comparisons *comparisons = nullptr;
  anec_findings *findings = nullptr;
  anec_logged_errors *errors = nullptr;
  anec_costs *costs = nullptr;
  anec_tokenizer *tokenizer = nullptr;
  anec_windows *windows = nullptr;
  anec_rule rule = {sizeof rule};
  anec_port port = {sizeof port};
  anec_step step = {sizeof step};
  anec_entry entry = {sizeof entry};
  anec_floats floats = {sizeof floats};
  anec_logged_error logged = {sizeof logged};
  anec_finding finding = {sizeof finding};
  anec_cost cost = {sizeof cost};
  anec_diagnostic diagnostic = {sizeof diagnostic};
  for (anec_diagnostics *list : {diags, (anec_diagnostics *)nullptr}) {
    EXPECT_EQ(anec_compile_file(nullptr, nullptr, &program, list), 2);
    EXPECT_EQ(anec_compile_file("x.tdsl", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_compile_text(nullptr, "x.tdsl", nullptr, &program, list), 2);
    EXPECT_EQ(anec_compile_text("", nullptr, nullptr, &program, list), 2);
    EXPECT_EQ(anec_compile_text("", "x.tdsl", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_program_write(nullptr, "x.mil", list), 2);
    EXPECT_EQ(anec_program_write_coreml(nullptr, "x.mlpackage", nullptr, list),
              2);
    EXPECT_EQ(anec_build(nullptr, "x.mil", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_build("x.tdsl", nullptr, nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_diff_files(nullptr, "x.mil", nullptr, &differences, list),
              2);
    EXPECT_EQ(anec_diff_files("x.mil", nullptr, nullptr, &differences, list),
              2);
    EXPECT_EQ(anec_diff_files("x.mil", "x.mil", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_import(nullptr, "x.tdsl", nullptr, list), 2);
    EXPECT_EQ(anec_import("x", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_convert(nullptr, "x.bin", nullptr, list), 2);
    EXPECT_EQ(anec_convert("x", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_merge(nullptr, "a", "x", nullptr, list), 2);
    EXPECT_EQ(anec_merge("p", nullptr, "x", nullptr, list), 2);
    EXPECT_EQ(anec_merge("p", "a", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_compare_file(nullptr, nullptr, nullptr, &comparisons, list),
              2);
    EXPECT_EQ(anec_compare_file("x.mil", nullptr, nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_check_file(nullptr, nullptr, &findings, list), 2);
    EXPECT_EQ(anec_check_file("x.mil", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_check(nullptr, nullptr, &findings, list), 2);
    EXPECT_EQ(anec_explain(nullptr, &rule, list), 2);
    EXPECT_EQ(anec_explain("op-limit", nullptr, list), 2);
    EXPECT_EQ(anec_explain_text(nullptr, nullptr, 0, &count, list), 2);
    EXPECT_EQ(anec_explain_text("op-limit", nullptr, 1, &count, list), 2);
    EXPECT_EQ(anec_explain_log_file(nullptr, &errors, list), 2);
    EXPECT_EQ(anec_explain_log_file("log", nullptr, list), 2);
    EXPECT_EQ(anec_explain_log_text(nullptr, 1, &errors, list), 2);
    EXPECT_EQ(anec_explain_log_text("", 0, nullptr, list), 2);
    EXPECT_EQ(anec_predict_file(nullptr, nullptr, &costs, list), 2);
    EXPECT_EQ(anec_predict_file("x.mil", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_predict(nullptr, nullptr, &costs, list), 2);
    EXPECT_EQ(anec_session_open(nullptr, nullptr, &session, list), 2);
    EXPECT_EQ(anec_session_open_file(nullptr, nullptr, &session, list), 2);
    EXPECT_EQ(anec_session_open_file("x.mil", nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_session_input_count(nullptr, nullptr, &count, list), 2);
    EXPECT_EQ(anec_session_output_count(nullptr, nullptr, &count, list), 2);
    EXPECT_EQ(anec_session_input(nullptr, nullptr, 0, &port, list), 2);
    EXPECT_EQ(anec_session_output(nullptr, nullptr, 0, &port, list), 2);
    EXPECT_EQ(anec_session_run(nullptr, nullptr, nullptr, 0, nullptr, 0, list),
              2);
    EXPECT_EQ(anec_session_weights_changed(nullptr, list), 2);
    EXPECT_EQ(anec_session_take_adapter(nullptr, "a.safetensors", list), 2);
    EXPECT_EQ(anec_session_save_weights(nullptr, "x.safetensors", list), 2);
    EXPECT_EQ(anec_session_set_state(nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_session_get_state(nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_trainer_open(nullptr, nullptr, nullptr, &trainer, list), 2);
    EXPECT_EQ(anec_trainer_accumulate(nullptr, nullptr, 0, &loss, list), 2);
    EXPECT_EQ(anec_trainer_update(nullptr, &step, list), 2);
    EXPECT_EQ(anec_trainer_step(nullptr, nullptr, 0, &step, list), 2);
    EXPECT_EQ(anec_tokenizer_open(nullptr, nullptr, list), 2);
    EXPECT_EQ(anec_tokenizer_encode(nullptr, "a", &id, 1, &count, list), 2);
    EXPECT_EQ(anec_tokenizer_decode(nullptr, &id, 1, nullptr, 0, &count, list),
              2);
    EXPECT_EQ(anec_windows_open(nullptr, nullptr, &windows, list), 2);
    EXPECT_EQ(anec_windows_next(nullptr, &id, &id, list), 2);
    EXPECT_EQ(anec_session_generate(nullptr, nullptr, "a", nullptr, nullptr,
                                    nullptr, list),
              2);
    EXPECT_EQ(anec_session_evaluate(nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, list),
              2);
  }
  EXPECT_EQ(anec_diagnostics_count(diags), 59u);
  EXPECT_EQ(reports().substr(0, 51),
            "[bad-argument] `path` cannot be used: it is null\n[b");

  EXPECT_EQ(anec_diagnostics_get(nullptr, 0, &diagnostic), 2);
  EXPECT_EQ(anec_diagnostics_get(diags, 0, &diagnostic), 2);
  EXPECT_EQ(anec_findings_get(nullptr, 0, &finding), 2);
  EXPECT_EQ(anec_logged_errors_get(nullptr, 0, &logged), 2);
  EXPECT_EQ(anec_costs_get(nullptr, 0, &cost), 2);
  EXPECT_EQ(anec_session_entry(nullptr, 0, &entry), 2);
  EXPECT_EQ(anec_session_weight(nullptr, 0, &floats), 2);
  EXPECT_EQ(anec_session_gradient(nullptr, 0, &floats), 2);
  EXPECT_EQ(anec_compile_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_coreml_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_build_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_diff_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_differences_count(nullptr), 0u);
  EXPECT_EQ(anec_compare_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_import_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_convert_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_merge_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_comparisons_count(nullptr), 0u);
  anec_comparisons_destroy(nullptr);
  EXPECT_STREQ(anec_differences_text(nullptr), "");
  EXPECT_STREQ(anec_differences_counts(nullptr), "");
  anec_differences_destroy(nullptr);
  EXPECT_EQ(anec_session_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_windows_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_generate_options_init(nullptr, 8), 2);
  EXPECT_EQ(anec_hyperparameters_init(nullptr, 8, ANEC_NUMERICS_FP16), 2);
  EXPECT_EQ(anec_diagnostics_count(nullptr), 0u);
  EXPECT_STREQ(anec_diagnostics_text(nullptr), "");
  EXPECT_EQ(anec_program_is_model(nullptr), 0);
  const char *folder = "not changed";
  EXPECT_EQ(anec_program_folder(nullptr, &folder, nullptr), 2);
  EXPECT_EQ(folder, nullptr);
  EXPECT_EQ(anec_program_folder(nullptr, nullptr, nullptr), 2);
  const char *mil = "not changed";
  EXPECT_EQ(anec_program_mil(nullptr, &mil, nullptr), 2);
  EXPECT_EQ(mil, nullptr);
  EXPECT_EQ(anec_program_mil(nullptr, nullptr, nullptr), 2);
  EXPECT_EQ(anec_findings_count(nullptr), 0u);
  EXPECT_EQ(anec_logged_errors_count(nullptr), 0u);
  EXPECT_EQ(anec_costs_count(nullptr), 0u);
  EXPECT_EQ(anec_session_entry_count(nullptr), 0u);
  EXPECT_EQ(anec_session_weight_count(nullptr), 0u);
  EXPECT_EQ(anec_session_gradient_count(nullptr), 0u);
  EXPECT_EQ(anec_tokenizer_vocabulary(nullptr), 0u);
  EXPECT_EQ(anec_windows_count(nullptr), 0u);
  anec_diagnostics_clear(nullptr);
  anec_diagnostics_destroy(nullptr);
  anec_program_destroy(nullptr);
  anec_findings_destroy(nullptr);
  anec_logged_errors_destroy(nullptr);
  anec_costs_destroy(nullptr);
  anec_session_destroy(nullptr);
  anec_trainer_destroy(nullptr);
  anec_tokenizer_destroy(nullptr);
  anec_windows_destroy(nullptr);
}

TEST_F(CApi, StructsOfOtherSizesAreRefusedOrCut) {
  anec_compile_options options;
  EXPECT_EQ(anec_compile_options_init(&options, sizeof options + 1), 2);
  EXPECT_EQ(anec_compile_options_init(&options, 1), 2);
  std::memset(&options, 0, sizeof options);
  EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &program, diags), 2);
  options.struct_size = sizeof options + 8;
  EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &program, diags), 2);
  EXPECT_EQ(reports(),
            "[bad-argument] `options` cannot be used: its `struct_size` is not "
            "that of a struct that this library knows\n"
            "[bad-argument] `options` cannot be used: its `struct_size` is not "
            "that of a struct that this library knows\n");
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.framework = "e6";
  EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &program, diags), 2);
  options.framework = "e5";
  options.macos = "new";
  EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &program, diags), 2);
  EXPECT_EQ(reports(),
            "[bad-argument] `framework` cannot be used: it is one of "
            "`in-memory`, `coreml`, `e5`, not `e6`\n"
            "[bad-argument] `macos` cannot be used: it takes a version such as "
            "`15` or `15.6`, not `new`\n");
  // A caller that knows of `target` alone: what stands behind it is not read.
  std::memset(&options, 0xff, sizeof options);
  options.struct_size = offsetof(anec_compile_options, kernel);
  options.target = "m1";
  EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &program, diags),
            ANEC_OK)
      << anec_diagnostics_text(diags);
  // Nor is it written.
  anec_rule rule;
  std::memset(&rule, 0, sizeof rule);
  rule.struct_size = offsetof(anec_rule, summary);
  EXPECT_EQ(anec_explain("op-limit", &rule, diags), ANEC_OK)
      << anec_diagnostics_text(diags);
  EXPECT_STREQ(rule.id, "op-limit");
  EXPECT_EQ(rule.summary, nullptr);
}

TEST_F(CApi, LogsAreExplained) {
  const char log[] = "ok\nstatus=0x1d : statusType=0x9\n\0"
                     "com.apple.appleneuralengine Code=6\n";
  anec_logged_errors *errors = nullptr;
  ASSERT_EQ(anec_explain_log_text(log, sizeof log - 1, &errors, diags),
            ANEC_OK);
  ASSERT_EQ(anec_logged_errors_count(errors), 2u);
  anec_logged_error error = {sizeof error};
  ASSERT_EQ(anec_logged_errors_get(errors, 0, &error), ANEC_OK);
  EXPECT_STREQ(error.id, "ane-surface-size");
  EXPECT_STREQ(error.text, "status=0x1d : statusType=0x9");
  EXPECT_EQ(std::string(error.rules).substr(0, 22), "io-row-64 io-width-32 ");
  EXPECT_EQ(error.lines, 1u);
  EXPECT_EQ(error.first_line, 2u);
  EXPECT_EQ(error.is_vague, 0);
  ASSERT_EQ(anec_logged_errors_get(errors, 1, &error), ANEC_OK);
  EXPECT_STREQ(error.id, "");
  EXPECT_STREQ(error.remedy, "");
  EXPECT_EQ(error.first_line, 3u);
  EXPECT_EQ(anec_logged_errors_get(errors, 2, &error), ANEC_USAGE_ERROR);
  // A caller of an older version.
  error.struct_size = offsetof(anec_logged_error, summary);
  error.summary = nullptr;
  ASSERT_EQ(anec_logged_errors_get(errors, 0, &error), ANEC_OK);
  EXPECT_EQ(error.summary, nullptr);
  anec_logged_errors_destroy(errors);

  size_t count = 0;
  EXPECT_EQ(anec_explain_text("ane-surface-size", nullptr, 0, &count, diags),
            ANEC_OK);
  EXPECT_GT(count, 100u);
  EXPECT_EQ(anec_explain_log_file("no/such/log", &errors, diags),
            ANEC_INPUT_ERROR);
  EXPECT_EQ(errors, nullptr);
}

TEST_F(CApi, WrongOptionsAreNamed) {
  auto compileWith = [&](auto change) {
    anec_compile_options options;
    anec_compile_options_init(&options, sizeof options);
    change(options);
    anec_program *made = nullptr;
    EXPECT_EQ(anec_compile_text(kernel, "k.tdsl", &options, &made, diags),
              ANEC_USAGE_ERROR);
    EXPECT_EQ(made, nullptr);
    return reports();
  };
  const char *words[] = {"layers"};
  EXPECT_EQ(compileWith([](auto &options) { options.target = "m0"; }),
            "[no-such-target] there is no target `m0`; there are `generic`, "
            "`m1`, `m2`, `m3`, `m3-ultra`, `m4`, `m5`, `m6`\n");
  EXPECT_EQ(compileWith([](auto &options) { options.target = "m3ultra"; }),
            "[no-such-target] there is no target `m3ultra`; there are "
            "`generic`, `m1`, `m2`, `m3`, `m3-ultra`, `m4`, `m5`, `m6`; did "
            "you mean `m3-ultra`?\n");
  EXPECT_EQ(compileWith([&](auto &options) {
              options.defines = words;
              options.define_count = 1;
            }),
            "[bad-argument] `defines` cannot be used: it takes NAME=VALUE\n");
  EXPECT_EQ(compileWith([&](auto &options) { options.define_count = 1; }),
            "[bad-argument] `defines` cannot be used: it is null\n");
  EXPECT_EQ(compileWith([&](auto &options) {
              options.weight_mode = anec_weight_mode(7);
            }),
            "[bad-argument] `weight_mode` cannot be used: it is one of "
            "`ANEC_WEIGHTS_AUTO`, `ANEC_WEIGHTS_PACKED`, `ANEC_WEIGHTS_BAKED`, "
            "not 7\n");
  EXPECT_EQ(compileWith([&](auto &options) { options.io = anec_io_mode(7); }),
            "[bad-argument] `io` cannot be used: it is one of "
            "`ANEC_IO_PACKED`, `ANEC_IO_SEPARATE`, not 7\n");
  EXPECT_EQ(
      compileWith([&](auto &options) { options.fusion = anec_fusion(7); }),
      "[bad-argument] `fusion` cannot be used: it is one of "
      "`ANEC_FUSE_DEFAULT`, `ANEC_FUSE_MAX`, not 7\n");
  EXPECT_EQ(compileWith([&](auto &options) { options.mil_version = "2"; }),
            "[bad-argument] `mil_version` cannot be used: it is one of `1.3`, "
            "`1.0`, not `2`\n");
  EXPECT_EQ(compileWith(
                [&](auto &options) { options.precision = anec_precision(7); }),
            "[bad-argument] `precision` cannot be used: it is one of "
            "`ANEC_PRECISION_SOURCE`, `ANEC_PRECISION_FP16`, "
            "`ANEC_PRECISION_FP32`, not 7\n");
  EXPECT_EQ(compileWith([&](auto &options) { options.calibration_count = 1; }),
            "[bad-argument] `calibration` cannot be used: it is null\n");
  EXPECT_EQ(compileWith([&](auto &options) {
              options.precision = ANEC_PRECISION_FP32;
              options.calibration = words;
              options.calibration_count = 1;
            }),
            "[bad-argument] `calibration` cannot be used: it is for programs "
            "in fp16 and for weights that are quantized; set `precision` or "
            "`quantize`\n");
  EXPECT_EQ(compileWith([&](auto &options) {
              options.precision = ANEC_PRECISION_FP16;
              options.calibration = words;
              options.calibration_count = 1;
            }),
            "[bad-argument] `calibration` cannot be used: it takes "
            "NAME=FILE.npy\n");
  EXPECT_EQ(compileWith([&](auto &options) { options.shape_count = 1; }),
            "[bad-argument] `shapes` cannot be used: it is null\n");
  EXPECT_EQ(compileWith([&](auto &options) {
              options.shapes = words;
              options.shape_count = 1;
            }),
            "[bad-argument] `shapes` cannot be used: it takes NAME=1x3x64\n");
}

/// A .npy file of fp32[1, 2].
static bool saveExample(const std::string &path, float value) {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.resize(117, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << char(1) << char(0) << char(header.size()) << char(0)
       << header;
  for (int i = 0; i < 2; ++i)
    file.write(reinterpret_cast<const char *>(&value), sizeof value);
  return bool(file.flush());
}

TEST_F(CApi, NarrowsAKernelByExamples) {
  constexpr char square[] =
      "kernel square(x: fp32[1, 2]) -> (y: fp32[1, 2]) {\n"
      "  return relu(x * x - 1.0);\n"
      "}\n";
  auto typeOfProduct = [&](anec_precision precision,
                           const std::string &example) -> std::string {
    anec_compile_options options;
    anec_compile_options_init(&options, sizeof options);
    options.precision = precision;
    std::string argument = "x=" + example;
    const char *words[] = {argument.c_str()};
    options.calibration = words;
    options.calibration_count = example.empty() ? 0 : 1;
    anec_program *made = nullptr;
    if (anec_compile_text(square, "k.tdsl", &options, &made, diags) != ANEC_OK)
      return reports();
    const char *mil = nullptr;
    EXPECT_EQ(anec_program_mil(made, &mil, diags), ANEC_OK);
    std::string text = mil;
    anec_program_destroy(made);
    size_t type = text.rfind("tensor<", text.find("> mul = ")) + 7;
    return text.substr(type, 4);
  };
  std::string large = testing::TempDir() + "anec-large.npy",
              small = testing::TempDir() + "anec-small.npy";
  ASSERT_TRUE(saveExample(large, 300) && saveExample(small, 3));
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_SOURCE, ""), "fp32");
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_FP32, ""), "fp32");
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_FP16, ""), "fp16");
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_FP16, small), "fp16");
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_FP16, large), "fp32");
  std::remove(large.c_str());
  std::remove(small.c_str());
  EXPECT_EQ(typeOfProduct(ANEC_PRECISION_FP16, large).substr(0, 13),
            "[cannot-open]");
}

TEST_F(CApi, RunsAKernelAndRefusesArraysThatDoNotFit) {
  compile(kernel);
  EXPECT_EQ(anec_program_is_model(program), 0);
  const char *mil = nullptr;
  ASSERT_EQ(anec_program_mil(program, &mil, diags), ANEC_OK);
  EXPECT_NE(std::string(mil).find("func main<ios18>"), std::string::npos);
  size_t count = 0;
  ASSERT_EQ(anec_session_input_count(session, nullptr, &count, diags), ANEC_OK);
  EXPECT_EQ(count, 1u);
  anec_port port = {sizeof port};
  ASSERT_EQ(anec_session_input(session, nullptr, 0, &port, diags), ANEC_OK);
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.dtype, ANEC_FP16);
  EXPECT_EQ(std::vector<int64_t>(port.dims, port.dims + port.rank),
            (std::vector<int64_t>{1, 16, 1, 8}));
  EXPECT_EQ(port.bytes, 256u);
  EXPECT_STREQ(port.role, "input");
  EXPECT_EQ(anec_session_input(session, nullptr, 1, &port, diags), 2);
  EXPECT_EQ(reports(),
            "[bad-argument] `index` cannot be used: there are not so many\n");

  std::vector<float> x(128, 1), y(32, -1);
  const int64_t dims[] = {16, 8};
  anec_input in = {sizeof in, "x", ANEC_FP32, x.data(), 512, 2, dims};
  anec_output out = {sizeof out, "output", ANEC_FP32, y.data(),
                     128,        0,        nullptr};
  ASSERT_EQ(anec_session_run(session, nullptr, &in, 1, &out, 1, diags), ANEC_OK)
      << anec_diagnostics_text(diags);
  EXPECT_GE(y[0], 0);

  auto runWith = [&](auto change) {
    anec_input changed = in;
    change(changed);
    EXPECT_EQ(anec_session_run(session, nullptr, &changed, 1, &out, 1, diags),
              ANEC_USAGE_ERROR);
    return reports();
  };
  EXPECT_EQ(runWith([](auto &input) { input.name = nullptr; }),
            "[bad-argument] `inputs` cannot be used: a name is null\n");
  EXPECT_EQ(runWith([](auto &input) { input.data = nullptr; }),
            "[bad-argument] `inputs` cannot be used: its data is null\n");
  EXPECT_EQ(runWith([](auto &input) { input.dtype = anec_dtype(99); }),
            "[bad-argument] `inputs` cannot be used: it has no such dtype\n");
  EXPECT_EQ(runWith([](auto &input) { input.struct_size = 4096; }),
            "[bad-argument] `inputs` cannot be used: its `struct_size` is not "
            "that of a struct that this library knows\n");
  EXPECT_EQ(runWith([](auto &input) { input.bytes = 4; }),
            "[array-size] input `x` is `fp32[1, 16, 1, 8]`, which takes 512 "
            "bytes, and the array has 4\n");
  EXPECT_EQ(anec_session_run(session, nullptr, nullptr, 1, &out, 1, diags), 2);
  EXPECT_EQ(anec_session_run(session, "other", &in, 1, &out, 1, diags), 2);
  EXPECT_EQ(anec_trainer_open(session, nullptr, nullptr, &trainer, diags), 2);
}

TEST_F(CApi, TrainsAndKeepsItsErrors) {
  compile(model);
  EXPECT_NE(anec_program_is_model(program), 0);
  // The session keeps what it needs of the program.
  anec_program_destroy(program);
  program = nullptr;
  anec_entry entry = {sizeof entry};
  ASSERT_EQ(anec_session_entry(session, 0, &entry), ANEC_OK);
  EXPECT_STREQ(entry.name, "classify.train");
  EXPECT_STREQ(entry.role, "train");
  EXPECT_EQ(entry.trains, 1);

  anec_hyperparameters hyper;
  ASSERT_EQ(anec_hyperparameters_init(&hyper, sizeof hyper, ANEC_NUMERICS_FP16),
            ANEC_OK);
  EXPECT_EQ(hyper.loss_scale, 1024);
  hyper.beta1 = 2;
  EXPECT_EQ(anec_trainer_open(session, nullptr, &hyper, &trainer, diags), 2);
  hyper.beta1 = 0.9;
  hyper.warmup = 0;
  ASSERT_EQ(anec_trainer_open(session, nullptr, &hyper, &trainer, diags),
            ANEC_OK);
  reports();

  std::vector<float> x(128, 1);
  std::vector<int32_t> labels(8, 1);
  anec_input inputs[] = {
      {sizeof(anec_input), "x", ANEC_FP32, x.data(), 512, 0, nullptr},
      {sizeof(anec_input), "labels", ANEC_INT32, labels.data(), 32, 0,
       nullptr}};
  anec_step first = {sizeof first}, second = {sizeof second};
  ASSERT_EQ(anec_trainer_step(trainer, inputs, 2, &first, diags), ANEC_OK)
      << anec_diagnostics_text(diags);
  ASSERT_EQ(anec_trainer_step(trainer, inputs, 2, &second, diags), ANEC_OK);
  EXPECT_EQ(second.step, 2u);
  EXPECT_LT(second.loss, first.loss);
  anec_floats gradient = {sizeof gradient};
  ASSERT_EQ(anec_session_gradient_count(session), 1u);
  ASSERT_EQ(anec_session_gradient(session, 0, &gradient), ANEC_OK);
  EXPECT_STREQ(gradient.name, "dense.w");
  EXPECT_EQ(gradient.count, 64u);

  EXPECT_EQ(anec_trainer_update(trainer, nullptr, diags), 2);
  // However often something is wrong: it is said each time.
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(anec_trainer_step(trainer, inputs, 1, nullptr, nullptr), 2);
  anec_diagnostics_clear(diags);
  EXPECT_EQ(anec_trainer_step(trainer, inputs, 1, nullptr, diags), 2);
  EXPECT_EQ(reports(),
            "[array-missing] input `labels` of type `int32[8]` is not "
            "given\n");
}

TEST_F(CApi, TokensAndWindowsAreChecked) {
  anec_tokenizer *bytes = nullptr;
  ASSERT_EQ(anec_tokenizer_open(nullptr, &bytes, diags), ANEC_OK);
  EXPECT_EQ(anec_tokenizer_vocabulary(bytes), 256u);
  int32_t ids[2] = {};
  size_t count = 0;
  ASSERT_EQ(anec_tokenizer_encode(bytes, "abc", ids, 2, &count, diags),
            ANEC_OK);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(ids[1], 'b');
  char text[2] = {};
  ASSERT_EQ(anec_tokenizer_decode(bytes, ids, 2, text, 1, &count, diags),
            ANEC_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(text[0], 'a');
  EXPECT_EQ(text[1], 0);
  ids[0] = 300;
  EXPECT_EQ(anec_tokenizer_decode(bytes, ids, 2, text, 1, &count, diags), 2);

  anec_windows_options options;
  ASSERT_EQ(anec_windows_options_init(&options, sizeof options), ANEC_OK);
  anec_windows *windows = nullptr;
  EXPECT_EQ(anec_windows_open(&options, bytes, &windows, diags), 2);
  options.length = 4;
  options.validation_share = 1;
  EXPECT_EQ(anec_windows_open(&options, bytes, &windows, diags), 2);
  options.validation_share = 0;
  const char *path = "/nowhere/text.txt";
  options.paths = &path;
  options.path_count = 1;
  reports();
  EXPECT_EQ(anec_windows_open(&options, bytes, &windows, diags),
            ANEC_INPUT_ERROR);
  EXPECT_EQ(windows, nullptr);
  anec_tokenizer_destroy(bytes);
}
