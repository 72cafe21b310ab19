#include "infermeter/verdict/judge.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::judge_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A verdict points into its record: one of a record that is about to go does not compile.
template <class Record>
concept CanBeJudged = requires(Record&& record) { judge(std::forward<Record>(record)); };
static_assert(CanBeJudged<RunRecord&> && CanBeJudged<const RunRecord&>);
static_assert(!CanBeJudged<RunRecord> && !CanBeJudged<const RunRecord>);

Samples trial(int subject, int process, double duration) {
  Samples samples;
  samples.subject = subject;
  samples.process = process;
  samples.phase = Phase::done;
  samples.begin_s.assign(20, 0);
  for (int i = 0; i < 20; ++i) samples.end_s.push_back(duration * (1 + 0.001 * i + 0.01 * process));
  samples.executed = {{"dtype", "float32"},          {"threads", "2"},   {"device", "cpu"}, {"runtime", "onnxruntime"},
                      {"runtime_version", "1.31.1"}, {"provider", "CPU"}};
  samples.memory.rss_peak_inference = 1000;
  samples.input_digest = 7;
  samples.output_digest = 9;
  return samples;
}

ModelFacts model(std::string name, std::string sha256) {
  ModelFacts facts;
  facts.path = "/m/" + name;
  facts.name = std::move(name);
  facts.sha256 = std::move(sha256);
  return facts;
}

// Subjects "a" and "b", three processes each; b takes half the time.
RunRecord two_subjects() {
  RunRecord record;
  for (const char* label : {"a", "b"}) {
    Subject subject;
    subject.label = label;
    subject.model = "mlp";
    subject.backend = "onnxruntime";
    record.plan.subjects.push_back(subject);
    record.models.push_back(model("mlp", "aa"));
  }
  for (int process = 0; process < 3; ++process) {
    record.trials.push_back(trial(0, process, 0.02));
    record.trials.push_back(trial(1, process, 0.01));
  }
  record.finished = true;
  return record;
}

void set_executed(RunRecord& record, int subject, std::string_view key, const std::string& value) {
  for (Samples& samples : record.trials) {
    if (samples.subject != subject) continue;
    for (auto& [name, held] : samples.executed) {
      if (name == key) held = value;
    }
  }
}

std::vector<Diagnostic> all(const Verdict& verdict, DiagnosticId id) {
  std::vector<Diagnostic> found;
  std::ranges::copy_if(verdict.diagnostics, std::back_inserter(found), [&](const auto& d) { return d.id == id; });
  return found;
}

// The only one of its kind, or words that say that it is not.
std::string message(const Verdict& verdict, DiagnosticId id) {
  const auto found = all(verdict, id);
  return found.size() == 1 ? found[0].about + ": " + found[0].message : std::to_string(found.size()) + " of them";
}

TEST(Judge, SummarisesAndComparesWithTheFirstOfTheGroup) {
  const RunRecord record = two_subjects();
  const Verdict verdict = judge(record);
  ASSERT_EQ(verdict.subjects.size(), 2U);
  EXPECT_EQ(verdict.subjects[0].baseline, std::nullopt);
  EXPECT_TRUE(verdict.subjects[0].ratios.empty());
  EXPECT_EQ(verdict.subjects[1].baseline, 0);
  EXPECT_EQ(verdict.subjects[1].summary.subject, 1);
  const auto& ratios = verdict.subjects[1].ratios;
  ASSERT_EQ(ratios.size(), 3U);
  EXPECT_EQ(ratios[0].metric, "latency_p50");
  EXPECT_EQ(ratios[1].metric, "throughput");
  EXPECT_EQ(ratios[2].metric, "memory_peak");
  EXPECT_NEAR(*ratios[0].estimate.value, 2, 1e-9);
  EXPECT_EQ(verdict.subjects[1].direction, Direction::faster);
  EXPECT_EQ(verdict.subjects[0].direction, std::nullopt);
  EXPECT_TRUE(ratios[0].estimate.interval);
  EXPECT_NEAR(*ratios[2].estimate.value, 1, 1e-12);
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(Judge, SubjectsThatAreAlikeDrawNoDiagnostics) {
  const RunRecord record = two_subjects();
  const Verdict verdict = judge(record);
  for (const Diagnostic& diagnostic : verdict.diagnostics) {
    EXPECT_EQ(diagnostic.id, DiagnosticId::too_few_samples) << to_string(diagnostic.id);  // p99 of 60 iterations
    EXPECT_FALSE(diagnostic.about.empty());
  }
}

TEST(Judge, GroupsHaveBaselinesOfTheirOwn) {
  RunRecord record = two_subjects();
  record.plan.subjects.push_back(record.plan.subjects[0]);
  record.plan.subjects.push_back(record.plan.subjects[1]);
  record.plan.subjects[2].group = record.plan.subjects[3].group = 1;
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.subjects[2].baseline, std::nullopt);
  EXPECT_EQ(verdict.subjects[3].baseline, 2);
  EXPECT_EQ(verdict.subjects[3].ratios[0].estimate.value, std::nullopt);
  EXPECT_EQ(verdict.subjects[3].ratios[0].estimate.note, "no timed iterations");
}

