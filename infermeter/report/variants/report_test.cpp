#include "infermeter/report/variants/report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "infermeter/report/options.hpp"
#include "infermeter/report/test_golden.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter::variants_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& name, const std::string& text) { test::expect_golden("variants/" + name, text); }

struct Example {
  RunRecord record;
  Verdict verdict;
  VariantSet set;
};

struct Figures {
  const char* label;
  double p50_s, spread_s;
  std::uint64_t size_bytes;
  double error;  // 0: the baseline
  double memory_bytes;
};

// ResNet-50, nearly as it was: float32, float16 (no faster), int8 (much faster), pruned, and one that crashed.
constexpr Figures figures[] = {{"float32", 0.0388, 0.0003, 102'400'000, 0, 312e6},
                               {"float16", 0.0390, 0.0004, 51'200'000, 5e-4, 365e6},
                               {"int8-static", 0.0121, 0.0001, 25'600'000, 0.02, 140e6},
                               {"pruned-50%", 0.0389, 0.0004, 102'400'000, 0.21, 312e6}};

// Three processes whose times are `spread` apart, as a share.
void add_trials(RunRecord& record, int subject, double p50_s, double spread) {
  std::erase_if(record.trials, [&](const Samples& trial) { return trial.subject == subject; });
  for (int process = 0; process < 3; ++process)
    record.trials.push_back(test::trial_of(subject, process, process, p50_s * (1 + spread * (process - 1))));
}

void add_subject(Example& example, const Figures& of) {
  const int index = static_cast<int>(example.record.plan.subjects.size());
  Subject subject = test::subject_named("resnet50", "onnxruntime", 1, 0);
  subject.label = of.label;
  example.record.plan.subjects.push_back(subject);
  ModelFacts model;
  model.name = "resnet50";
  model.path = std::string("/cache/resnet50.") + of.label + ".onnx";
  model.format = "onnx";
  model.sha256 = std::string(64, 'a');
  model.size_bytes = of.size_bytes;
  model.parameters = 25'557'032;
  model.nonzero_parameters = std::string_view(of.label).starts_with("pruned") ? 12'800'000U : 25'556'785U;
  if (index > 0) model.made = std::string(of.label) + " by somebody";
  example.record.models.push_back(model);
  add_trials(example.record, index, of.p50_s, 0.0002);
  SubjectVerdict verdict{.subject = index, .summary = test::summary_of(index, of.p50_s, of.spread_s)};
  verdict.summary.metrics.back() = test::metric_of("memory_peak", "bytes", of.memory_bytes, 1e6);
  if (index > 0) {
    const double ratio = figures[0].p50_s / of.p50_s, spread = ratio * 0.005;
    verdict.baseline = 0;
    verdict.ratios = {test::ratio_with("latency_p50", ratio, ratio - spread, ratio + spread),
                      test::ratio_with("memory_peak", 312e6 / of.memory_bytes, 312e6 / of.memory_bytes * 0.99,
                                       312e6 / of.memory_bytes * 1.01)};
    SubjectOutputs outputs = test::outputs_of_pair(index, 0, false, of.error);
    outputs.comparison.outputs[0].relative_l2 = of.error;
    example.record.outputs.push_back(outputs);
  }
  example.verdict.subjects.push_back(verdict);
  example.set.entries.push_back({.label = of.label, .kind = of.label, .refusal = "", .subjects = {index}});
}

void add_crashed(Example& example) {
  add_subject(example, {"int8-dynamic", 0.02, 0.001, 26'000'000, 0.1, 150e6});
  for (Samples& trial : example.record.trials) {
    if (trial.subject != 4) continue;
    trial.end = TrialEnd::crashed;
    trial.signal = 11;
    trial.message = "the worker crashed in load";
    trial.begin_s = trial.end_s = {};
  }
  example.verdict.subjects.back().summary = Summary{.subject = 4, .trials_failed = 1};
  example.verdict.subjects.back().ratios.clear();
  example.record.outputs.pop_back();
}

Example example() {
  Example made;
  made.record = test::example_record();
  made.record.plan.subjects.clear();
  made.record.plan.order = {{0, 0}};
  made.record.models.clear();
  made.record.trials.clear();
  made.record.side_trials.clear();
  made.record.outputs.clear();
  made.record.diagnostics.clear();
  for (const Figures& one : figures) add_subject(made, one);
  add_crashed(made);
  made.set.entries.push_back({.label = "bfloat16",
                              .kind = "bfloat16",
                              .refusal = "onnxruntime executes no bfloat16 here, but float32",
                              .subjects = {std::nullopt}});
  for (auto& verdict : made.verdict.subjects) {
    for (const auto& outputs : made.record.outputs)
      if (outputs.subject == verdict.subject) verdict.outputs = &outputs;
  }
  made.verdict.diagnostics = {{DiagnosticId::few_cores, "this machine has 2 cores", ""},
                              {DiagnosticId::model_differs, "not the same file", "int8-static"}};
  made.set.model = "resnet50";
  made.set.batch_sizes = {1};
  made.set.notes = {"openvino has no levels of graph optimisation: --graph-opt does not apply to it"};
  return made;
}

