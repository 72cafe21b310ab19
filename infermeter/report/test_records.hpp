// Records for the tests of this folder, written by hand down to the last figure, so that no formula of another folder
// and no library's version moves what the golden files hold.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/verdict/answers/run_answers.hpp"
#include "infermeter/verdict/answers/run_checklist.hpp"
#include "infermeter/verdict/judge.hpp"

// A record here names only the fields that a test is about.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace infermeter::test {

inline Samples trial_of(int subject, int process, int position, double latency_s) {
  Samples trial{.subject = subject, .process = process, .position = position};
  trial.started_at = 1795261320.25 + position;
  trial.wall_s = 1.5;
  trial.phase = Phase::done;
  trial.load_s = 0.25;
  trial.first_inference_s = latency_s * 2;
  trial.warmup_begin_s = {0.25};
  trial.warmup_end_s = {0.25 + latency_s};
  trial.begin_s = {0.5, 0.625};
  trial.end_s = {0.5 + latency_s, 0.625 + latency_s};
  trial.clock = {.name = "tsc", .tick_s = 5e-10, .read_cost_s = 1.25e-8};
  trial.memory.rss_before_load = 50'000'000;
  trial.memory.rss_after_load = 210'000'000;
  trial.memory.rss_peak_inference = 312'000'000;
  trial.memory.pss_after_load = 190'000'000;
  trial.memory.peak_reset = true;
  trial.memory_timeline = {{0.015, Phase::start, 48'000'000},
                           {0.125, Phase::load, 130'000'000},
                           {0.25, Phase::warmup, 210'000'000},
                           {0.5, Phase::timed, 312'000'000},
                           {0.75, Phase::timed, 312'000'000}};
  trial.noise.foreign_cpu = 0.41;
  trial.executed = {{"dtype", "float32"}, {"threads", "2"},           {"device", "cpu"},
                    {"runtime", "test"},  {"runtime_version", "1.2"}, {"input_shape", "(1, 3, 224, 224)"}};
  trial.counters = {{.name = "cache_hits", .unit = "", .value = 3}};
  trial.outputs = {{.name = "logits", .dtype = "float32", .shape = {1, 1000}, .element_count = 1000}};
  trial.input_digest = 0x1234;
  trial.output_digest = 0xffffffffffffffff;
  return trial;
}

inline Metric metric_of(std::string name, std::string unit, double value, double spread) {
  Estimate estimate{.value = value,
                    .interval = Interval{value - spread, value + spread, 0.95},
                    .n = 6,
                    .processes = 3,
                    .method = "median over processes; t interval",
                    .note = {}};
  const bool lower = unit != "items/s";
  return {
      .name = std::move(name), .unit = std::move(unit), .lower_is_better = lower, .estimate = estimate, .within = {}};
}

inline Ratio ratio_with(std::string metric, double value, double low, double high) {
  return {.metric = std::move(metric),
          .estimate = {.value = value,
                       .interval = Interval{low, high, 0.95},
                       .n = 12,
                       .processes = 6,
                       .method = "ratio of medians; Welch",
                       .note = {}}};
}

inline Summary summary_of(int subject, double p50_s, double spread_s) {
  Summary summary{.subject = subject, .trials_ok = 3};
  summary.metrics = {
      metric_of("latency_p50", "s", p50_s, spread_s),   metric_of("latency_p95", "s", p50_s * 1.25, spread_s),
      metric_of("latency_p99", "s", p50_s, 0),          metric_of("latency_mean", "s", p50_s, spread_s),
      metric_of("throughput", "items/s", 1 / p50_s, 1), metric_of("memory_peak", "bytes", 312e6, 1e6)};
  summary.metrics[2].estimate = {.n = 6, .processes = 3, .method = "order statistics", .note = "needs 459 iterations"};
  summary.metrics[0].within = Interval{p50_s - spread_s / 2, p50_s + spread_s / 2, 0.95};
  summary.outliers = {.mild = 1, .severe = 0, .removed = 0, .total = 6};
  return summary;
}

