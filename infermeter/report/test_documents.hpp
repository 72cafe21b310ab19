// One part of every kind, for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "infermeter/report/forms/document.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"

namespace infermeter::test {

inline ReportPart example_part(const RenderOptions& options = {}) {
  const RunRecord record = example_record();
  return run_part(record, example_verdict(record), options);
}

inline ReportPart comparison_part() {
  const RunRecord record = comparison_record();
  return run_part(record, comparison_verdict(record));
}

inline ReportPart example_gate_part() {
  const RunRecord record = example_record();
  const Verdict of_run = example_verdict(record);
  Gate gate{.name = "gate.toml", .expectations = {}};
  for (const char* text : {"latency_p50_ms <= 40", "latency_p50_ms <= 20"}) {
    auto expectation = parse_expectation({.that = {.text = text, .file = "gate.toml", .line = 1, .column = 1}});
    gate.expectations.push_back(std::move(*expectation));
  }
  GateVerdict verdict{.verdicts = {},
                      .passed = 1,
                      .failed = 1,
                      .inconclusive = 0,
                      .baseline_name = {},
                      .baseline_run = {},
                      .exit_code = 1};
  const Interval interval{0.0378, 0.0386, 0.95};
  verdict.verdicts = {{.expectation = 0,
                       .subject = 0,
                       .outcome = Outcome::pass,
                       .value = 0.0382,
                       .interval = interval,
                       .n = 6,
                       .n_of = "iterations",
                       .processes = 3,
                       .reason = "the whole interval lies within"},
                      {.expectation = 1,
                       .subject = 0,
                       .outcome = Outcome::fail,
                       .value = 0.0382,
                       .interval = interval,
                       .n = 6,
                       .n_of = "iterations",
                       .processes = 3,
                       .reason = "the whole interval lies beyond"}};
  return gate_part(record, of_run, gate, verdict);
}

inline Validation example_validation() {
  Validation validation;
  validation.created_at = 1795261320;
  validation.hostname = "bench";
  validation.baseline.subject = subject_named("unet", "onnxruntime", 1, 0);
  validation.candidate.subject = subject_named("unet", "openvino", 1, 0);
  validation.baseline.executed = validation.candidate.executed = {{"runtime", "test"}, {"dtype", "float32"}};
  validation.items = {"a.png", "b.png"};
  OutputDifference output = outputs_of_pair(1, 0, false, 0.51).comparison.outputs[0];
  output.psnr_db = 41.5;
  output.ssim = 0.98;
  validation.outputs = {.agree = false, .items = 2, .outputs = {output}};
  validation.outputs.diagnostics = {{DiagnosticId::outputs_differ, "12 of 1000 elements are beyond tolerance", "y"}};
  validation.samples = {
      {.item = 0, .output = 0, .within_tolerance = true, .element_count = 1000, .max_absolute = 0},
      {.item = 1, .output = 0, .within_tolerance = false, .element_count = 1000, .mismatched = 12, .max_absolute = 0}};
  validation.again = {
      .agree = true, .items = 1, .outputs = {{.name = "logits", .shape = {1, 1000}, .max_absolute = 0}}};
  validation.again_items = 1;
  AccuracyDrop& drop = validation.accuracy.emplace();
  drop.baseline.labels = LabelAccuracy{.rows = 1000, .top1 = 760};
  drop.candidate.labels = LabelAccuracy{.rows = 1000, .top1 = 750};
  drop.baseline.output = drop.candidate.output = "logits";
  drop.paired = PairedRight{740, 20, 10, 230};
  drop.baseline_interval = Interval{0.73, 0.79, 0.95};
  drop.candidate_interval = Interval{0.72, 0.78, 0.95};
  drop.change = PairedProportions{.difference = -0.01, .interval = {-0.022, 0.001, 0.95}, .p_value = 0.07};
  drop.allowed = 0.05;
  return validation;
}

inline std::vector<DifferencePicture> example_pictures() {
  return {{.output = "mask",
           .name = "b.png",
           .where = "channel 0",
           .item = 1,
           .rows = 1,
           .columns = 2,
           .full_rows = 2,
           .full_columns = 4,
           .low = 0,
           .high = 1,
           .max_difference = 0.5,
           .reference = std::string("\x00\xff\x00\xfc", 4),
           .candidate = "abcd",
           .difference = "efgh",
           .plane = {0, 0},
           .largest = std::pair<std::size_t, std::size_t>{1, 3}}};
}

inline VariantSet example_variants() {
  return {.model = "/models/resnet50.onnx",
          .batch_sizes = {1},
          .entries = {{.label = "float32", .kind = "float32", .refusal = {}, .subjects = {0}},
                      {.label = "int8", .kind = "int8-static", .refusal = {}, .subjects = {1}},
                      {.label = "int4", .kind = "int4", .refusal = "could not be made: no", .subjects = {}}},
          .notes = {"bfloat16 was left out"}};
}

inline ReportPart example_variants_part() {
  const RunRecord record = example_record();
  return variants_part(record, example_verdict(record), example_variants());
}

inline ReportPart example_layers_part() {
  LayersRecord record;
  record.created_at = 1795261320;
  record.hostname = "bench";
  record.reference = subject_named("mlp", "onnxruntime", 1, 0);
  record.candidate = subject_named("mlp", "openvino", 1, 0);
  record.item = "synthetic 0";
  LayerDifference same{.name = "x",
                       .candidate_name = "x",
                       .node = "gemm",
                       .op = "Gemm",
                       .position = 0,
                       .dtype = "float32",
                       .candidate_dtype = "float32",
                       .shape = {1, 4},
                       .floor = 1e-5};
  same.tally.count = same.tally.finite = 4;
  record.growth.tensors = {same, same};
  record.growth.tensors[1].name = record.growth.tensors[1].candidate_name = "y";
  record.growth.tensors[1].tally.non_finite_apart = 1;
  record.growth.first_difference = record.growth.jump = 1;
  record.growth.reference_only = {"z"};
  return layers_part(record);
}

inline ReportPart example_history_part() {
  HistoryReport report{.metric = "latency_p50", .this_machine = "0123456789abcdef", .machines = {}, .entries = {}};
  report.machines = {{.machine = "0123456789abcdef", .hostname = "bench", .processor = "AMD EPYC", .runs = 1}};
  History history;
  history.series = "resnet50@openvino";
  history.machine = report.this_machine;
  history.metric = report.metric;
  history.too_few = true;
  Figure& figure = history.figures.emplace_back();
  figure.run = "20261121-114200-3f9a";
  figure.created_at = 1795261320.25;
  figure.label = "resnet50@openvino";
  figure.value = 0.0382;
  figure.processes = 3;
  report.entries = {{.history = history, .confirmation = {}}};
  return history_part(report);
}

// One of each kind.
inline std::vector<ReportPart> all_parts() {
  return {example_part(),          example_gate_part(),   validation_part(example_validation(), example_pictures()),
          example_variants_part(), example_layers_part(), example_history_part()};
}

}  // namespace infermeter::test