TEST(Judge, UsesThePlansOutlierRule) {
  RunRecord record = two_subjects();
  for (Samples& samples : record.trials) samples.end_s[3] = 5;
  EXPECT_EQ(judge(record).subjects[0].summary.outliers.removed, 0);
  record.plan.outliers = {OutlierRule::Kind::iqr, 3};
  EXPECT_EQ(judge(record).subjects[0].summary.outliers.removed, 3);
  record.plan.outliers = {OutlierRule::Kind::mad, 10};
  EXPECT_EQ(judge(record).subjects[0].summary.outliers.removed, 3);
  record.plan.outliers = {OutlierRule::Kind::sigma, 4};
  EXPECT_EQ(judge(record).subjects[0].summary.outliers.removed, 3);
}

TEST(Judge, SaysWhatIsNotAlike) {
  RunRecord record = two_subjects();
  set_executed(record, 1, "dtype", "bfloat16");
  set_executed(record, 1, "threads", "4");
  set_executed(record, 1, "device", "cuda:0");
  set_executed(record, 1, "runtime_version", "1.30.0");
  set_executed(record, 1, "provider", "CUDA");
  record.models[1].sha256 = "bb";
  for (Samples& samples : record.trials) samples.input_digest = samples.subject == 1 ? 0xbeef : 7;
  const Verdict verdict = judge(record);
  EXPECT_EQ(message(verdict, DiagnosticId::precision_differs), "b: executed in bfloat16, but float32 for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::threads_differ), "b: threads: 4, but 2 for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::device_differs), "b: device cuda:0, but cpu for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::runtime_version_differs), "b: onnxruntime 1.30.0, but 1.31.1 for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::provider_differs), "b: provider CUDA, but CPU for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::model_differs), "b: the contents of mlp differ from those for 'a'");
  EXPECT_EQ(message(verdict, DiagnosticId::input_differs),
            "b: the input bytes are not those of 'a' (digest 000000000000beef, there 0000000000000007)");
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST(Judge, ThePrecisionOfKeptKeysAndValuesIsOneTooWhereBothTellIt) {
  RunRecord record = two_subjects();
  const auto keep = [&](int subject, const char* type) {
    for (Samples& samples : record.trials)
      if (samples.subject == subject) samples.executed.emplace_back("kv_cache", type);
  };
  keep(1, "q8_0");
  EXPECT_TRUE(all(judge(record), DiagnosticId::precision_differs).empty());
  keep(0, "f32");
  EXPECT_EQ(message(judge(record), DiagnosticId::precision_differs),
            "b: keys and values are kept in q8_0, but f32 for 'a'");
}

TEST(Judge, LanguageModelsThatWereAskedOtherPromptsAreSaid) {
  RunRecord record = two_subjects();
  for (Samples& samples : record.trials) samples.executed.emplace_back("first_prompt", "11aa");
  EXPECT_TRUE(all(judge(record), DiagnosticId::input_differs).empty());
  for (Samples& samples : record.trials)
    if (samples.subject == 1) samples.executed.back().second = "22bb";
  EXPECT_EQ(message(judge(record), DiagnosticId::input_differs),
            "b: the first prompt has the digest 22bb, but 11aa for 'a'");
}