inline CounterSummary counter_with(std::string name, std::string unit, double value, double spread, int processes = 3) {
  Estimate estimate{.value = value,
                    .interval = Interval{value - spread, value + spread, 0.95},
                    .n = processes,
                    .processes = processes,
                    .method = "mean over processes; t interval",
                    .note = processes < 3 ? "given by 2 of 3 processes" : ""};
  return {.name = std::move(name), .unit = std::move(unit), .estimate = estimate};
}

inline SubjectOutputs outputs_of_pair(int subject, int reference, bool agree, double max_absolute) {
  OutputDifference output{.name = "logits",
                          .dtype = "float32",
                          .shape = {1, 1000},
                          .within_tolerance = agree,
                          .element_count = 1000,
                          .max_absolute = max_absolute,
                          .max_absolute_index = 7,
                          .reference_at_max = 1.5,
                          .candidate_at_max = 1.5 + max_absolute,
                          .mismatched = agree ? 0U : 12U,
                          .tolerance = {.relative = 1e-4, .absolute = 1e-6}};
  output.relative_l2 = 1e-6;
  output.cosine = 1.0;
  return {.subject = subject, .reference = reference, .comparison = {.agree = agree, .items = 1, .outputs = {output}}};
}

inline Subject subject_named(std::string model, std::string backend, std::int64_t batch_size, int group) {
  Subject subject{.label = model + "@" + backend, .model = model, .backend = backend, .batch_size = batch_size};
  subject.group = group;
  return subject;
}

// Two groups: one decided, one where the interval includes 1, outputs differ and one subject crashed.
inline RunRecord example_record() {
  RunRecord record{.id = "20261121-114200-3f9a", .created_at = 1795261320.25, .finished = true};
  record.plan.seed = 1;
  record.plan.subjects = {subject_named("resnet50", "onnxruntime", 1, 0), subject_named("resnet50", "openvino", 1, 0),
                          subject_named("vit_b_16", "onnxruntime", 4, 1), subject_named("vit_b_16", "openvino", 4, 1),
                          subject_named("vit_b_16", "fake", 4, 1)};
  record.plan.subjects[1].options = {{"performance_hint", "latency"}};
  record.plan.order = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
  record.environment = {.processor = "AMD EPYC", .architecture = "x86_64", .flags = {"avx2", "avx512f"}};
  record.environment.processors_online = record.environment.processors_usable = 2;
  record.environment.caches = {{.kind = "L2", .size_bytes = 1048576, .shared_by = 1}};
  record.environment.memory_total_bytes = 8'360'000'000;
  record.environment.kernel = "6.1.0-18-amd64";
  record.environment.distribution = "Debian GNU/Linux 12 (bookworm)";
  record.environment.infermeter_version = "0.1.0";
  record.environment.git_commit = "0123abc";
  for (const auto& subject : record.plan.subjects) {
    record.models.push_back({.name = subject.model,
                             .path = "/models/" + subject.model + ".onnx",
                             .format = "onnx",
                             .sha256 = std::string(64, 'a'),
                             .size_bytes = 102'400'000,
                             .parameters = 25'557'032,
                             .weight_files = {},
                             .from_zoo = true});
  }
  const double latencies[] = {0.0382, 0.0353, 0.25, 0.251};
  for (int i = 0; i < 4; ++i) record.trials.push_back(trial_of(i, 0, i, latencies[i]));
  Samples crashed{.subject = 4,
                  .position = 4,
                  .end = TrialEnd::crashed,
                  .phase = Phase::timed,
                  .signal = 11,
                  .message = "the worker was ended by signal 11 (SIGSEGV)",
                  .stderr_tail = "loading\nfake: out of cheese\n"};
  record.trials.push_back(crashed);
  record.outputs = {outputs_of_pair(1, 0, true, 2.1e-5), outputs_of_pair(3, 2, false, 0.51)};
  return record;
}

// With the answers and the checklist that follow from what it holds, as judge() adds them.
inline Verdict answered(const RunRecord& record, Verdict verdict) {
  verdict.answers = run_answers(record, verdict);
  verdict.checks = checklist(record, verdict);
  return verdict;
}