std::string rendered(const Example& of, Format format, std::size_t width = 80) {
  return render_variants(of.record, of.verdict, of.set, format, {.color = false, .width = width});
}

TEST(VariantsReport, IsTheApprovedOne) {
  const Example made = example();
  expect_golden("table.txt", rendered(made, Format::table));
  expect_golden("markdown.md", rendered(made, Format::markdown));
  expect_golden("variants.json", rendered(made, Format::json));
}

TEST(VariantsReport, FitsATerminal) {
  std::string text = rendered(example(), Format::table);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    EXPECT_LE(display_width(text.substr(0, end)), 80U) << text.substr(0, end);
    text.erase(0, end + 1);
  }
}

TEST(VariantsReport, SaysThatFloat16BringsNothingOnlyWhereItDoesNot) {
  Example made = example();
  constexpr const char* sentence = "float16 is executed as float32 here: half the size, no faster";
  EXPECT_THAT(rendered(made, Format::table), HasSubstr(sentence));
  add_trials(made.record, 1, 0.02, 0.0002);  // as fast as on another back end: something is, but not float16
  EXPECT_THAT(rendered(made, Format::table), HasSubstr("half the size; where it is faster,"));
  add_trials(made.record, 1, 0.037, 0.3);
  EXPECT_THAT(rendered(made, Format::table), HasSubstr("half the size; whether it is faster is"));
  made = example();
  for (Samples& trial : made.record.trials) trial.executed[2].second = "cuda";
  EXPECT_THAT(rendered(made, Format::table), Not(HasSubstr("float16 is executed as float32")));
  made = example();
  made.record.plan.subjects[1].backend = "openvino";  // there is no float32 beside it
  EXPECT_THAT(rendered(made, Format::table), Not(HasSubstr("float16 is executed as float32")));
}

TEST(VariantsReport, RecommendsWhatItsIntervalShowsAndNothingElse) {
  Example made = example();
  EXPECT_THAT(rendered(made, Format::table), HasSubstr("3.21x faster than baseline"));
  EXPECT_THAT(rendered(made, Format::table), HasSubstr("4.0x smaller model"));
  made.verdict.subjects[2].ratios[0] = test::ratio_with("latency_p50", 3.2, 0.9, 5.5);
  EXPECT_THAT(rendered(made, Format::table), Not(HasSubstr("3.20x faster")));
}

TEST(VariantsReport, TheFrontIsOfWhatNothingBeats) {
  Example made = example();
  const auto places = [&] {
    const auto json = nlohmann::json::parse(rendered(made, Format::json));
    std::vector<std::string> all;
    for (const auto& variant : json["variants"]) all.push_back(variant["pareto"]["place"]);
    return all;
  };
  // Pruning costs accuracy and brings nothing; all others are better at something than all others.
  EXPECT_THAT(places(), testing::ElementsAre("front", "front", "front", "dominated", "not_placed", "not_placed"));
  // What float32's rounding leaves is no error: then the smaller file wins, with the same latency and memory.
  made.record.outputs[0].comparison.outputs[0].relative_l2 = 1e-6;
  made.verdict.subjects[1].summary.metrics.back() = test::metric_of("memory_peak", "bytes", 312e6, 1e6);
  EXPECT_EQ(places()[0], "front");  // whose latencies overlap: the other may be slower
  for (const std::size_t subject : {0U, 1U}) {
    made.verdict.subjects[subject].summary.metrics.front() = test::metric_of("latency_p50", "s", 0.038, 0.0001);
  }
  EXPECT_EQ(places()[0], "dominated");
}

TEST(VariantsReport, TheBaselineDecidesTheExitCode) {
  Example made = example();
  made.verdict.exit_code = 4;
  EXPECT_EQ(exit_code_of_variants(made.verdict, made.set), 0);
  made.verdict.subjects[0].summary.trials_ok = 0;
  EXPECT_EQ(exit_code_of_variants(made.verdict, made.set), 4);
}

TEST(VariantsReport, HostileTextIsHarmless) {
  Example made = example();
  made.set.entries[2].label = "\x1b[31mred\n|<b>";
  made.set.entries[5].refusal = "\x1b]0;title\x07";
  made.set.notes = {"\xff\xfe"};
  made.set.model = "\u202e";
  for (const Format format : {Format::table, Format::markdown}) {
    const std::string text = rendered(made, format);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, Not(HasSubstr("red\n")));
  }
  EXPECT_TRUE(nlohmann::json::accept(rendered(made, Format::json)));
}

}  // namespace
}  // namespace infermeter::variants_report_test