TEST(Judge, RuntimesAndProvidersAreComparedOnlyWithTheirLike) {
  RunRecord record = two_subjects();
  record.plan.subjects[1].backend = "openvino";
  set_executed(record, 1, "runtime", "openvino");
  set_executed(record, 1, "runtime_version", "2026.4.1");
  set_executed(record, 1, "provider", "CPU plug-in");
  const Verdict verdict = judge(record);
  EXPECT_TRUE(all(verdict, DiagnosticId::runtime_version_differs).empty());
  EXPECT_TRUE(all(verdict, DiagnosticId::provider_differs).empty());
}

TEST(Judge, OtherEnvironmentVariablesAreSaid) {
  RunRecord record = two_subjects();
  record.plan.subjects[0].environment = {{"A", "1"}, {"B", "2"}};
  record.plan.subjects[1].environment = {{"B", "2"}, {"A", "1"}};
  EXPECT_TRUE(all(judge(record), DiagnosticId::environment_differs).empty());
  record.plan.subjects[1].environment = {};
  EXPECT_EQ(message(judge(record), DiagnosticId::environment_differs),
            "b: environment variables: none, but A=1 B=2 for 'a'");
}

TEST(Judge, AnotherBatchSizeIsSaidOnce) {
  RunRecord record = two_subjects();
  record.plan.subjects[1].batch_size = 4;
  for (Samples& samples : record.trials) samples.input_digest = samples.subject == 1 ? 5 : 7;
  const Verdict verdict = judge(record);
  EXPECT_EQ(message(verdict, DiagnosticId::batch_differs), "b: batch size 4, but 1 for 'a'");
  EXPECT_TRUE(all(verdict, DiagnosticId::input_differs).empty());
}

TEST(Judge, AnotherModelFileIsNamed) {
  RunRecord record = two_subjects();
  record.models[1] = model("mlp.xml", "cc");
  EXPECT_EQ(message(judge(record), DiagnosticId::model_differs), "b: the model file is mlp.xml, but mlp for 'a'");
}

TEST(Judge, OtherOutputsForTheSameInputsAreSaid) {
  RunRecord record = two_subjects();
  record.trials.back().output_digest = 10;
  EXPECT_EQ(message(judge(record), DiagnosticId::outputs_not_deterministic),
            "b: 1 of 3 processes gave other outputs than the first for the same input bytes");
  record.trials.back().input_digest = 8;
  EXPECT_TRUE(all(judge(record), DiagnosticId::outputs_not_deterministic).empty());
}

TEST(Judge, TrialsThatSayTheSameAreHeardOnce) {
  RunRecord record = two_subjects();
  record.trials[0].diagnostics = {{DiagnosticId::foreign_load, "other programs used 12 % of a core", ""}};
  record.trials[0].noise.foreign_cpu = 0.12;
  record.trials[2].diagnostics = {{DiagnosticId::foreign_load, "other programs used 41.5 % of a core", ""}};
  record.trials[2].noise.foreign_cpu = 0.415;
  for (Samples& samples : record.trials) {
    if (samples.subject == 1) samples.diagnostics = {{DiagnosticId::clock_not_tsc, "the monotonic clock was used", ""}};
  }
  const Verdict verdict = judge(record);
  EXPECT_EQ(message(verdict, DiagnosticId::foreign_load),
            "a: in 2 of 3 processes: other programs used 41.5 % of a core (worst)");
  EXPECT_EQ(message(verdict, DiagnosticId::clock_not_tsc), "b: in all 3 processes: the monotonic clock was used");
}

TEST(Judge, DifferentThingsUnderOneNameStayApart) {
  RunRecord record = two_subjects();
  record.trials[0].diagnostics = {{DiagnosticId::outputs_not_finite, "output 'y' holds NaN", ""},
                                  {DiagnosticId::outputs_not_finite, "output 'z' holds NaN", ""}};
  EXPECT_EQ(all(judge(record), DiagnosticId::outputs_not_finite).size(), 2U);
}