// `record` must outlive it.
inline Verdict example_verdict(const RunRecord& record) {
  Verdict verdict;
  verdict.subjects.resize(5);
  const double latencies[] = {0.0382, 0.0353, 0.25, 0.251};
  for (int i = 0; i < 4; ++i) {
    auto& subject = verdict.subjects[static_cast<std::size_t>(i)];
    subject.subject = i;
    subject.summary = summary_of(i, latencies[i], 0.0004);
  }
  verdict.subjects[0].summary.counters = {counter_with("cache_hits", "1", 3, 0),
                                          counter_with("psnr_difference", "dB", -0.31, 0.05)};
  verdict.subjects[1].summary.counters = {counter_with("psnr_difference", "dB", 0.2, 0.31, 2),
                                          counter_with("wait", "s", 1.25e-7, 1e-8)};
  verdict.subjects[3].summary.metrics.push_back(metric_of("device_memory_peak", "bytes", 1.25e9, 0));
  verdict.subjects[4].subject = 4;
  verdict.subjects[4].summary = {.subject = 4, .trials_failed = 1};
  verdict.subjects[1].baseline = 0;
  verdict.subjects[1].ratios = {ratio_with("latency_p50", 1.08, 1.05, 1.11), ratio_with("throughput", 1.08, 1.05, 1.11),
                                ratio_with("memory_peak", 1.2, 1.1, 1.3)};
  verdict.subjects[1].direction = Direction::faster;
  verdict.subjects[1].outputs = &record.outputs[0];
  verdict.subjects[3].baseline = 2;
  verdict.subjects[3].ratios = {ratio_with("latency_p50", 0.996, 0.98, 1.03), ratio_with("memory_peak", 1, 0.9, 1.1)};
  verdict.subjects[3].direction = Direction::unresolved;
  verdict.subjects[3].outputs = &record.outputs[1];
  verdict.subjects[4].baseline = 2;
  verdict.diagnostics = {
      {DiagnosticId::few_cores, "the machine has 2 cores", ""},
      {DiagnosticId::foreign_load, "other programs used 41 % of a core", "resnet50@openvino"},
      {DiagnosticId::foreign_load, "other programs used 12 % of a core", "vit_b_16@onnxruntime"},
      {DiagnosticId::outputs_differ, "12 of 1000 elements are beyond tolerance", "vit_b_16@openvino"},
      {DiagnosticId::trial_failed, "crashed, signal 11", "vit_b_16@fake"},
  };
  verdict.exit_code = 4;
  return answered(record, std::move(verdict));
}

inline LoadRecord load_record(bool good) {
  LoadRecord load;
  load.open_loop = true;
  load.clients = 64;
  load.due = 800, load.issued = 800, load.completed = good ? 800 : 797, load.failed = good ? 0 : 3;
  load.kept = load.completed;
  load.arrivals_s = 8, load.duration_s = good ? 8.0625 : 9.5;
  load.response = {1e-3, {{8, 400}, {12, 390}, {24, good ? 10U : 7U}}};
  load.service = {1e-3, {{8, load.completed}}};
  load.lag = {1e-3, {{0, 400}, {4, load.completed - 400}}};
  load.late = {1e-3, {{0, load.completed}}};
  load.bin_s = 2;
  load.timeline = {{200, 198, 0, 2, 0.012}, {200, 200, 0, 2, 0.024}, {200, 199, 0, 3, 0.012}, {200, 200, 0, 3, 0.012}};
  if (!good) load.errors = {{"timed out", 2}, {"<b>refused</b>", 1}};
  if (!good) load.error_kinds = {{"refused", 1}, {"timeout", 2}};
  return load;
}

// One back end that keeps up with 100 requests per second, and one that does not.
inline RunRecord load_run() {
  RunRecord record = example_record();
  record.plan.subjects = {subject_named("resnet50", "onnxruntime", 1, 0), subject_named("resnet50", "openvino", 1, 0)};
  for (Subject& subject : record.plan.subjects) subject.load = {{"scenario", "server"}, {"rate", "100"}};
  record.models.resize(2);
  record.outputs.clear();
  record.trials = {trial_of(0, 0, 0, 0.008), trial_of(1, 0, 1, 0.9)};
  record.trials[0].load = load_record(true);
  record.trials[1].load = load_record(false);
  return record;
}

inline Verdict load_verdict(const RunRecord& record) {
  Verdict verdict;
  verdict.subjects.resize(2);
  for (int i = 0; i < 2; ++i) {
    auto& subject = verdict.subjects[static_cast<std::size_t>(i)];
    const double times = i == 0 ? 1 : 100;
    subject.subject = i;
    subject.summary = summary_of(i, 0.008, 0.0004);
    subject.summary.counters = {counter_with("offered_rate", "1/s", 100, 0),
                                counter_with("achieved_rate", "1/s", i == 0 ? 99.25 : 83.5, 0.5),
                                counter_with("response_p50", "s", 0.008 * times, 0.0004),
                                counter_with("response_p90", "s", 0.012 * times, 0.0004),
                                counter_with("response_p99", "s", 0.024 * times, 0.0004),
                                counter_with("response_p99_9", "s", 0.03 * times, 0.0004),
                                counter_with("service_p50", "s", 0.008, 0.0004),
                                counter_with("service_p99", "s", 0.008, 0.0004),
                                counter_with("lag_p50", "s", 0.00025, 0),
                                counter_with("lag_p99", "s", 0.004 * times, 0.0004),
                                counter_with("in_flight_mean", "1", 1.25 * times, 0.1),
                                counter_with("failed", "1", i == 0 ? 0 : 3, 0),
                                counter_with("tokens", "1", 7, 0)};
    subject.load = LoadValidity{.findings = {}, .requests = 797};
  }
  verdict.subjects[1].baseline = 0;
  verdict.subjects[1].load->findings = {
      {LoadRule::errors, 3, 0, "requests", "3 of 800 requests failed: timed out (2), <b>refused</b> (1)"},
      {LoadRule::stationary, 0.15, 0.01, "share", "the queue grew as long as requests came, from 4 to 110 of them"}};
  verdict.diagnostics = load_diagnostics(verdict.subjects[1].load, "resnet50@openvino");
  return answered(record, std::move(verdict));
}

// ResNet-50 on two back ends, decided after 16 pairs, and a third that answers something else.
inline RunRecord comparison_record() {
  RunRecord record = example_record();
  record.plan.seed = 1;
  record.plan.subjects = {subject_named("resnet50", "onnxruntime", 1, 0), subject_named("resnet50", "openvino", 1, 0),
                          subject_named("resnet50", "fake", 1, 0)};
  record.plan.processes = 40;
  record.plan.automatic = {.warmup = true, .iterations = true};
  record.plan.question.emplace();
  record.plan.order = {{1, 0}, {0, 0}, {2, 0}};
  record.models.resize(3);
  record.trials.clear();
  for (int i = 0; i < 3; ++i) record.trials.push_back(trial_of(i, 0, i, 0.0382 - 0.001 * i));
  record.side_trials = {trial_of(0, 0, 0, 0.0382)};
  record.side_trials[0].purpose = Purpose::pilot;
  record.outputs = {outputs_of_pair(1, 0, true, 2.1e-5), outputs_of_pair(2, 0, false, 0.51)};
  record.noise = MachineNoise{.measured_at = 1795261320.25,
                              .subject = "mobilenet_v3_small@onnxruntime",
                              .metric = "latency_p50",
                              .pairs = 20,
                              .standard_deviation = 0.012};
  return record;
}

inline PairedComparison paired(int candidate, std::string metric, double estimate, double low, double high) {
  PairedComparison result;
  result.candidate = candidate;
  result.metric = std::move(metric);
  result.differences = {estimate, low, high};
  result.estimate = estimate;
  result.interval = Interval{low, high, 0.95};
  result.t = Interval{low + 0.001, high - 0.001, 0.95};
  result.p = 0.00003;
  result.standard_deviation = 0.01;
  result.spread = 0.01;
  result.minimum_effect = 0.008;
  return result;
}