TEST(Judge, TellsHowTrialsFailed) {
  RunRecord record = two_subjects();
  record.trials[1].end = TrialEnd::crashed;
  record.trials[1].phase = Phase::timed;
  record.trials[1].signal = 9;
  record.trials[3].end = TrialEnd::load_failed;
  record.trials[3].phase = Phase::load;
  record.trials[3].message = "no such operator";
  record.trials[5].end = TrialEnd::interrupted;
  record.trials[5].phase = Phase::warmup;
  const Verdict verdict = judge(record);
  const auto failed = all(verdict, DiagnosticId::trial_failed);
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_EQ(failed[0].message, "in 1 of 3 processes: crashed by signal 9 in phase timed");
  EXPECT_EQ(failed[1].message, "in 1 of 3 processes: load_failed in phase load: no such operator");
  EXPECT_EQ(failed[0].about, "b");
  EXPECT_EQ(message(verdict, DiagnosticId::trial_interrupted), "b: in 1 of 3 processes: stopped in phase warmup");
}

TEST(Judge, SummariesAndComparisonsAreHeardWithTheirSubject) {
  RunRecord record = two_subjects();
  record.diagnostics = {{DiagnosticId::few_cores, "2 processors", ""}};
  OutputComparison comparison;
  comparison.diagnostics = {{DiagnosticId::outputs_differ, "output 'y' differs", ""}};
  record.outputs = {{1, 0, comparison}};
  std::erase_if(record.trials, [](const Samples& samples) { return samples.process > 0; });
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.diagnostics[0].id, DiagnosticId::few_cores);
  EXPECT_EQ(verdict.diagnostics[0].about, "");
  EXPECT_EQ(all(verdict, DiagnosticId::too_few_processes).size(), 2U);
  EXPECT_EQ(message(verdict, DiagnosticId::outputs_differ), "b: output 'y' differs");
  EXPECT_EQ(verdict.subjects[1].outputs, &record.outputs[0]);
  EXPECT_EQ(verdict.subjects[0].outputs, nullptr);
  EXPECT_EQ(verdict.subjects[1].summary.diagnostics[0].about, "b");
}

int code_of(std::vector<TrialEnd> ends, bool usage = false, bool agree = true, bool undecided = false) {
  RunRecord record = two_subjects();
  for (std::size_t i = 0; i < ends.size(); ++i) record.trials[i].end = ends[i];
  record.trials[0].usage = usage;
  record.outputs = {{1, 0, {}}};
  record.outputs[0].comparison.agree = agree;
  record.outputs[0].comparison.undecided = undecided;
  return judge(record).exit_code;
}

TEST(Judge, ExitCodeIsThatOfTheGravestThing) {
  using enum TrialEnd;
  EXPECT_EQ(code_of({}), 0);
  EXPECT_EQ(code_of({}, false, false), 1);
  EXPECT_EQ(code_of({}, false, false, true), 0);  // it cannot be determined
  EXPECT_EQ(code_of({load_failed}), 3);
  EXPECT_EQ(code_of({ok, run_failed}, false, false), 3);
  EXPECT_EQ(code_of({load_failed, crashed}), 4);
  EXPECT_EQ(code_of({timeout}), 4);
  EXPECT_EQ(code_of({out_of_memory}), 4);
  EXPECT_EQ(code_of({load_failed, crashed}, true), 2);
  EXPECT_EQ(code_of({load_failed, crashed, interrupted}, true), 130);
}

TEST(Judge, SurvivesRecordsThatAreIncomplete) {
  const RunRecord empty;
  EXPECT_TRUE(judge(empty).subjects.empty());
  RunRecord record = two_subjects();
  record.models.clear();
  record.trials[0].subject = 17;
  record.trials[1].subject = -1;
  EXPECT_EQ(judge(record).subjects.size(), 2U);
  record.trials.clear();
  const Verdict verdict = judge(record);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_EQ(verdict.subjects[0].summary.trials_ok, 0);
}

}  // namespace
}  // namespace infermeter::judge_test