// `record` must outlive it.
inline Verdict comparison_verdict(const RunRecord& record) {
  Verdict verdict;
  verdict.subjects.resize(3);
  for (int i = 0; i < 3; ++i) {
    auto& subject = verdict.subjects[static_cast<std::size_t>(i)];
    subject.subject = i;
    subject.summary = summary_of(i, 0.0382 - 0.001 * i, 0.0004);
    if (i == 0) continue;
    subject.baseline = 0;
    subject.ratios = {ratio_with("latency_p50", 1.03, 1.02, 1.04)};
    subject.outputs = &record.outputs[static_cast<std::size_t>(i - 1)];
  }
  verdict.subjects[0].leak = LeakEstimate{.verdict = LeakVerdict::leak,
                                          .bytes_per_iteration = 10240,
                                          .interval = Interval{10100, 10400, 0.95},
                                          .from = 1000,
                                          .growth_bytes = 1e7,
                                          .reason = "memory grows to the end"};
  ComparisonVerdict& comparison = verdict.comparison.emplace();
  comparison.primary = {paired(1, "latency_p50", -0.031, -0.037, -0.024),
                        paired(2, "latency_p50", 0.004, -0.02, 0.028)};
  comparison.primary[0].direction = Direction::faster;
  for (const PairedComparison& pairs : comparison.primary)
    verdict.subjects[static_cast<std::size_t>(pairs.candidate)].direction = pairs.direction;
  comparison.primary[1].p = 0.4;
  comparison.primary[1].more_pairs = 60;
  comparison.looks = {{{.pairs = 16, .level = 0.0019, .p = 3e-5, .estimate = -0.031, .direction = Direction::faster}},
                      {}};
  comparison.exploratory = {paired(1, "throughput", -0.03, -0.036, -0.023), paired(1, "memory_peak", 0.95, 0.9, 1)};
  comparison.exploratory[0].direction = Direction::faster;
  comparison.exploratory[1].direction = Direction::slower;
  comparison.pairs = 16;
  comparison.ended = true;
  comparison.wall_s = 41;
  verdict.diagnostics = {{DiagnosticId::few_cores, "the machine has 2 cores", ""}};
  verdict.exit_code = 1;
  return answered(record, std::move(verdict));
}

// Names as an enemy would choose them.
inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {
      "</script><svg onload=alert(1)>",
      "\x1b[2J\x1b]0;owned\x07",
      "\xe2\x80\xae"
      "gnp.exe",
      std::string("nul\0byte", 8),
      "two\nlines\r\n",
      "=cmd|' /C calc'!A0",
      "+1",
      "@SUM(A1)",
      "-2+3",
      "\ttab, \"quoted\" | piped",
      "\xff\xfe\xc0\xaf",
      std::string(1'000'000, 'x'),
      "模型 e\xcc\x81 🚀",
      "\xc2\x9b"
      "31m",
      "`code` *star* @team #1",
  };
  return names;
}

inline RunRecord hostile_record() {
  RunRecord record = example_record();
  record.plan.subjects.clear();
  record.models.clear();
  record.trials.clear();
  record.outputs.clear();
  int index = 0;
  for (const auto& label : hostile_names()) {
    const std::string name = label.substr(0, 1000);  // a megabyte once is enough
    Subject subject{.label = label, .model = name, .backend = name, .device = name};
    subject.options = {{name, name}, {name, "twice"}};
    record.plan.subjects.push_back(subject);
    record.models.push_back({.name = name, .path = name});
    Samples trial = trial_of(index, 0, index, 0.01);
    trial.executed.emplace_back(name, name);
    trial.message = trial.stderr_tail = name;
    if (index % 2 == 1) trial.end = TrialEnd::run_failed;
    record.trials.push_back(std::move(trial));
    record.diagnostics.push_back({DiagnosticId::high_load, name, name});
    ++index;
  }
  record.environment.processor = record.environment.command = record.environment.git_commit = hostile_names()[1];
  return record;
}

}  // namespace infermeter::test
